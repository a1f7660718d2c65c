"""Routes of the types of resources."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from openstack_emulator.core.errors import ApiError, bad_request, conflict
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.json_patch import Dialect, Flaw, Inapplicable, apply, operations
from openstack_emulator.core.store import Record
from openstack_emulator.metric.bodies import anything, check_fields, checked, dictionary, invalid, nullable, text
from openstack_emulator.metric.resources import GENERIC, Resources
from openstack_emulator.metric.types import RESERVED, attribute, check_values, described

_NAME = r"[a-zA-Z0-9][a-zA-Z0-9_.-]*"


def _wrong(*path: str) -> Callable[[Any, int], ApiError]:
    """The refusal of a wrong part of an operation."""
    return lambda body, at: invalid("not a valid value for dictionary value", (at, *path))


DIALECT = Dialect(
    {
        Flaw.BODY: lambda body, at: bad_request("The request body must be a list of operations."),
        Flaw.OPERATION: _wrong("path"),
        Flaw.OP: _wrong("op"),
        Flaw.PATH: _wrong("path"),
        Flaw.VALUE: lambda body, at: invalid("expected a dictionary"),
    },
    operations=("add", "remove"),
    path=re.compile("/attributes/[^/]+"),
    empty=True,
)


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
    kind = resources.types.require(request.vars["type"])
    document, fills = {"attributes": dict(kind["attributes"])}, {}
    for operation in operations(request.json, DIALECT):
        name = operation.pointer[-1]
        if operation.op == "add":
            described, fills[name] = _new(operation.value, name)
            operation = replace(operation, value=described)
        try:
            apply(document, operation)
        except Inapplicable:
            raise bad_request(f"can't {operation.op} a non-existent object '{name}'") from None
    resources.change_type(kind, document["attributes"], fills)
    return Response(view(kind))


def _new(given: Any, name: str) -> tuple[dict[str, Any], Any]:
    """The description of an attribute for existing resources, and the value that these get."""
    found = attribute(given)
    if name in RESERVED:
        raise bad_request(f"Invalid input: Resource attribute name {name} is invalid")
    fill = (given.get("options") or {}).get("fill")
    if found["required"] and fill is None:
        problem = "must not be empty if required=True"
        raise bad_request(f"Invalid input: Option 'fill' of resource attribute {name} is invalid: {problem}")
    checked({name: fill}, dictionary({name: nullable(check_values({name: found})[name])}))
    return found, fill


def delete(resources: Resources, request: Request) -> Response:
    request.context.require("admin")
    kind = resources.types.require(request.vars["type"])
    if kind["id"] == GENERIC or resources.rows.first(type=kind["id"]) is not None:
        raise bad_request(f"Resource type {kind['id']} is still in use")
    resources.types.remove(kind)
    return Response(status=204)
