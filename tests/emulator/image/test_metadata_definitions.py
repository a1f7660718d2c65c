"""Metadata definitions, tasks of operators, and paths that end in a slash."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.testing import Answer, ServedCloud

NAMESPACES = "/metadefs/namespaces"


class Glance:
    def __init__(self, served: ServedCloud) -> None:
        self.served = served

    def call(self, method: str, path: str, body: Any = None, user: str = "admin") -> Answer:
        return self.served.call(method, f"/image/v2{path}", body, self.served.token(user, user))

    def ok(self, method: str, path: str, body: Any = None, user: str = "admin") -> Any:
        answer = self.call(method, path, body, user)
        assert answer.status < 300, answer.content
        return answer.json if answer.content else None


@pytest.fixture
def glance(served: ServedCloud) -> Glance:
    return Glance(served)


def test_namespaces_are_created_by_admins_and_shown_by_visibility(glance: Glance) -> None:
    body = {"namespace": "OS::Test", "display_name": "T", "protected": True}
    assert glance.call("POST", NAMESPACES, body, user="demo").status == 403
    made = glance.call("POST", NAMESPACES, body)
    assert (made.status, made.json["visibility"]) == (201, "private")
    assert glance.call("POST", NAMESPACES, body).status == 409
    assert glance.call("GET", f"{NAMESPACES}/OS::Test", user="demo").status == 404
    assert glance.call("DELETE", f"{NAMESPACES}/OS::Test").status == 403
    changed = {**body, "visibility": "public", "protected": False}
    glance.ok("PUT", f"{NAMESPACES}/OS::Test", changed)
    [listed] = glance.ok("GET", f"{NAMESPACES}?visibility=public", user="demo")["namespaces"]
    assert (listed["namespace"], listed["protected"]) == ("OS::Test", False)
    glance.ok("DELETE", f"{NAMESPACES}/OS::Test")
    assert glance.ok("GET", NAMESPACES)["namespaces"] == []


def test_namespace_is_created_with_its_parts(glance: Glance) -> None:
    body = {
        "namespace": "n",
        "resource_type_associations": [{"name": "OS::Nova::Flavor", "prefix": "hw_"}],
        "properties": {"p": {"title": "P", "type": "string"}},
        "objects": [{"name": "o", "required": ["a"]}],
        "tags": [{"name": "t"}],
    }
    for wrong in ("text", 1, {"title": "P"}):
        assert glance.call("POST", NAMESPACES, {**body, "properties": {"p": wrong}}).status == 400
    glance.ok("POST", NAMESPACES, body)
    shown = glance.ok("GET", f"{NAMESPACES}/n")
    assert shown["properties"]["p"]["title"] == "P"
    assert (shown["objects"][0]["required"], shown["tags"]) == (["a"], [{"name": "t"}])
    assert glance.ok("GET", f"{NAMESPACES}?resource_types=OS::Nova::Flavor")["namespaces"] != []
    assert glance.ok("GET", f"{NAMESPACES}?resource_types=OS::Nova::Server")["namespaces"] == []


@pytest.mark.parametrize(
    ("plural", "extra", "listed"),
    [
        ("objects", {"description": "d"}, "objects"),
        ("properties", {"title": "P", "type": "integer", "minimum": 1}, "properties"),
    ],
)
def test_parts_of_a_namespace(glance: Glance, plural: str, extra: dict[str, Any], listed: str) -> None:
    glance.ok("POST", NAMESPACES, {"namespace": "n"})
    path = f"{NAMESPACES}/n/{plural}"
    made = glance.ok("POST", path, {"name": "first", **extra})
    assert made.items() >= {"name": "first", **extra}.items()
    assert glance.call("POST", path, {"name": "first", **extra}).status == 409
    assert glance.call("POST", path, {"name": "x", **extra, "unknown": 1}).status == 400
    glance.ok("PUT", f"{path}/first", {"name": "second", **extra})
    assert glance.call("GET", f"{path}/first").status == 404
    assert len(glance.ok("GET", path)[listed]) == 1
    glance.ok("DELETE", f"{path}/second")
    assert not glance.ok("GET", path)[listed]


def test_tags_and_resource_types_of_a_namespace(glance: Glance) -> None:
    glance.ok("POST", NAMESPACES, {"namespace": "n"})
    path = f"{NAMESPACES}/n/tags"
    glance.ok("POST", path, {"tags": [{"name": "a"}, {"name": "b"}]})
    glance.ok("POST", f"{path}/c")
    glance.ok("PUT", f"{path}/a", {"name": "d"})
    assert [tag["name"] for tag in glance.ok("GET", path)["tags"]] == ["d", "b", "c"]
    glance.ok("DELETE", path)
    assert glance.ok("GET", path)["tags"] == []
    types = f"{NAMESPACES}/n/resource_types"
    glance.ok("POST", types, {"name": "OS::Custom::Thing"})
    assert [row["name"] for row in glance.ok("GET", types)["resource_type_associations"]] == ["OS::Custom::Thing"]
    known = [row["name"] for row in glance.ok("GET", "/metadefs/resource_types")["resource_types"]]
    assert {"OS::Custom::Thing", "OS::Glance::Image"} <= set(known)
    glance.ok("DELETE", f"{types}/OS::Custom::Thing")


def test_schemas_of_metadata_definitions(glance: Glance) -> None:
    assert glance.ok("GET", "/schemas/metadefs/namespace")["required"] == ["namespace"]
    assert glance.ok("GET", "/schemas/metadefs/resource_types")["name"] == "resource_type_associations"
    assert glance.call("GET", "/schemas/metadefs/unknown").status == 404


def test_an_operators_task_imports_an_image(glance: Glance) -> None:
    properties = {"name": "imported", "disk_format": "qcow2", "container_format": "bare", "visibility": "public"}
    body = {
        "import_from": "http://images.example.org/a.qcow2",
        "import_from_format": "qcow2",
        "image_properties": properties,
    }
    assert glance.call("POST", "/tasks", {"type": "import", "input": body}, user="demo").status == 403
    nowhere = {**body, "import_from": "http://images.qcow2"}
    assert glance.call("POST", "/tasks", {"type": "import", "input": nowhere}).status == 400
    task = glance.ok("POST", "/tasks", {"type": "import", "input": body})
    glance.served.advance(1)
    done = glance.ok("GET", f"/tasks/{task['id']}")
    assert (done["status"], done["input"]) == ("success", body)
    assert glance.ok("GET", f"/images/{done['result']['image_id']}")["status"] == "active"


def test_an_image_without_an_id_is_not_the_list_of_images(glance: Glance) -> None:
    assert glance.call("GET", "/images/").status == 404
    assert glance.call("DELETE", "/images/").status == 404
