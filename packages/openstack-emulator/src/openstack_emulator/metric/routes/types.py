"""Routes of the types of resources."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.json_patch import Dialect, PatchProblem, PathNotFound, apply, operations
from openstack_emulator.core.validation.fields import form, optional
from openstack_emulator.metric.records import Attribute
from openstack_emulator.metric.routes.paths import found_type
from openstack_emulator.metric.rules.composition import TimeSeriesDatabase
from openstack_emulator.metric.rules.inputs import NewType
from openstack_emulator.metric.rules.types import RESERVED, attribute, check_values
from openstack_emulator.metric.rules.validation import checked, invalid
from openstack_emulator.metric.views import type_view


def _wrong(*path: str) -> Callable[[object, int], ApiError]:
    """The refusal of a wrong part of an operation."""
    return lambda body, index: invalid("not a valid value for dictionary value", (index, *path))


DIALECT = Dialect(
    {
        PatchProblem.BODY: lambda body, index: bad_request("The request body must be a list of operations."),
        PatchProblem.OPERATION: _wrong("path"),
        PatchProblem.OP: _wrong("op"),
        PatchProblem.PATH: _wrong("path"),
        PatchProblem.VALUE: lambda body, index: invalid("expected a dictionary"),
    },
    operations=("add", "remove"),
    path=re.compile("/attributes/[^/]+"),
    empty=True,
)


def index(database: TimeSeriesDatabase, request: Request) -> Response:
    return Response([type_view(kind) for kind in database.types.rows])


def show(database: TimeSeriesDatabase, request: Request) -> Response:
    return Response(type_view(found_type(database, request)))


def create(database: TimeSeriesDatabase, request: Request) -> Response:
    request.context.require("admin")
    new_type = NewType.from_json(request.json)
    kind = database.types.create(new_type.name, new_type.attributes)
    return Response(type_view(kind), 201, {"Location": f"{request.base}/v1/resource_type/{kind.id}"})


def change(database: TimeSeriesDatabase, request: Request) -> Response:
    """Add and remove attributes by a JSON patch (RFC 6902), completely or not at all."""
    request.context.require("admin")
    kind = found_type(database, request)
    attributes, fills = dict(kind.attributes), {}
    document = {"attributes": attributes}
    for operation in operations(request.json, DIALECT):
        name = operation.pointer[-1]
        if operation.op == "add":
            described, fills[name] = _new(operation.value, name)
            operation = replace(operation, value=described)
        try:
            apply(document, operation)
        except PathNotFound:
            raise bad_request(f"can't {operation.op} a non-existent object '{name}'") from None
    database.types.change(kind, attributes, fills)
    return Response(type_view(kind))


def _new(attributes: Any, name: str) -> tuple[Attribute, object]:
    """The description of an attribute for existing resources, and the value that these get."""
    found = attribute(attributes)
    if name in RESERVED:
        raise bad_request(f"Invalid input: Resource attribute name {name} is invalid")
    fill = (attributes.get("options") or {}).get("fill")
    if found.required and fill is None:
        problem = "must not be empty if required=True"
        raise bad_request(f"Invalid input: Option 'fill' of resource attribute {name} is invalid: {problem}")
    checked({name: fill}, form({name: optional(check_values({name: found})[name])}))
    return found, fill


def delete(database: TimeSeriesDatabase, request: Request) -> Response:
    request.context.require("admin")
    database.types.remove(found_type(database, request))
    return Response(status=204)
