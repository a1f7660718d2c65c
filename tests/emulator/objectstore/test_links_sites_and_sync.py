"""Symbolic links, static web sites, and synchronized containers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from openstack_emulator.testing import Answer, ServedCloud

Call = Callable[..., Answer]
PUBLIC = {"X-Container-Read": ".r:*,.rlistings"}


@pytest.fixture
def account(served: ServedCloud) -> str:
    token = served.token("demo", "demo")
    answer = served.call("GET", "/identity/v3/auth/tokens", token=token, headers={"X-Subject-Token": token})
    return f"AUTH_{answer.json['token']['project']['id']}"


@pytest.fixture
def owner(served: ServedCloud, account: str) -> Call:
    def call(method: str, path: str, body: bytes = b"", **headers: str) -> Answer:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return served.call(method, f"/object-store/v1/{account}{path}", body, served.token("demo", "demo"), names)

    call("PUT", "/c")
    call("PUT", "/c/o", b"data", X_Object_Meta_Color="red")
    return call


@pytest.fixture
def stranger(served: ServedCloud, account: str, owner: Call) -> Call:
    return lambda method, path: served.call(method, f"/object-store/v1/{account}{path}")


def test_symlink_returns_its_target(owner: Call, account: str) -> None:
    assert owner("PUT", "/d").status == 201
    assert owner("PUT", "/d/link", X_Symlink_Target="c/o").status == 201
    read = owner("GET", "/d/link")
    assert (read.content, read.headers["x-object-meta-color"]) == (b"data", "red")
    assert read.headers["content-location"] == f"/v1/{account}/c/o"
    itself = owner("GET", "/d/link?symlink=get")
    assert (itself.content, itself.headers["x-symlink-target"]) == (b"", "c/o")
    [entry] = owner("GET", "/d?format=json").json
    assert (entry["symlink_path"], entry["content_type"]) == (f"/v1/{account}/c/o", "application/symlink")
    assert owner("POST", "/d/link", X_Object_Meta_Size="1").status == 307
    assert owner("COPY", "/d/link", Destination="d/copy").status == 201
    assert owner("GET", "/d/copy?symlink=get").content == b"data"
    assert owner("DELETE", "/c/o").status == 204
    assert owner("GET", "/d/link").status == 404


def test_dangling_cyclic_and_mismatched_symlinks(owner: Call) -> None:
    assert owner("PUT", "/c/x", b"body", X_Symlink_Target="c/o").status == 400
    assert owner("PUT", "/c/x", X_Symlink_Target="c").status == 412
    assert owner("PUT", "/c/x", X_Symlink_Target="c/y").status == 201
    assert owner("PUT", "/c/y", X_Symlink_Target="c/x").status == 201
    assert owner("GET", "/c/x").status == 409
    right = owner("HEAD", "/c/o").headers["etag"]
    assert owner("PUT", "/c/static", X_Symlink_Target="c/o", X_Symlink_Target_Etag="0").status == 409
    assert owner("PUT", "/c/static", X_Symlink_Target="c/o", X_Symlink_Target_Etag=right).status == 201
    owner("PUT", "/c/o", b"other")
    assert owner("GET", "/c/static").status == 409


def test_symlink_requires_access_to_its_target(owner: Call, stranger: Call) -> None:
    owner("PUT", "/d", **PUBLIC)
    owner("PUT", "/d/link", X_Symlink_Target="c/o")
    assert stranger("GET", "/d/link").status == 401
    owner("POST", "/c", **PUBLIC)
    assert stranger("GET", "/d/link").content == b"data"


def test_container_serves_static_web_site(owner: Call, stranger: Call, account: str) -> None:
    owner("POST", "/c", X_Container_Meta_Web_Index="index.html", X_Container_Meta_Web_Error="no.html", **PUBLIC)
    assert stranger("GET", "/c/").status == 404
    for name in ("index.html", "sub/index.html", "404no.html"):
        owner("PUT", f"/c/{name}", name.encode(), Content_Type="text/html")
    moved = stranger("GET", "/c")
    assert (moved.status, moved.headers["location"].endswith(f"/v1/{account}/c/")) == (301, True)
    assert stranger("GET", "/c/").content == b"index.html"
    assert stranger("GET", "/c/sub").status == 301
    assert stranger("GET", "/c/sub/").content == b"sub/index.html"
    missing = stranger("GET", "/c/missing")
    assert (missing.status, missing.content) == (404, b"404no.html")
    assert b"sub/index.html" in owner("GET", "/c").content, "the owner gets the usual list"


def test_static_web_site_lists_folders(owner: Call, stranger: Call) -> None:
    owner("POST", "/c", X_Container_Meta_Web_Listings="true", X_Container_Meta_Web_Listings_Css="s.css", **PUBLIC)
    owner("PUT", "/c/sub/<x>", b"1")
    page = stranger("GET", "/c/")
    assert page.headers["content-type"].startswith("text/html")
    for part in ('<a href="o">o</a>', '<a href="sub/">sub/</a>', 'href="s.css"'):
        assert part in page.content.decode()
    below = stranger("GET", "/c/sub/").content.decode()
    assert "&lt;x&gt;" in below and 'href="../s.css"' in below
    owner("POST", "/c", X_Container_Read=".r:*")
    assert stranger("GET", "/c/").status == 401


def test_container_sync_with_shared_key(served: ServedCloud, owner: Call, account: str) -> None:
    def follow(target: str, key: str = "k") -> dict[str, str]:
        return {"X_Container_Sync_To": f"//realm1/name1/{account}/{target}", "X_Container_Sync_Key": key}

    def names(container: str) -> list[str]:
        served.advance(3)
        return owner("GET", f"/{container}").content.decode().split()

    assert owner("PUT", "/d", X_Container_Sync_To=f"//mars/name1/{account}/c").status == 400
    assert owner("PUT", "/d", **follow("c", "other")).status == 201
    owner("POST", "/c", **follow("d"))
    assert names("d") == []
    owner("POST", "/d", X_Container_Sync_Key="k")
    owner("POST", "/c", **follow("d"))
    assert names("d") == ["o"]
    assert owner("GET", "/d?format=json").json == owner("GET", "/c?format=json").json
    owner("PUT", "/d/p", b"more")
    assert names("c") == ["o", "p"]
    owner("DELETE", "/c/o")
    assert names("d") == ["p"]


def test_cross_domain_policy_needs_no_token(served: ServedCloud) -> None:
    answer = served.call("GET", "/object-store/crossdomain.xml")
    assert answer.status == 200 and b"<cross-domain-policy>" in answer.content
