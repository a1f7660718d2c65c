"""Accounts, containers and objects over HTTP."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

import pytest

from openstack_emulator.testing import Answer, ServedCloud


class Swift:
    """Calls below the account of one project, by its user unless told otherwise."""

    def __init__(self, served: ServedCloud, user: str = "demo") -> None:
        self.served = served
        self.token: str | None = served.token(user, user)
        answer = served.call(
            "GET", "/identity/v3/auth/tokens", token=self.token, headers={"X-Subject-Token": self.token}
        )
        self.project = answer.json["token"]["project"]["id"]
        self.user = answer.json["token"]["user"]["id"]
        self.root = f"/object-store/v1/AUTH_{self.project}"

    def call(self, method: str, path: str = "", body: Any = None, headers: Mapping[str, str] | None = None) -> Answer:
        return self.served.call(method, self.root + path, body, self.token, headers)

    def put(self, path: str, body: bytes = b"", **headers: str) -> Answer:
        answer = self.call("PUT", path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        assert answer.status in (201, 202), (answer.status, answer.content)
        return answer

    def names(self, container: str, query: str = "") -> list[str]:
        entries = self.call("GET", f"/{container}?format=json&{query}").json
        return [entry.get("subdir") or entry["name"] for entry in entries]


@pytest.fixture
def demo(served: ServedCloud) -> Swift:
    return Swift(served)


def test_every_response_has_a_transaction_id(demo: Swift) -> None:
    for answer in (demo.call("HEAD"), demo.call("GET", "/none"), demo.put("/c"), demo.call("DELETE")):
        assert len(answer.headers["x-trans-id"]) == 34
        assert answer.headers["x-trans-id"].startswith("tx")
        assert answer.headers["content-type"]
    missing = demo.call("GET", "/none")
    assert missing.content == b"<html><h1>Not Found</h1><p>The resource could not be found.</p></html>"


def test_account_counts_and_metadata(demo: Swift) -> None:
    assert demo.call("POST", headers={"X-Account-Meta-Color": "red", "X-Account-Meta-Size": "5"}).status == 204
    demo.put("/c/", b"")
    demo.put("/c/o", b"12345")
    answer = demo.call("HEAD")
    assert answer.status == 204
    counts = [answer.headers[f"x-account-{name}"] for name in ("container-count", "object-count", "bytes-used")]
    assert counts == ["1", "1", "5"]
    assert (answer.headers["x-account-meta-color"], answer.headers["accept-ranges"]) == ("red", "bytes")
    demo.call("POST", headers={"X-Remove-Account-Meta-Color": "x", "X-Account-Meta-Size": ""})
    assert not [name for name in demo.call("HEAD").headers if name.startswith("x-account-meta-")]


def test_account_lists(demo: Swift) -> None:
    assert demo.call("GET").status == 204
    assert demo.call("GET", "?format=json").json == []
    for name in ("b", "a", "c"):
        demo.put(f"/{name}")
    assert demo.call("GET").content == b"a\nb\nc\n"
    assert demo.call("GET", "?marker=a&end_marker=c").content == b"b\n"
    assert demo.call("GET", "?reverse=true&limit=2").content == b"c\nb\n"
    tree = ElementTree.fromstring(demo.call("GET", "?format=xml").content)
    assert tree.tag == "account"
    assert [element.findtext("name") for element in tree] == ["a", "b", "c"]
    assert demo.call("GET", "?limit=10001").status == 412


def test_container_life(demo: Swift) -> None:
    headers = {"X-Container-Meta-Kind": "x", "X-Container-Read": ".referrer:*, .rlistings"}
    assert demo.call("PUT", "/c", b"", headers).status == 201
    assert demo.call("PUT", "/c", b"", {"X-Container-Meta-More": "y"}).status == 202
    shown = demo.call("HEAD", "/c")
    assert (shown.status, shown.headers["x-container-object-count"]) == (204, "0")
    kept = [shown.headers[name] for name in ("x-container-meta-kind", "x-container-meta-more", "x-container-read")]
    assert kept == ["x", "y", ".r:*,.rlistings"]
    assert demo.call("POST", "/c", b"", {"X-Remove-Container-Read": "1", "X-Container-Meta-Kind": ""}).status == 204
    assert not {"x-container-read", "x-container-meta-kind"} & set(demo.call("HEAD", "/c").headers)
    demo.put("/c/o", b"1")
    assert demo.call("DELETE", "/c").status == 409
    assert demo.call("DELETE", "/c/o").status == 204
    assert demo.call("DELETE", "/c").status == 204
    assert demo.call("DELETE", "/c").status == 404
    assert demo.call("POST", "/c").status == 404
    assert demo.call("PUT", "/" + "x" * 257).status == 400
    assert demo.call("PUT", "/c", b"", {"X-Container-Read": ".odd:*"}).status == 400
    assert demo.call("PUT", "/c", b"", {"X-Storage-Policy": "gold"}).status == 400


def test_object_life(demo: Swift) -> None:
    assert demo.call("PUT", "/c/o", b"x").status == 404
    demo.put("/c")
    made = demo.put("/c/dir/a b.txt".replace(" ", "%20"), b"hello", X_Object_Meta_Color="red")
    assert made.headers["etag"] == hashlib.md5(b"hello").hexdigest()
    got = demo.call("GET", "/c/dir/a%20b.txt")
    assert (got.status, got.content, got.headers["content-type"]) == (200, b"hello", "text/plain")
    assert (got.headers["x-object-meta-color"], got.headers["etag"]) == ("red", made.headers["etag"])
    head = demo.call("HEAD", "/c/dir/a%20b.txt")
    assert (head.status, head.headers["content-length"], head.content) == (200, "5", b"")
    headers = {"X-Object-Meta-Size": "big", "Content-Type": "text/html"}
    assert demo.call("POST", "/c/dir/a%20b.txt", b"", headers).status == 202
    head = demo.call("HEAD", "/c/dir/a%20b.txt")
    assert "x-object-meta-color" not in head.headers
    assert (head.headers["x-object-meta-size"], head.headers["content-type"]) == ("big", "text/html")
    assert demo.call("DELETE", "/c/dir/a%20b.txt").status == 204
    for method in ("GET", "HEAD", "POST", "DELETE"):
        assert demo.call(method, "/c/dir/a%20b.txt").status == 404


def test_upload_checks(demo: Swift) -> None:
    demo.put("/c")
    assert demo.call("PUT", "/c/o", b"x", {"ETag": "0" * 32}).status == 422
    assert demo.call("GET", "/c/o").status == 404
    assert demo.call("PUT", "/c/o", b"x", {"ETag": hashlib.md5(b"x").hexdigest()}).status == 201
    assert demo.call("PUT", "/c/o", b"y", {"If-None-Match": "*"}).status == 412
    assert demo.call("PUT", "/c/" + "n" * 1025, b"x").status == 400
    assert demo.call("PUT", "/c/o", b"x", {"X-Object-Meta-" + "n" * 129: "v"}).status == 400
    assert demo.call("PUT", "/c/o", b"x", {"X-Object-Meta-N": "v" * 257}).status == 400
    assert demo.call("GET", "/c/o").content == b"x"


def test_object_lists(demo: Swift) -> None:
    demo.put("/c")
    for name in ("a", "b/1", "b/2", "b/c/3", "d"):
        demo.put(f"/c/{name}", b"x")
    expected = {
        "": ["a", "b/1", "b/2", "b/c/3", "d"],
        "prefix=b/": ["b/1", "b/2", "b/c/3"],
        "delimiter=/": ["a", "b/", "d"],
        "prefix=b/&delimiter=/": ["b/1", "b/2", "b/c/"],
        "path=b": ["b/1", "b/2"],
        "path=": ["a", "d"],
        "marker=b/2": ["b/c/3", "d"],
        "end_marker=b/2": ["a", "b/1"],
        "limit=2": ["a", "b/1"],
        "delimiter=/&marker=b/": ["d"],
        "reverse=on&limit=2": ["d", "b/c/3"],
        "reverse=on&marker=b/c/3&end_marker=a": ["b/2", "b/1"],
    }
    assert {query: demo.names("c", query) for query in expected} == expected
    entry = demo.call("GET", "/c?format=json").json[0]
    assert (entry["bytes"], entry["hash"]) == (1, hashlib.md5(b"x").hexdigest())
    assert demo.call("GET", "/c", headers={"Accept": "application/json"}).json[0] == entry
    tree = ElementTree.fromstring(demo.call("GET", "/c?format=xml&delimiter=/").content)
    assert [(element.tag, element.findtext("name")) for element in tree] == [
        ("object", "a"),
        ("subdir", "b/"),
        ("object", "d"),
    ]


def test_conditional_requests(demo: Swift) -> None:
    demo.put("/c")
    etag = demo.put("/c/o", b"hello").headers["etag"]
    modified = demo.call("HEAD", "/c/o").headers["last-modified"]
    past, future = "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 01 Jan 2100 00:00:00 GMT"
    expected = {
        ("If-Match", etag): 200,
        ("If-Match", "other"): 412,
        ("If-None-Match", f'"{etag}"'): 304,
        ("If-None-Match", "other"): 200,
        ("If-Modified-Since", modified): 304,
        ("If-Modified-Since", past if modified != past else ""): 200,
        ("If-Unmodified-Since", future): 200,
    }
    demo.served.advance(10)
    found = {(name, value): demo.call("GET", "/c/o", headers={name: value}).status for name, value in expected}
    assert found == expected


def test_ranges(demo: Swift) -> None:
    demo.put("/c")
    demo.put("/c/o", b"0123456789")

    def part(byte_range: str) -> tuple[int, bytes]:
        answer = demo.call("GET", "/c/o", headers={"Range": byte_range})
        return answer.status, answer.content

    assert part("bytes=2-4") == (206, b"234")
    assert part("bytes=7-") == (206, b"789")
    assert part("bytes=-2") == (206, b"89")
    assert part("bytes=4-2") == (200, b"0123456789")
    assert part("bytes=20-30")[0] == 416
    status, content = part("bytes=0-1,5-6")
    assert status == 206
    assert b"Content-Range: bytes 0-1/10\r\n\r\n01\r\n" in content
    assert b"Content-Range: bytes 5-6/10\r\n\r\n56\r\n" in content


def test_expiry(demo: Swift) -> None:
    demo.put("/c")
    demo.put("/c/soon", b"x", X_Delete_After="10")
    demo.put("/c/later", b"x", X_Delete_At=demo.call("HEAD", "/c/soon").headers["x-delete-at"])
    demo.call("POST", "/c/later", b"", {"X-Delete-After": "100"})
    for headers in ({"X-Delete-After": "soon"}, {"X-Delete-At": "1"}, {"X-Delete-After": "-5"}):
        assert demo.call("PUT", "/c/never", b"x", headers).status == 400
    demo.served.advance(11)
    demo.token = demo.served.token("demo", "demo")
    assert demo.names("c") == ["later"]
    assert demo.call("GET", "/c/soon").status == 404


def test_copies(demo: Swift) -> None:
    demo.put("/c")
    demo.put("/d")
    demo.put("/c/o.txt", b"data", X_Object_Meta_Old="1")
    made = demo.call("COPY", "/c/o.txt", b"", {"Destination": "d/p", "X-Object-Meta-New": "2"})
    assert (made.status, made.headers["x-copied-from"]) == (201, "c/o.txt")
    got = demo.call("GET", "/d/p")
    assert (got.content, got.headers["content-type"]) == (b"data", "text/plain")
    assert (got.headers["x-object-meta-old"], got.headers["x-object-meta-new"]) == ("1", "2")
    fresh = {"X-Copy-From": "/c/o.txt", "X-Fresh-Metadata": "true"}
    assert demo.call("PUT", "/d/q", b"", fresh).status == 201
    got = demo.call("GET", "/d/q")
    assert (got.content, "x-object-meta-old" in got.headers) == (b"data", False)
    assert demo.call("COPY", "/c/o.txt", b"", {"Destination": "d"}).status == 412
    assert demo.call("COPY", "/c/none", b"", {"Destination": "d/p"}).status == 404
    assert demo.call("PUT", "/d/r", b"body", {"X-Copy-From": "/c/o.txt"}).status == 400


def test_quotas(served: ServedCloud, demo: Swift) -> None:
    demo.put("/c", X_Container_Meta_Quota_Bytes="10", X_Container_Meta_Quota_Count="2")
    demo.put("/c/a", b"12345678")
    assert demo.call("PUT", "/c/b", b"123").status == 413
    demo.put("/c/a", b"1234567890")
    demo.put("/c/b")
    assert demo.call("PUT", "/c/d").status == 413
    assert demo.call("PUT", "/e", b"", {"X-Container-Meta-Quota-Bytes": "many"}).status == 400
    limit = {"X-Account-Meta-Quota-Bytes": "12"}
    assert demo.call("POST", "", b"", limit).status == 403
    assert served.call("POST", demo.root, b"", served.token(), limit).status == 204
    demo.put("/e")
    assert demo.call("PUT", "/e/o", b"123").status == 413
    demo.put("/e/o", b"12")
    removed = {"X-Remove-Account-Meta-Quota-Bytes": "x", "X-Account-Quota-Count": "3"}
    assert served.call("POST", demo.root, b"", served.token(), removed).status == 204
    assert demo.call("HEAD", "").headers["x-account-quota-count"] == "3"
    demo.put("/e/o", b"12345")
    assert demo.call("PUT", "/e/p", b"").status == 413


def test_a_compressed_body_is_kept_as_it_came_and_empty_metadata_too(demo: Swift) -> None:
    demo.put("/c")
    packed = zlib.compress(b"text" * 100)
    demo.put("/c/o", packed, Content_Encoding="deflate", X_Object_Meta_Flag="")
    got = demo.call("GET", "/c/o")
    assert (got.content, got.headers["content-encoding"]) == (packed, "deflate")
    assert got.headers["x-object-meta-flag"] == ""


def test_previous_version_is_restored_by_deletion(demo: Swift) -> None:
    demo.put("/old")
    demo.put("/c", X_Versions_Location="old")
    for data in (b"one", b"two", b"three"):
        demo.put("/c/name", data)
    versions = demo.names("old")
    assert [demo.call("GET", f"/old/{name}").content for name in versions] == [b"one", b"two"]
    assert all(name.startswith("004name/") for name in versions)
    for expected in (b"two", b"one"):
        demo.call("DELETE", "/c/name")
        assert demo.call("GET", "/c/name").content == expected
    demo.call("DELETE", "/c/name")
    assert demo.call("GET", "/c/name").status == 404
    demo.put("/lost", X_Versions_Location="nowhere")
    assert demo.call("PUT", "/lost/o", b"1").status == 412


def test_a_container_can_keep_its_own_versions(demo: Swift) -> None:
    demo.put("/c", X_Versions_Location="c")
    for data in (b"in progress", b"first", b"second"):
        demo.put("/c/signal", data)
    names = demo.names("c")
    assert [demo.call("GET", f"/c/{name}").content for name in names] == [b"in progress", b"first", b"second"]
    assert names[-1] == "signal"


def test_version_history_keeps_deleted_objects(demo: Swift) -> None:
    demo.put("/old")
    demo.put("/c", X_History_Location="old")
    demo.put("/c/name", b"one")
    assert demo.call("DELETE", "/c/name").status == 204
    assert demo.call("GET", "/c/name").status == 404
    entries = demo.call("GET", "/old?format=json").json
    assert [entry["bytes"] for entry in entries] == [3, 0]
    assert entries[1]["content_type"].startswith("application/x-deleted")


def test_object_store_capabilities_need_no_token(served: ServedCloud) -> None:
    for path in ("/info", "/object-store/info"):
        info = served.call("GET", path).json
        assert info["swift"]["policies"][0]["name"] == "Policy-0"
        assert info["tempurl"]["allowed_digests"] == ["sha1", "sha256", "sha512"]
