"""Updates as JSON-patch documents (RFC 6902) of an object's fields and of the keys of its maps."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from typing import Any

from openstack_emulator.container_infra.http import invalid, missing
from openstack_emulator.core.errors import ApiError, bad_request

OPERATIONS = ("add", "remove", "replace")


def patched(
    document: Mapping[str, Any], body: Any, read_only: Collection[str] = (), mandatory: Collection[str] = ()
) -> dict[str, Any]:
    """Return the fields that the operations of a PATCH body change, with their new values.

    A path is `/<field>`, or `/<field>/<key>` for a field that is a map. A field that is removed becomes None.
    Raises: ApiError 400 for a malformed document, an unknown field, one that is read-only, and for the removal of a
    mandatory one.
    """
    check_form(body)
    after = copy.deepcopy(dict(document))
    for operation in body:
        name = operation["path"][1:].partition("/")[0]
        if name in read_only:
            raise bad_request(f"'/{name}' is an internal attribute and can not be updated")
        if name in mandatory and operation["op"] == "remove":
            raise bad_request(f"'/{name}' is a mandatory attribute and can not be removed")
        _apply(after, operation, body)
    return {name: value for name, value in after.items() if value != document[name]}


def check_form(body: Any) -> None:
    """Refuse a body that is no list of operations. Raises ApiError 400."""
    if not isinstance(body, list) or not body:
        raise invalid("patch", body, f"Value not a valid list: {body}")
    for operation in body:
        if not isinstance(operation, Mapping):
            raise invalid("patch", body, f"Value not a valid object: {operation}")
        if operation.get("op") not in OPERATIONS:
            raise invalid("op", operation.get("op"), f"Value should be one of: {', '.join(OPERATIONS)}")
        path = operation.get("path")
        if path is None:
            raise missing("path")
        if not isinstance(path, str) or not path.startswith("/"):
            raise invalid("path", path, "Value should match the pattern ^(/[\\w-]+)+$")
        if operation["op"] != "remove" and "value" not in operation:
            raise bad_request("'add' and 'replace' operations need a value.")


def _apply(after: dict[str, Any], operation: Mapping[str, Any], body: Any) -> None:
    operator = operation["op"]
    name, *keys = (part.replace("~1", "/").replace("~0", "~") for part in operation["path"][1:].split("/"))
    value = None if operator == "remove" else operation["value"]
    if name not in after:
        raise _inapplicable(operator, name, body)
    if not keys:
        after[name] = value
        return
    container = after[name] if after[name] is not None else {}
    if len(keys) > 1 or not isinstance(container, dict) or (operator != "add" and keys[0] not in container):
        raise _inapplicable(operator, keys[-1], body)
    after[name] = {key: one for key, one in container.items() if key != keys[0]}
    if operator != "remove":
        after[name][keys[0]] = value


def _inapplicable(operator: str, name: str, body: Any) -> ApiError:
    order = ("path", "op", "value")
    shown = [{key: operation[key] for key in order if key in operation} for operation in body]
    return bad_request(f"Couldn't apply patch '{shown}'. Reason: can't {operator} a non-existent object '{name}'")
