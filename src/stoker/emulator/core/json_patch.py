"""Updates as JSON-patch documents (RFC 6902) of an object's fields and of the keys of its maps."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from typing import Any

from stoker.emulator.core.errors import bad_request

OPERATIONS = ("add", "replace", "remove")


def patched(document: Mapping[str, Any], body: Any, read_only: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields that the operations of a PATCH body change, with their new values.

    A path is `/<field>`, or `/<field>/<key>` for a field that is a map. A field that is removed becomes None.
    Raises: ApiError 400 for a malformed document, an unknown field, or one that is read-only.
    """
    check_form(body)
    after = copy.deepcopy(dict(document))
    for operation in body:
        _apply(after, operation, read_only)
    return {name: value for name, value in after.items() if value != document[name]}


def check_form(body: Any) -> None:
    """Refuse a body that is no list of operations. Raises ApiError 400."""
    if not isinstance(body, list) or not body:
        raise bad_request("The request body must be a JSON array of operations.")
    for operation in body:
        if not isinstance(operation, Mapping) or operation.get("op") not in OPERATIONS:
            raise bad_request(f"Each operation must be an object whose 'op' is one of {', '.join(OPERATIONS)}.")
        path = operation.get("path")
        if not isinstance(path, str) or not path.startswith("/"):
            raise bad_request(f"Invalid path {path!r}: it must start with '/'.")
        if operation["op"] != "remove" and "value" not in operation:
            raise bad_request("'add' and 'replace' operations need a value.")


def _apply(after: dict[str, Any], operation: Mapping[str, Any], read_only: Collection[str]) -> None:
    path, removes = operation["path"], operation["op"] == "remove"
    name, *keys = (part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/"))
    if name in read_only:
        raise bad_request(f"'/{name}' is an internal attribute and can not be updated")
    if name not in after:
        raise bad_request(f"Couldn't apply patch. Reason: there is no attribute {name!r}.")
    value = None if removes else operation["value"]
    if not keys:
        after[name] = value
        return
    container = after[name] if after[name] is not None else {}
    if len(keys) > 1 or not isinstance(container, dict):
        raise bad_request(f"Couldn't apply patch. Reason: {path!r} is not a path of the object.")
    if operation["op"] != "add" and keys[0] not in container:
        raise bad_request(f"Couldn't apply patch. Reason: {path!r} does not exist.")
    after[name] = {key: one for key, one in container.items() if key != keys[0]}
    if not removes:
        after[name][keys[0]] = value
