"""Images over HTTP: attributes, changes, data, lists."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from openstack_emulator.core.errors import ApiError
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.image.rules.composition import ImageService
from openstack_emulator.image.rules.inputs import NewCopy
from openstack_emulator.services import new_cloud
from openstack_emulator.testing import Answer, ServedCloud
from stoker_foundation.clock import ManualClock

IMAGES = "/image/v2/images"
PATCH = "application/openstack-images-v2.1-json-patch"
OLD_PATCH = "application/openstack-images-v2.0-json-patch"
RAW = {"disk_format": "raw", "container_format": "bare"}
OCTETS = {"Content-Type": "application/octet-stream"}


class Glance:
    """Calls by one user in one project."""

    def __init__(self, served: ServedCloud, user: str = "demo", project: str = "demo") -> None:
        self.served, self.user, self.project = served, user, project

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        token = self.served.token(self.user, self.project)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.served.call(method, path, body, token, given)

    def create(self, **attributes: Any) -> dict[str, Any]:
        answer = self.call("POST", IMAGES, {**RAW, **attributes})
        assert answer.status == 201, answer.content
        return dict(answer.json)

    def upload(self, image: dict[str, Any], data: bytes) -> Answer:
        return self.call("PUT", image["file"].replace("/v2", "/image/v2", 1), data, **OCTETS)

    def show(self, image: dict[str, Any]) -> dict[str, Any]:
        return dict(self.call("GET", f"{IMAGES}/{image['id']}").json)

    def patch(self, image: dict[str, Any], *operations: Any, media_type: str = PATCH) -> Answer:
        return self.call("PATCH", f"{IMAGES}/{image['id']}", list(operations), Content_Type=media_type)

    def names(self, query: str = "") -> list[str]:
        answer = self.call("GET", f"{IMAGES}?{query}")
        assert answer.status == 200, answer.content
        return [image["name"] for image in answer.json["images"]]


@pytest.fixture
def demo(served: ServedCloud) -> Glance:
    return Glance(served)


@pytest.fixture
def admin(served: ServedCloud) -> Glance:
    return Glance(served, "admin", "admin")


def test_versions_need_no_token(served: ServedCloud) -> None:
    assert served.call("GET", "/image").status == 300
    versions = served.call("GET", "/image/versions").json["versions"]
    assert versions[0]["id"] == "v2.17"
    assert versions[0]["status"] == "CURRENT"
    assert versions[0]["links"][0]["href"].endswith("/image/v2/")
    assert {version["status"] for version in versions[1:]} == {"SUPPORTED"}
    assert served.call("GET", IMAGES).status == 401


def test_a_new_image_is_queued_and_flat(demo: Glance) -> None:
    answer = demo.call("POST", IMAGES, {"name": "web", "tags": ["a", "a"], "hw_disk_bus": "scsi", **RAW})
    assert answer.status == 201
    image = answer.json
    assert answer.headers["location"].endswith(f"/image/v2/images/{image['id']}")
    assert answer.headers["openstack-image-import-methods"] == "glance-direct,web-download,copy-image"
    assert (image["status"], image["visibility"], image["size"]) == ("queued", "shared", None)
    assert (image["hw_disk_bus"], image["tags"], image["min_disk"]) == ("scsi", ["a"], 0)
    assert image["file"] == f"/v2/images/{image['id']}/file"
    assert not [name for name in image if name.startswith("_") or name == "project_id"]


def test_upload_describes_the_data(demo: Glance) -> None:
    image, data = demo.create(), b"some bytes" * 100
    assert demo.call("GET", f"{IMAGES}/{image['id']}/file").status == 204
    assert demo.upload(image, data).status == 204
    image = demo.show(image)
    assert (image["status"], image["size"], image["virtual_size"]) == ("active", 1000, 1000)
    assert image["checksum"] == hashlib.md5(data).hexdigest()
    assert (image["os_hash_algo"], image["os_hash_value"]) == ("sha512", hashlib.sha512(data).hexdigest())
    answer = demo.call("GET", f"{IMAGES}/{image['id']}/file")
    assert (answer.content, answer.headers["content-md5"]) == (data, image["checksum"])
    part = demo.call("GET", f"{IMAGES}/{image['id']}/file", Range="bytes=5-9")
    assert (part.status, part.content, part.headers["content-range"]) == (206, b"bytes", "bytes 5-9/1000")
    assert demo.call("GET", f"{IMAGES}/{image['id']}/file", Range="bytes=5000-").status == 416
    assert demo.upload(image, b"again").status == 409


def test_upload_needs_formats_and_a_media_type(demo: Glance) -> None:
    image = demo.call("POST", IMAGES, {"name": "bare"}).json
    assert demo.upload(image, b"x").status == 400
    assert demo.call("PUT", f"{IMAGES}/{image['id']}/file", {"a": 1}).status == 415


@pytest.mark.parametrize(
    ("attributes", "status"),
    [
        ({"id": "no-uuid"}, 400),
        ({"name": 5}, 400),
        ({"name": "x" * 256}, 400),
        ({"min_disk": -1}, 400),
        ({"min_ram": True}, 400),
        ({"disk_format": "floppy"}, 400),
        ({"visibility": "secret"}, 400),
        ({"custom": {"not": "text"}}, 400),
        ({"status": "active"}, 403),
        ({"checksum": "x"}, 403),
        ({"deleted": True}, 403),
        ({"os_glance_stage": "x"}, 403),
        ({"locations": []}, 403),
        ({"visibility": "public"}, 403),
        ({"owner": "someone-else"}, 403),
    ],
)
def test_creation_refuses(demo: Glance, attributes: dict[str, Any], status: int) -> None:
    before = demo.names()
    assert demo.call("POST", IMAGES, {**RAW, **attributes}).status == status
    assert demo.names() == before


def test_image_ids_are_unique(demo: Glance) -> None:
    image = demo.create(id="0b2a7b1e-3e0a-4f5c-8d0e-7a2f4a3b1c9d")
    assert demo.call("POST", IMAGES, {"id": image["id"]}).status == 409


def test_patch_adds_replaces_and_removes(demo: Glance) -> None:
    image = demo.create(name="old", kept="1", dropped="2")
    answer = demo.patch(
        image,
        {"op": "replace", "path": "/name", "value": "new"},
        {"op": "add", "path": "/fresh~1name", "value": "3"},
        {"op": "remove", "path": "/dropped"},
        {"op": "replace", "path": "/tags", "value": ["b", "b"]},
        {"op": "add", "path": "/min_disk", "value": 7},
    )
    assert answer.status == 200
    assert answer.json == demo.show(image)
    assert (answer.json["name"], answer.json["fresh/name"], answer.json["tags"]) == ("new", "3", ["b"])
    assert (answer.json["kept"], answer.json["min_disk"]) == ("1", 7)
    assert "dropped" not in answer.json
    assert demo.patch(image).status == 200


@pytest.mark.parametrize(
    ("operation", "status"),
    [
        ({"op": "replace", "path": "/id", "value": "0b2a7b1e-3e0a-4f5c-8d0e-7a2f4a3b1c9d"}, 403),
        ({"op": "replace", "path": "/status", "value": "active"}, 403),
        ({"op": "add", "path": "/deleted", "value": "1"}, 403),
        ({"op": "remove", "path": "/name"}, 403),
        ({"op": "replace", "path": "/visibility", "value": "public"}, 403),
        ({"op": "replace", "path": "/owner", "value": "x"}, 403),
        ({"op": "replace", "path": "/missing", "value": "x"}, 409),
        ({"op": "remove", "path": "/missing"}, 409),
        ({"op": "add", "path": "/number", "value": 1}, 400),
        ({"op": "move", "path": "/name", "value": "x"}, 400),
        ({"op": "add", "path": "/name"}, 400),
        ({"op": "add", "value": "x"}, 400),
        ({"op": "add", "path": "name", "value": "x"}, 400),
        ({"op": "add", "path": "/a//b", "value": "x"}, 400),
        ({"op": "add", "path": "/a/b", "value": "x"}, 400),
        ({"op": "add", "path": "/a~2", "value": "x"}, 400),
        ("no object", 400),
    ],
)
def test_patch_refuses_and_changes_nothing(demo: Glance, operation: Any, status: int) -> None:
    image = demo.create(name="same")
    answer = demo.patch(image, {"op": "add", "path": "/first", "value": "1"}, operation)
    assert answer.status == status, answer.content
    assert demo.show(image) == image


def test_patch_media_types(demo: Glance) -> None:
    image = demo.create(name="n", there="1")
    refused = demo.patch(image, media_type="application/json")
    assert refused.status == 415
    assert PATCH in refused.headers["accept-patch"]
    assert demo.patch(image, {"add": "/there", "value": "2"}, media_type=OLD_PATCH).status == 409
    assert demo.patch(image, {"replace": "/there", "value": "2"}, media_type=OLD_PATCH).json["there"] == "2"
    assert demo.patch(image, {"op": "add", "path": "/there", "value": "3"}).json["there"] == "3"


def test_formats_are_fixed_once_there_is_data(demo: Glance) -> None:
    image = demo.create()
    change = {"op": "replace", "path": "/disk_format", "value": "qcow2"}
    assert demo.patch(image, change).json["disk_format"] == "qcow2"
    demo.upload(image, b"x")
    assert demo.patch(image, change).status == 403


def test_delete(demo: Glance) -> None:
    image = demo.create(protected=True)
    path = f"{IMAGES}/{image['id']}"
    assert demo.call("DELETE", path).status == 403
    demo.patch(image, {"op": "replace", "path": "/protected", "value": False})
    assert demo.call("DELETE", path).status == 204
    assert demo.call("GET", path).status == 404
    assert demo.call("DELETE", path).status == 404


def test_error_bodies(demo: Glance) -> None:
    page = demo.call("GET", f"{IMAGES}/<b>")
    assert page.headers["content-type"].lower() == "text/html; charset=utf-8"
    assert b"<title>404 Not Found</title>" in page.content
    assert b"No image found with ID &lt;b&gt;" in page.content or b"%3Cb%3E" in page.content
    data = demo.call("GET", f"{IMAGES}/none", Accept="application/json")
    message = "No image found with ID none<br /><br />\n\n\n"
    assert data.json == {"message": message, "code": "404 Not Found", "title": "Not Found"}


def test_deactivation_blocks_the_data(demo: Glance) -> None:
    image = demo.create()
    actions = f"{IMAGES}/{image['id']}/actions"
    assert demo.call("POST", f"{actions}/deactivate").status == 403
    demo.upload(image, b"x")
    assert demo.call("POST", f"{actions}/deactivate").status == 204
    assert demo.show(image)["status"] == "deactivated"
    assert demo.call("GET", f"{IMAGES}/{image['id']}/file").status == 403
    assert demo.call("POST", f"{actions}/reactivate").status == 204
    assert demo.call("GET", f"{IMAGES}/{image['id']}/file").content == b"x"


def test_tags(demo: Glance) -> None:
    image = demo.create()
    tag = f"{IMAGES}/{image['id']}/tags/blue"
    assert demo.call("PUT", tag).status == 204
    assert demo.call("PUT", tag).status == 204
    assert demo.show(image)["tags"] == ["blue"]
    assert demo.call("DELETE", tag).status == 204
    assert demo.call("DELETE", tag).status == 404


def test_preset_images_are_public(demo: Glance) -> None:
    presets = demo.call("GET", f"{IMAGES}?visibility=public&status=active").json["images"]
    names = {"cirros", "cirros-0.6.2-x86_64-disk", "fedora", "fedora-coreos"}
    assert {image["name"] for image in presets} == names
    for image in presets:
        data = demo.call("GET", f"{IMAGES}/{image['id']}/file").content
        assert (len(data), hashlib.md5(data).hexdigest()) == (image["size"], image["checksum"])
    assert demo.call("DELETE", f"{IMAGES}/{presets[0]['id']}").status == 403


def test_filters(demo: Glance, served: ServedCloud) -> None:
    small, big = demo.create(name="small", tags=["x"], min_ram=5), demo.create(name="big", tags=["x", "y"], os="linux")
    demo.upload(small, b"1")
    demo.upload(big, b"1" * 300)
    expected = {
        "name=small": ["small"],
        "name=in:small,big&sort=name:asc": ["big", "small"],
        f"id=in:{small['id']}": ["small"],
        "tag=x&tag=y": ["big"],
        "size_max=10": ["small"],
        "size_min=300&size_max=300": ["big"],
        "min_ram=5": ["small"],
        "os=linux": ["big"],
        "os=windows": [],
        "checksum=" + hashlib.md5(b"1").hexdigest(): ["small"],
        "visibility=shared&sort=size": ["big", "small"],
        "protected=true": [],
        f"created_at=gt:{small['created_at']}": [],
        f"created_at=gte:{small['created_at']}&visibility=shared&sort=name": ["small", "big"],
    }
    assert {query: demo.names(query) for query in expected} == expected
    for query in ("visibility=odd", "size_min=x", "created_at=gt:never", "member_status=x", "limit=-1", "marker=x"):
        assert demo.call("GET", f"{IMAGES}?{query}").status == 400, query


def test_order_and_pages(demo: Glance, served: ServedCloud) -> None:
    for name in ("b", "c", "a"):
        demo.create(name=name)
        served.advance(1)
    assert demo.names("visibility=shared") == ["a", "c", "b"]
    assert demo.names("visibility=shared&sort_key=name&sort_dir=asc") == ["a", "b", "c"]
    first = demo.call("GET", f"{IMAGES}?visibility=shared&sort=name:asc&limit=2").json
    assert first["first"] == "/v2/images?visibility=shared&sort=name%3Aasc&limit=2"
    second = demo.call("GET", "/image" + first["next"]).json
    assert [image["name"] for image in second["images"]] == ["c"]
    assert "next" not in second
    for query in (
        "sort=name&sort_key=name",
        "sort_key=tags",
        "sort=name:up",
        "sort_key=name&sort_dir=asc&sort_dir=asc",
    ):
        assert demo.call("GET", f"{IMAGES}?{query}").status == 400, query


def test_visibility(demo: Glance, admin: Glance) -> None:
    for visibility in ("private", "shared", "community"):
        admin.create(name=visibility, visibility=visibility)
    hidden = admin.create(name="hidden", visibility="public", os_hidden=True)
    by_name = {image["name"]: image for image in admin.call("GET", IMAGES).json["images"]}
    assert not {"private", "shared", "community", "hidden"}.intersection(demo.names())
    assert demo.names("visibility=community") == ["community"]
    assert demo.names("os_hidden=true") == ["hidden"]
    assert demo.call("GET", f"{IMAGES}/{by_name['private']['id']}").status == 404
    assert demo.call("GET", f"{IMAGES}/{by_name['community']['id']}").status == 200
    assert demo.patch(hidden, {"op": "replace", "path": "/name", "value": "x"}).status == 403


def test_schemas_and_info(demo: Glance) -> None:
    for name in ("image", "images", "member", "members"):
        assert demo.call("GET", f"/image/v2/schemas/{name}").json["name"] == name
    image = demo.call("GET", "/image/v2/schemas/image").json
    assert set(demo.create()) <= set(image["properties"])
    assert demo.call("GET", "/image/v2/schemas/nothing").status == 404
    methods = demo.call("GET", "/image/v2/info/import").json["import-methods"]
    assert methods["value"] == ["glance-direct", "web-download", "copy-image"]
    assert demo.call("GET", "/image/v2/metadefs/namespaces").json["namespaces"] == []


def test_images_are_read_and_created_by_other_services() -> None:
    clock = ManualClock()
    cloud = new_cloud(clock=clock)
    cloud.start()
    images, project = cloud.of(ImageService).images, cloud.of(Identity).projects.rows.first(name="demo")
    assert project is not None
    cirros = images.named(project.id, "cirros")
    assert cirros is not None
    assert images.named(project.id, cirros.id) is images.usable(project.id, cirros.id)
    snapshot = images.copy(project.id, NewCopy(name="snap", properties={"image_type": "snapshot"}))
    assert snapshot.status == "queued"
    clock.advance(0.1)
    assert snapshot.status == "saving"
    clock.advance(0.1)
    assert (snapshot.status, snapshot.size) == ("active", 65536)
    with pytest.raises(ApiError) as refused:
        images.usable("another project", snapshot.id)
    assert refused.value.status == 404
    assert images.named("another project", "snap") is None
    cloud.close()


def test_text_length_errors_show_schema_and_value(demo: Glance) -> None:
    image = demo.create(note="x" * 65535)
    answer = demo.patch(image, {"op": "replace", "path": "/note", "value": "x" * 65536})
    assert (answer.status, answer.content.count(b"is too long")) == (400, 1)

    refused = demo.patch(image, {"op": "replace", "path": "/tags", "value": ["a", 7]})
    assert refused.status == 400
    assert b"7 is not of type &#x27;string&#x27;" in refused.content
    assert b"On instance[&#x27;tags&#x27;][1]:\n    7" in refused.content
