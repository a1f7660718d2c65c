"""The form of JSON-patch documents (RFC 6902)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.errors import bad_request

OPERATIONS = ("add", "replace", "remove")


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
