"""Updates as JSON-patch documents (RFC 6902) of an object's fields and of the keys of its maps."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from typing import Any

from openstack_emulator.container_infra.routes.fields import invalid, missing
from openstack_emulator.core import json_patch
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.json_patch import Operation, PatchProblem, PathNotFound


def _path(body: Any, index: int) -> ApiError:
    path = body[index].get("path")
    return missing("path") if path is None else invalid("path", path, "Value should match the pattern ^(/[\\w-]+)+$")


DIALECT = json_patch.Dialect(
    {
        PatchProblem.BODY: lambda body, index: invalid("patch", body, f"Value not a valid list: {body}"),
        PatchProblem.OPERATION: lambda body, index: invalid("patch", body, f"Value not a valid object: {body[index]}"),
        PatchProblem.OP: lambda body, index: invalid(
            "op", body[index].get("op"), "Value should be one of: add, remove, replace"
        ),
        PatchProblem.PATH: _path,
        PatchProblem.VALUE: json_patch.REFUSALS[PatchProblem.VALUE],
    }
)


def check_form(body: object) -> None:
    """Refuse a body that is no list of operations. Raises ApiError 400."""
    json_patch.operations(body, DIALECT)


def patched(
    document: Mapping[str, object], body: object, read_only: Collection[str] = (), mandatory: Collection[str] = ()
) -> dict[str, Any]:
    """Return the fields that the operations of a PATCH body change, with their new values.

    A path is `/<field>`, or `/<field>/<key>` for a field that is a map. A field that is removed becomes None.
    Raises: ApiError 400 for a malformed document, an unknown field, one that is read-only, and for the removal of a
    mandatory one.
    """
    after = copy.deepcopy(dict(document))
    for operation in json_patch.operations(body, DIALECT):
        name = operation.pointer[0]
        if name in read_only:
            raise bad_request(f"'/{name}' is an internal attribute and can not be updated")
        if name in mandatory and operation.op == "remove":
            raise bad_request(f"'/{name}' is a mandatory attribute and can not be removed")
        if name not in document:
            raise _inapplicable(operation, body)
        if len(operation.pointer) > 1 and after.get(name) is None:
            after[name] = {}
        try:
            json_patch.apply(after, operation)
        except PathNotFound:
            raise _inapplicable(operation, body) from None
    return {name: after.get(name) for name, value in document.items() if value != after.get(name)}


def _inapplicable(operation: Operation, body: Any) -> ApiError:
    order = ("path", "op", "value")
    shown = [{key: item[key] for key in order if key in item} for item in body]
    reason = f"can't {operation.op} a non-existent object '{operation.pointer[-1]}'"
    return bad_request(f"Couldn't apply patch '{shown}'. Reason: {reason}")
