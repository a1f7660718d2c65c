"""Members of images, and imports with their tasks."""

from __future__ import annotations

from typing import Any

from openstack_emulator.testing import Answer, ServedCloud

IMAGES = "/image/v2/images"
RAW = {"disk_format": "raw", "container_format": "bare"}


def call(served: ServedCloud, method: str, path: str, body: Any = None, user: str = "demo", **headers: str) -> Answer:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return served.call(method, IMAGES + path, body, served.token(user, user), given)


def project(served: ServedCloud, user: str) -> str:
    token = served.token(user, user)
    answer = served.call("GET", "/identity/v3/auth/tokens", token=token, headers={"X-Subject-Token": token})
    return str(answer.json["token"]["project"]["id"])


def create(served: ServedCloud, **attributes: Any) -> str:
    return str(call(served, "POST", "", {**RAW, **attributes}).json["id"])


def test_only_the_member_accepts_a_shared_image(served: ServedCloud) -> None:
    image, member = create(served, name="mine"), project(served, "admin")
    added = call(served, "POST", f"/{image}/members", {"member": member})
    assert added.status == 200
    assert (added.json["member_id"], added.json["image_id"], added.json["status"]) == (member, image, "pending")
    assert call(served, "POST", f"/{image}/members", {"member": member}).status == 409
    assert call(served, "PUT", f"/{image}/members/{member}", {"status": "accepted"}).status == 403
    assert call(served, "PUT", f"/{image}/members/{member}", {"status": "maybe"}, "admin").status == 400
    accepted = call(served, "PUT", f"/{image}/members/{member}", {"status": "accepted"}, "admin")
    assert accepted.json["status"] == "accepted"
    listed = call(served, "GET", f"/{image}/members").json
    assert [row["status"] for row in listed["members"]] == ["accepted"]
    assert call(served, "DELETE", f"/{image}/members/{member}").status == 204
    assert call(served, "GET", f"/{image}/members/{member}").status == 404


def test_members_see_the_image_by_status(served: ServedCloud) -> None:
    demo = project(served, "demo")
    image = str(call(served, "POST", "", {**RAW, "name": "theirs"}, "admin").json["id"])
    assert call(served, "GET", f"/{image}").status == 404
    call(served, "POST", f"/{image}/members", {"member": demo}, "admin")
    assert call(served, "GET", f"/{image}").status == 200

    def names(query: str) -> list[str]:
        return [row["name"] for row in call(served, "GET", f"?visibility=shared&{query}").json["images"]]

    assert (names(""), names("member_status=pending"), names("member_status=all")) == ([], ["theirs"], ["theirs"])
    assert call(served, "PUT", f"/{image}/members/{demo}", {"status": "accepted"}).status == 200
    assert (names(""), names("member_status=pending")) == (["theirs"], [])
    assert call(served, "DELETE", f"/{image}/members/{demo}").status == 403


def test_only_shared_images_have_members(served: ServedCloud) -> None:
    image = create(served, visibility="private")
    assert call(served, "POST", f"/{image}/members", {"member": "x"}).status == 403
    assert call(served, "GET", f"/{image}/members").status == 403
    assert call(served, "POST", f"/{create(served)}/members", {"wrong": "x"}).status == 400


def test_import_of_staged_data(served: ServedCloud) -> None:
    image = create(served)
    method = {"method": {"name": "glance-direct"}}
    assert call(served, "POST", f"/{image}/import", method).status == 409
    octets = "application/octet-stream"
    assert call(served, "PUT", f"/{image}/stage", b"staged", Content_Type=octets).status == 204
    assert call(served, "GET", f"/{image}").json["status"] == "uploading"
    assert call(served, "POST", f"/{image}/import", method).status == 202
    assert call(served, "GET", f"/{image}").json["status"] == "importing"
    served.advance(0.1)
    assert call(served, "GET", f"/{image}").json["status"] == "saving"
    served.advance(0.1)
    done = call(served, "GET", f"/{image}").json
    assert (done["status"], done["size"]) == ("active", 6)
    ended = [done[name] for name in ("stores", "os_glance_importing_to_stores", "os_glance_failed_import")]
    assert ended == ["fast", "", ""]
    assert "os_glance_import_task" not in done
    assert call(served, "GET", f"/{image}/file").content == b"staged"
    task = call(served, "GET", f"/{image}/tasks").json["tasks"][0]
    assert (task["type"], task["status"], task["image_id"]) == ("api_image_import", "success", image)
    token = served.token("demo", "demo")
    assert served.call("GET", f"/image/v2/tasks/{task['id']}", token=token).json["status"] == "success"


def test_import_from_a_uri_gives_the_same_data_each_time(served: ServedCloud) -> None:
    def imported(uri: str) -> bytes:
        image = create(served)
        method = {"name": "web-download", "uri": uri}
        assert call(served, "POST", f"/{image}/import", {"method": method}).status == 202
        served.advance(1)
        return call(served, "GET", f"/{image}/file").content

    assert imported("http://example.com/a.img") == imported("http://example.com/a.img")
    assert imported("http://example.com/a.img") != imported("http://example.com/b.img")


def test_imports_that_are_refused(served: ServedCloud) -> None:
    image = create(served)
    for body in (
        {},
        {"method": {"name": "unknown"}},
        {"method": {"name": "web-download"}},
        {"method": {"name": "web-download", "uri": "file:///etc/passwd"}},
        {"method": {"name": "web-download", "uri": "http://a/b"}, "stores": ["unknown"]},
        {"method": {"name": "web-download", "uri": "http://a/b"}, "stores": [["fast"]]},
        {"method": {"name": "web-download", "uri": "http://a/b"}, "stores": 7},
        {"method": {"name": "web-download", "uri": "http://a/b"}, "stores": ["fast"], "all_stores": True},
    ):
        assert call(served, "POST", f"/{image}/import", body).status == 400, body


def test_an_import_ends_although_the_properties_were_replaced(served: ServedCloud) -> None:
    image = create(served)
    method = {"method": {"name": "web-download", "uri": "http://example.com/a.img"}}
    assert call(served, "POST", f"/{image}/import", method).status == 202
    token = served.token("demo", "demo")
    answer = served.call("PUT", f"/compute/v2.1/images/{image}/metadata", {"metadata": {"a": "b"}}, token)
    assert answer.status == 200
    served.advance(1)
    done = call(served, "GET", f"/{image}").json
    assert (done["status"], done["stores"], done["a"]) == ("active", "fast", "b")
    assert call(served, "GET", f"/{image}/tasks").json["tasks"][0]["status"] == "success"


def test_a_failed_image_import_returns_to_queued(served: ServedCloud) -> None:
    image = create(served)
    rule = {"on": f"POST {IMAGES}/*/import", "do": "error_state", "message": "No route to host"}
    assert served.call("POST", "/control/faults", rule).status in (200, 201)
    method = {"method": {"name": "web-download", "uri": "http://example.com/a.img"}}
    assert call(served, "POST", f"/{image}/import", method).status == 202
    served.advance(1)
    failed = call(served, "GET", f"/{image}").json
    assert (failed["status"], failed["os_glance_failed_import"]) == ("queued", "fast")
    task = call(served, "GET", f"/{image}/tasks").json["tasks"][0]
    assert (task["status"], task["message"]) == ("failure", "No route to host")


def test_stores_that_have_an_image(served: ServedCloud) -> None:
    stores = served.call("GET", "/image/v2/info/stores", token=served.token("demo", "demo")).json["stores"]
    assert [(store["id"], store.get("default")) for store in stores] == [("cheap", None), ("fast", "true")]
    image = create(served)
    assert "stores" not in call(served, "GET", f"/{image}").json
    octets = "application/octet-stream"
    assert call(served, "PUT", f"/{image}/file", b"x", Content_Type=octets).status == 204
    assert call(served, "GET", f"/{image}").json["stores"] == "fast"
    copy = {"method": {"name": "copy-image"}}
    assert call(served, "POST", f"/{image}/import", {**copy, "stores": ["fast"]}).status == 400
    assert call(served, "POST", f"/{image}/import", {**copy, "all_stores": True}).status == 202
    begun = call(served, "GET", f"/{image}").json
    assert (begun["status"], begun["os_glance_importing_to_stores"]) == ("active", "cheap")
    served.advance(1)
    assert call(served, "GET", f"/{image}").json["stores"] == "cheap,fast"
    token = served.token("demo", "demo")
    assert served.call("DELETE", f"/image/v2/stores/fast/{image}", token=token).status == 204
    assert call(served, "GET", f"/{image}").json["stores"] == "cheap"
    assert served.call("DELETE", f"/image/v2/stores/cheap/{image}", token=token).status == 403
    assert served.call("DELETE", f"/image/v2/stores/fast/{image}", token=token).status == 404
