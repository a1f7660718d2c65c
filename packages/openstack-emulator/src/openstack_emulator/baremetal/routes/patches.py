"""Changes of objects by JSON Patch (RFC 6902), of which Ironic accepts the operations add, replace and remove."""

from __future__ import annotations

import copy
import re
from typing import Any

from openstack_emulator.baremetal.records import BareMetalRecord
from openstack_emulator.baremetal.rules.fields import ObjectKind
from openstack_emulator.core import json_patch
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request
from openstack_emulator.core.json_patch import OPERATIONS, PatchProblem, PathNotFound

DIALECT = json_patch.Dialect(
    {
        PatchProblem.BODY: lambda body, index: bad_request("The request body must be a JSON list of patch operations."),
        PatchProblem.OPERATION: lambda body, index: _malformed(f"{body[index]!r} is not of type 'object'"),
        PatchProblem.OP: lambda body, index: _malformed(f"{body[index].get('op')!r} is not one of {list(OPERATIONS)}"),
        PatchProblem.PATH: lambda body, index: bad_request(
            f"The path {body[index].get('path')!r} of a patch operation is invalid."
        ),
        PatchProblem.VALUE: lambda body, index: bad_request(
            "A value is required for the patch operations add and replace."
        ),
    },
    path=re.compile(r"(/[\w.~:-]+)+", re.ASCII),
)


def _malformed(problem: str) -> ApiError:
    return bad_request(f"Schema error for patch: {problem}")


def patched(request: Request, kind: ObjectKind, record: BareMetalRecord) -> dict[str, Any]:
    """The fields of an object that a patch changes, with their new values.

    A field that is removed, or set to null, gets its default.

    Raises: ApiError 400 for an invalid patch, 406 for fields that the requested version does not have.
    """
    document = {name: copy.deepcopy(record.get(name)) for name, field in kind.fields.items()
                if field.check is not None and not field.write_only}  # fmt: skip
    touched: set[str] = set()
    for index, operation in enumerate(json_patch.operations(request.json, DIALECT)):
        name = operation.pointer[0]
        if name not in kind.fields or kind.fields[name].check is None:
            known = ", ".join(sorted(name for name, field in kind.fields.items() if field.check is not None))
            raise bad_request(f"Cannot patch /{name}. Only the following can be updated: {known}")
        touched.add(name)
        try:
            json_patch.apply(document, operation)
        except PathNotFound:
            reason = f"can't {operation.op} a non-existent object '{operation.pointer[-1]}'"
            raise bad_request(f"Couldn't apply patch '{request.json[index]}'. Reason: {reason}") from None
    for name in touched:
        if document.get(name) is None:
            if kind.fields[name].required:
                raise _malformed(f"'{name}' is a required property")
            document[name] = copy.deepcopy(kind.fields[name].default)
    changes = {name: document[name] for name in touched}
    kind.check(request.version, changes)
    return changes
