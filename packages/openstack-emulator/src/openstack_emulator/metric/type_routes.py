"""Routes of the types of resources."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.errors import bad_request, conflict
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.metric.bodies import anything, check_fields, checked, dictionary, invalid, nullable, text
from openstack_emulator.metric.resources import GENERIC, Resources
from openstack_emulator.metric.types import RESERVED, attribute, check_values, described

_NAME = r"[a-zA-Z0-9][a-zA-Z0-9_.-]*"
_PATH = "/attributes/"


def view(kind: Record) -> dict[str, Any]:
    """Return a type as clients see it."""
    return {"name": kind["id"], "attributes": kind["attributes"], "state": "active"}


def index(resources: Resources, request: Request) -> Response:
    return Response([view(kind) for kind in resources.types])


def show(resources: Resources, request: Request) -> Response:
    return Response(view(resources.types.require(request.vars["type"])))


def create(resources: Resources, request: Request) -> Response:
    request.context.require("admin")
    body = request.json
    check_fields(body, {"name": text(1, 255, _NAME), "attributes": anything}, ("name",))
    attributes = described(body.get("attributes"))
    if body["name"] in resources.types:
        raise conflict(f"Resource type {body['name']} already exists")
    kind = resources.types.add({"id": body["name"], "attributes": attributes})
    return Response(view(kind), 201, {"Location": f"{request.base}/v1/resource_type/{kind['id']}"})


def change(resources: Resources, request: Request) -> Response:
    """Add and remove attributes by a JSON patch (RFC 6902), completely or not at all."""
    request.context.require("admin")
    kind, operations = resources.types.require(request.vars["type"]), request.json
    if not isinstance(operations, list):
        raise bad_request("The request body must be a list of operations.")
    attributes, added = dict(kind["attributes"]), {}
    for at, operation in enumerate(operations):
        path = operation.get("path") if isinstance(operation, dict) else None
        name = str(path).removeprefix(_PATH)
        if not isinstance(path, str) or not path.startswith(_PATH) or not name:
            raise invalid("not a valid value for dictionary value", (at, "path"))
        if operation.get("op") == "add":
            attributes[name] = added[name] = _new(operation.get("value"), name)
        elif operation.get("op") != "remove":
            raise invalid("not a valid value for dictionary value", (at, "op"))
        elif attributes.pop(name, None) is None:
            raise bad_request(f"can't remove a non-existent object '{name}'")
    resources.change_type(kind, attributes, {name: one.pop("fill", None) for name, one in added.items()})
    return Response(view(kind))


def _new(given: Any, name: str) -> dict[str, Any]:
    """The description of an attribute for existing resources, with the value `fill` that these get."""
    found = attribute(given)
    if name in RESERVED:
        raise bad_request(f"Invalid input: Resource attribute name {name} is invalid")
    fill = (given.get("options") or {}).get("fill")
    if found["required"] and fill is None:
        problem = "must not be empty if required=True"
        raise bad_request(f"Invalid input: Option 'fill' of resource attribute {name} is invalid: {problem}")
    checked({name: fill}, dictionary({name: nullable(check_values({name: found})[name])}))
    return {**found, "fill": fill}


def delete(resources: Resources, request: Request) -> Response:
    request.context.require("admin")
    kind = resources.types.require(request.vars["type"])
    if kind["id"] == GENERIC or resources.rows.first(type=kind["id"]) is not None:
        raise bad_request(f"Resource type {kind['id']} is still in use")
    resources.types.remove(kind)
    return Response(status=204)
