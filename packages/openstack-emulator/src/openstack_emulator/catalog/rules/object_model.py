"""The object model: applications as JSON objects, whose key `?` has the ID and the class of the object."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping
from typing import Any

from openstack_emulator.core.cloud import new_hex_id
from openstack_emulator.core.errors import bad_request

HEADER = "?"
"""The key of an object with its ID and class."""
_CLASS = re.compile(r"(?P<name>[A-Za-z_][\w.]*)(/[\w.]+)?(@[\w.]+)?\Z")


def accepted(value: Any) -> dict[str, object]:
    """Return an application of a request; one without an ID gets one. Raises ApiError 400."""
    header = value.get(HEADER) if isinstance(value, dict) else None
    kind = header.get("type") if isinstance(header, dict) else None
    if not isinstance(header, dict) or not isinstance(kind, str) or not _CLASS.match(kind):
        raise bad_request("The application must be a JSON object whose key '?' has the type of the object")
    if not isinstance(header.get("id", ""), str):
        raise bad_request("The ID of an application must be a string")
    copied = copy.deepcopy(value)
    copied[HEADER].update(id=header.get("id") or new_hex_id())
    return dict(copied)


def accepted_list(value: object) -> list[dict[str, object]]:
    """Return the applications of a request. Raises ApiError 400 for other values, and for an ID that occurs twice."""
    if not isinstance(value, list):
        raise bad_request("The request body must be a JSON array of applications")
    services = [accepted(entry) for entry in value]
    check_identifiers(services)
    return services


def check_identifiers(services: Iterable[Mapping[str, object]]) -> None:
    """Refuse applications of which two have the same ID. Raises ApiError 400."""
    seen: set[str] = set()
    for service in services:
        identifier = identifier_of(service)
        if identifier in seen:
            raise bad_request(f"Several applications have the ID {identifier}")
        seen.add(identifier)


def identifier_of(service: Mapping[str, Any]) -> str:
    """Return the ID of an application."""
    return str(service[HEADER].get("id"))


def class_of(service: Mapping[str, Any]) -> str:
    """Return the name of the class, without a version (`/1.0`) and a package (`@com.example`)."""
    found = _CLASS.match(str(service[HEADER].get("type")))
    return found.group("name") if found else ""


def with_status(services: Iterable[Mapping[str, Any]], status: str) -> list[dict[str, object]]:
    """Return applications as they are shown: their status is below the key `?`."""
    return [{**service, HEADER: {**service[HEADER], "status": status}} for service in services]
