"""Types of resources over HTTP: their attributes, the resources that have these, and the media type of requests."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.testing import Answer, ServedCloud

TYPES = "/metric/v1/resource_type"
DISK = {
    "name": "disk",
    "attributes": {
        "label": {"type": "string", "max_length": 4},
        "size": {"type": "number", "min": 1, "required": False},
        "server": {"type": "uuid", "required": False},
    },
}


def call(served: ServedCloud, method: str, path: str, body: Any = None, user: str = "admin") -> Answer:
    return served.call(method, path, body, served.token(user, user))


def test_a_type_is_created_changed_and_deleted(served: ServedCloud) -> None:
    assert call(served, "POST", TYPES, DISK, user="demo").status == 403
    made = call(served, "POST", TYPES, DISK)
    assert (made.status, made.json["state"]) == (201, "active")
    assert made.json["attributes"]["label"] == {"type": "string", "required": True, "min_length": 0, "max_length": 4}
    assert call(served, "POST", TYPES, DISK).status == 409
    disks = "/metric/v1/resource/disk"
    first = {"id": "disk-1", "label": "a", "size": 3}
    assert call(served, "POST", disks, first).status == 201
    patch = [
        {"op": "add", "path": "/attributes/fast", "value": {"type": "bool", "options": {"fill": False}}},
        {"op": "remove", "path": "/attributes/size"},
    ]
    assert call(served, "PATCH", f"{TYPES}/disk", patch).json["attributes"].keys() == {"label", "server", "fast"}
    shown = call(served, "GET", f"{disks}/disk-1").json
    assert (shown["fast"], shown["label"], "size" in shown) == (False, "a", False)
    assert call(served, "DELETE", f"{TYPES}/disk").status == 400
    assert call(served, "DELETE", f"{disks}/disk-1").status == 204
    assert call(served, "DELETE", f"{TYPES}/disk").status == 204
    assert call(served, "GET", f"{TYPES}/disk").status == 404


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({}, "required key not provided @ data['label']"),
        ({"label": "longer"}, "length of value must be at most 4 for dictionary value @ data['label']"),
        ({"label": "a", "size": 0}, "value must be at least 1 for dictionary value @ data['size']"),
        ({"label": "a", "server": "here"}, "@ data['server']"),
        ({"label": "a", "colour": "red"}, "extra keys not allowed @ data['colour']"),
    ],
)
def test_resources_have_the_attributes_of_their_type(served: ServedCloud, values: dict[str, Any], problem: str) -> None:
    call(served, "POST", TYPES, DISK)
    answer = call(served, "POST", "/metric/v1/resource/disk", {"id": "disk-1", **values})
    assert answer.status == 400 and problem in answer.json["description"]["reason"]


@pytest.mark.parametrize(
    "body",
    [
        {"attributes": {}},
        {"name": "a b"},
        {"name": "a", "attributes": {"x": {"type": "colour"}}},
        {"name": "a", "attributes": {"x": {"type": "bool", "max_length": 3}}},
        {"name": "a", "cowsay": "moo"},
    ],
)
def test_an_invalid_type_is_refused(served: ServedCloud, body: Any) -> None:
    answer = call(served, "POST", TYPES, body)
    assert answer.status == 400 and answer.json["description"]["cause"] == "Invalid input"


def test_a_body_must_be_json(served: ServedCloud) -> None:
    plain = {"Content-Type": "text/plain"}
    assert served.call("POST", TYPES, b"name=disk", served.token(), plain).status == 415
