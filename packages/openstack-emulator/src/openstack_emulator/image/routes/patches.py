"""Changes of an image as JSON-patch documents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from openstack_emulator.core import json_patch
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request
from openstack_emulator.core.json_patch import OPERATIONS, Operation, PatchProblem
from openstack_emulator.image.rules.attributes import RESERVED
from openstack_emulator.image.rules.changes import Change
from openstack_emulator.image.rules.errors import unsupported

MEDIA_TYPE = "application/openstack-images-v2.1-json-patch"
OLD_MEDIA_TYPE = "application/openstack-images-v2.0-json-patch"


def _unknown(body: Any, index: int) -> ApiError:
    for key in ("op", "path"):
        if key not in body[index]:
            return bad_request(f"Unable to find '{key}' in JSON Schema change")
    accepted = ", ".join(sorted(OPERATIONS))
    return bad_request(f"Invalid operation: `{body[index]['op']}`. It must be one of the following: {accepted}.")


def _mispointed(body: Any, index: int) -> ApiError:
    if "path" not in body[index]:
        return bad_request("Unable to find 'path' in JSON Schema change")
    path = body[index]["path"]
    if not isinstance(path, str) or not path.startswith("/"):
        return bad_request(f'Pointer `{path}` does not start with "/".')
    if path.endswith("/") or "//" in path[1:]:
        return bad_request(f'Pointer `{path}` contains adjacent or trailing "/".')
    return bad_request(f'Pointer `{path}` contains "~" not part of a recognized escape sequence.')


DIALECT = json_patch.Dialect(
    {
        PatchProblem.BODY: lambda body, index: bad_request("Request body must be a JSON array of operation objects."),
        PatchProblem.OPERATION: lambda body, index: bad_request("Operations must be JSON objects."),
        PatchProblem.OP: _unknown,
        PatchProblem.PATH: _mispointed,
        PatchProblem.VALUE: lambda body, index: bad_request(
            f'Operation "{body[index]["op"]}" requires a member named "value".'
        ),
    },
    path=re.compile(r"(/[^/]+)+"),
    empty=True,
)


def changes_of(request: Request) -> list[Change]:
    """The operations of a PATCH body.

    Raises: ApiError 415 for another media type, 400 for a malformed body.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip()
    if media_type not in (MEDIA_TYPE, OLD_MEDIA_TYPE):
        accepted = f"{OLD_MEDIA_TYPE}, {MEDIA_TYPE}"
        detail = f"Image PATCH expects Content-Type one of: {accepted}"
        raise unsupported(media_type, detail, {"Accept-Patch": accepted})
    body = request.json
    if media_type == OLD_MEDIA_TYPE and isinstance(body, list):
        body = [_modern(entry) for entry in body]
    found = json_patch.operations(body, DIALECT)
    return [Change(change, _attribute(change), media_type == MEDIA_TYPE) for change in found]


def _modern(entry: object) -> object:
    """An operation of the old media type, `{"replace": "/name", "value": …}`, in the words of the RFC."""
    if not isinstance(entry, Mapping):
        raise bad_request("Operations must be JSON objects.")
    named = [key for key in OPERATIONS if key in entry]
    if len(named) != 1:
        raise bad_request(f"Operation objects must contain exactly one member named one of {', '.join(OPERATIONS)}.")
    return {**entry, "op": named[0], "path": entry[named[0]]}


def _attribute(operation: Operation) -> str:
    """The attribute that an operation changes; 400 for a pointer that goes deeper."""
    name, *deeper = operation.pointer
    if deeper and name not in RESERVED | {"locations"}:
        raise bad_request(f"Invalid JSON pointer for this resource: '{operation.path}'")
    return name
