"""The JSON schemas Glance publishes about its own bodies."""

from __future__ import annotations

from openstack_emulator.core.errors import not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.image.rules.attributes import COMMON, COMPUTED, LOCATIONS, UUID, WRITABLE
from openstack_emulator.image.rules.composition import ImageService

IMAGE: dict[str, object] = {
    "name": "image",
    "properties": {**WRITABLE, **COMPUTED, "locations": LOCATIONS, **COMMON},
    "additionalProperties": {"type": "string"},
    "links": [
        {"rel": "self", "href": "{self}"},
        {"rel": "enclosure", "href": "{file}"},
        {"rel": "describedby", "href": "{schema}"},
    ],
}
MEMBER: dict[str, object] = {
    "name": "member",
    "properties": {
        "member_id": {"type": "string", "description": "An identifier for the image member (tenantId)"},
        "image_id": {
            "type": "string",
            "description": "An identifier for the image",
            "pattern": UUID,
        },
        "created_at": {"type": "string", "description": "Date and time of image member creation"},
        "updated_at": {"type": "string", "description": "Date and time of last modification of image member"},
        "status": {
            "type": "string",
            "description": "The status of this image member",
            "enum": ["pending", "accepted", "rejected"],
        },
        "schema": {"readOnly": True, "type": "string"},
    },
}
TASK: dict[str, object] = {
    "name": "task",
    "properties": {
        **{
            name: {"type": "string"}
            for name in ("id", "type", "owner", "expires_at", "created_at", "updated_at", "self", "schema")
        },
        "status": {"type": "string", "enum": ["pending", "processing", "success", "failure"]},
        "input": {"type": ["null", "object"]},
        "result": {"type": ["null", "object"]},
        "message": {"type": "string"},
    },
}


def _collection(plural: str, item: dict[str, object], links: tuple[str, ...]) -> dict[str, object]:
    return {
        "name": plural,
        "properties": {
            plural: {"type": "array", "items": item},
            **{name: {"type": "string"} for name in ("schema", *links)},
        },
        "links": [*({"rel": rel, "href": f"{{{rel}}}"} for rel in links), {"rel": "describedby", "href": "{schema}"}],
    }


SCHEMAS: dict[str, dict[str, object]] = {
    "image": IMAGE,
    "images": _collection("images", IMAGE, ("first", "next")),
    "member": MEMBER,
    "members": _collection("members", MEMBER, ()),
    "task": TASK,
    "tasks": _collection("tasks", TASK, ("first", "next")),
}


def show(service: ImageService, request: Request) -> Response:
    name = request.vars["name"]
    if name not in SCHEMAS:
        raise not_found(f"There is no schema '{name}'. There are: {', '.join(SCHEMAS)}.")
    return Response(SCHEMAS[name])
