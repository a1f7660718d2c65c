"""Changes of objects by JSON Patch (RFC 6902), of which Ironic accepts the operations add, replace and remove."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any

from openstack_emulator.baremetal.http import Kind
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request

_PATH = re.compile(r"(/[\w.~:-]+)+\Z", re.ASCII)
_OPERATIONS = ("add", "replace", "remove")


def patched(request: Request, kind: Kind, values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an object that a patch changes, with their new values.

    values: the object as the API shows it. A field that is removed, or set to null, gets its default.

    Raises: ApiError 400 for an invalid patch, 406 for fields that the requested version does not have.
    """
    operations = request.json
    if not isinstance(operations, list) or not operations:
        raise bad_request("The request body must be a JSON list of patch operations.")
    document = {name: copy.deepcopy(values[name]) for name, field in kind.fields.items()
                if field.check is not None and not field.write_only}  # fmt: skip
    touched: set[str] = set()
    for operation in operations:
        name, parts = _target(kind, operation)
        touched.add(name)
        try:
            _apply(document, [name, *parts], operation)
        except (KeyError, IndexError, TypeError, ValueError):
            last = (parts or [name])[-1]
            raise _refused(operation, f"can't {operation['op']} a non-existent object '{last}'") from None
    for name in touched:
        if document.get(name) is None:
            if kind.fields[name].required:
                raise bad_request(f"Schema error for patch: '{name}' is a required property")
            document[name] = copy.deepcopy(kind.fields[name].default)
    changes = {name: document[name] for name in touched}
    kind.check(request.version, changes)
    return changes


def _target(kind: Kind, operation: Any) -> tuple[str, list[str]]:
    """The field that an operation is about, and the path in its value."""
    if not isinstance(operation, dict):
        raise bad_request(f"Schema error for patch: {operation!r} is not of type 'object'")
    if operation.get("op") not in _OPERATIONS:
        raise bad_request(f"Schema error for patch: {operation.get('op')!r} is not one of {list(_OPERATIONS)}")
    path = operation.get("path")
    if not isinstance(path, str) or _PATH.match(path) is None:
        raise bad_request(f"The path {path!r} of a patch operation is invalid.")
    if operation["op"] != "remove" and "value" not in operation:
        raise bad_request("A value is required for the patch operations add and replace.")
    name, *parts = (part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/"))
    if name not in kind.fields or kind.fields[name].check is None:
        known = ", ".join(sorted(one for one, field in kind.fields.items() if field.check is not None))
        raise bad_request(f"Cannot patch /{name}. Only the following can be updated: {known}")
    return name, parts


def _apply(document: Any, parts: list[str], operation: Mapping[str, Any]) -> None:
    """Carry out an operation; KeyError, IndexError, TypeError or ValueError for a path that does not exist."""
    *outer, last = parts
    for part in outer:
        document = document[int(part)] if isinstance(document, list) else document[part]
    if isinstance(document, list):
        _apply_to_list(document, last, operation)
    elif operation["op"] == "remove":
        del document[last]
    elif operation["op"] == "add" or last in document:
        document[last] = operation["value"]
    else:
        raise KeyError(last)


def _apply_to_list(document: list[Any], last: str, operation: Mapping[str, Any]) -> None:
    at = len(document) if last == "-" else int(last)
    if operation["op"] == "add":
        if not 0 <= at <= len(document):
            raise IndexError(at)
        document.insert(at, operation["value"])
    elif not 0 <= at < len(document):
        raise IndexError(at)
    elif operation["op"] == "remove":
        del document[at]
    else:
        document[at] = operation["value"]


def _refused(operation: Mapping[str, Any], why: str) -> ApiError:
    return bad_request(f"Couldn't apply patch '{operation}'. Reason: {why}")
