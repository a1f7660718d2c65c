"""Objects made of segments; many objects in one request."""

from __future__ import annotations

import hashlib
import io
import tarfile
from typing import Any

import orjson
import pytest

from openstack_emulator.testing import Answer, ServedCloud


class Store:
    """Demo's account, with `abc`, `def` and `ghi` as segments `s/1` to `s/3`."""

    def __init__(self, served: ServedCloud) -> None:
        self.served = served
        token = served.token("demo", "demo")
        answer = served.call("GET", "/identity/v3/auth/tokens", token=token, headers={"X-Subject-Token": token})
        self.root = f"/object-store/v1/AUTH_{answer.json['token']['project']['id']}"
        self.token = token
        self.call("PUT", "/s")
        self.call("PUT", "/c")
        for number, data in enumerate((b"abc", b"def", b"ghi"), 1):
            self.call("PUT", f"/s/{number}", data)

    def call(self, method: str, path: str, body: Any = b"", **headers: str) -> Answer:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.served.call(method, self.root + path, body, self.token, given)

    def manifest(self, *segments: dict[str, Any]) -> Answer:
        return self.call("PUT", "/c/slo?multipart-manifest=put", orjson.dumps(segments))


@pytest.fixture
def store(served: ServedCloud) -> Store:
    return Store(served)


def md5(data: bytes) -> str:
    return hashlib.md5(data).hexdigest()


def test_static_large_object(store: Store) -> None:
    made = store.manifest({"path": "/s/1", "etag": md5(b"abc"), "size_bytes": 3}, {"path": "s/3", "range": "1-"})
    assert made.status == 201
    got = store.call("GET", "/c/slo")
    assert (got.content, got.headers["x-static-large-object"]) == (b"abchi", "True")
    assert got.headers["etag"] == made.headers["etag"] == f'"{md5((md5(b"abc") + md5(b"ghi") + ":1-2;").encode())}"'
    assert store.call("HEAD", "/c/slo").headers["content-length"] == "5"
    assert store.call("GET", "/c/slo", Range="bytes=2-3").content == b"ch"
    manifest = store.call("GET", "/c/slo?multipart-manifest=get").json
    assert [(entry["name"], entry["bytes"]) for entry in manifest] == [("/s/1", 3), ("/s/3", 2)]
    raw = store.call("GET", "/c/slo?multipart-manifest=get&format=raw").content
    assert store.manifest(*orjson.loads(raw)).headers["etag"] == made.headers["etag"]
    assert store.call("GET", "/c?format=json").json[0]["bytes"] == 5


def test_manifests_that_are_refused(store: Store) -> None:
    for segment, reason in (
        ({"path": "/s/9"}, b"/s/9, 404 Not Found"),
        ({"path": "/s/1", "etag": "0"}, b"Etag Mismatch"),
        ({"path": "/s/1", "size_bytes": 4}, b"Size Mismatch"),
        ({"path": "/s/1", "odd": 1}, b"extraneous"),
        ({"size_bytes": 4}, b"path"),
    ):
        answer = store.manifest(segment)
        assert answer.status == 400
        assert reason in answer.content
    assert store.call("PUT", "/c/slo?multipart-manifest=put", b"no json").status == 400
    assert store.call("GET", "/c/slo").status == 404


def test_a_changed_segment_breaks_a_static_object(store: Store) -> None:
    store.manifest({"path": "/s/1"}, {"path": "/s/2"})
    store.call("PUT", "/s/2", b"DEF")
    assert store.call("GET", "/c/slo").status == 409
    store.call("DELETE", "/s/2")
    assert store.call("GET", "/c/slo").status == 409


def test_a_dynamic_large_object_follows_its_segments(store: Store) -> None:
    store.call("PUT", "/s/part-1", b"abc")
    store.call("PUT", "/s/part-2", b"def")
    assert store.call("PUT", "/c/dlo", b"", X_Object_Manifest="s/part-").status == 201
    got = store.call("GET", "/c/dlo")
    assert (got.content, got.headers["x-object-manifest"]) == (b"abcdef", "s/part-")
    assert got.headers["etag"] == f'"{md5((md5(b"abc") + md5(b"def")).encode())}"'
    store.call("PUT", "/s/part-3", b"ghi")
    assert store.call("GET", "/c/dlo", Range="bytes=-4").content == b"fghi"
    for manifest in ("no-slash", "s/", "/x", "s/x?y"):
        assert store.call("PUT", "/c/dlo", b"", X_Object_Manifest=manifest).status == 400


def test_copies_of_large_objects(store: Store) -> None:
    store.manifest({"path": "/s/1"}, {"path": "/s/2"})
    assert store.call("COPY", "/c/slo", Destination="c/whole").status == 201
    assert store.call("COPY", "/c/slo?multipart-manifest=get", Destination="c/again").status == 201
    assert "x-static-large-object" not in store.call("HEAD", "/c/whole").headers
    assert store.call("GET", "/c/again").headers["x-static-large-object"] == "True"
    assert store.call("GET", "/c/whole").content == store.call("GET", "/c/again").content == b"abcdef"


def test_deleting_with_segments(store: Store) -> None:
    store.manifest({"path": "/s/1"}, {"path": "/s/2"})
    answer = store.call("DELETE", "/c/slo?multipart-manifest=delete", Accept="application/json")
    assert answer.json["Number Deleted"] == 3
    assert store.call("GET", "/s").content == b"3\n"
    assert store.call("DELETE", "/s/3?multipart-manifest=delete").status == 400


def test_bulk_delete(store: Store) -> None:
    body = b"/s/1\n/s/2\n/c\n/nowhere/x\n/s\n"
    answer = store.call("POST", "?bulk-delete", body, Content_Type="text/plain", Accept="application/json")
    assert answer.status == 200
    assert answer.json == {
        "Number Deleted": 3,
        "Number Not Found": 1,
        "Response Body": "",
        "Response Status": "400 Bad Request",
        "Errors": [["/s", "409 Conflict"]],
    }
    plain = store.call("POST", "?bulk-delete", b"/s/3\n", Content_Type="text/plain").content.decode()
    assert "Number Deleted: 1\n" in plain
    assert "Response Status: 200 OK\n" in plain
    assert b"<delete>" in store.call("POST", "?bulk-delete", b"/s/3\n", Accept="text/xml").content
    assert b"Invalid bulk delete." in store.call("POST", "?bulk-delete", b"\n").content


@pytest.mark.parametrize(("kind", "mode"), [("tar", "w:"), ("tar.gz", "w:gz"), ("tar.bz2", "w:bz2")])
def test_bulk_upload(store: Store, kind: str, mode: Any) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:
        for name in ("new/a.txt", "new/b/c"):
            entry = tarfile.TarInfo(name)
            entry.size = 4
            archive.addfile(entry, io.BytesIO(b"data"))
    answer = store.call("PUT", f"?extract-archive={kind}", packed.getvalue(), Accept="application/json")
    assert (answer.json["Number Files Created"], answer.json["Response Status"]) == (2, "201 Created")
    assert store.call("GET", "/new").content == b"a.txt\nb/c\n"
    assert store.call("GET", "/new/a.txt").headers["content-type"] == "text/plain"
    broken = store.call("PUT", f"/c?extract-archive={kind}", b"nonsense", Accept="application/json").json
    assert broken["Response Status"] == "400 Bad Request"
