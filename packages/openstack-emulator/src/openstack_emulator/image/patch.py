"""Changes of an image as JSON-patch documents, and which of them are allowed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openstack_emulator.core.errors import bad_request, forbidden
from openstack_emulator.core.http import Request
from openstack_emulator.core.store import Record
from openstack_emulator.image.attributes import BASE, COMPUTED, RESERVED, RESERVED_PREFIX, WRITABLE, check
from openstack_emulator.image.errors import detailed, unsupported

OPERATIONS = ("add", "replace", "remove")
MEDIA_TYPE = "application/openstack-images-v2.1-json-patch"
OLD_MEDIA_TYPE = "application/openstack-images-v2.0-json-patch"


@dataclass(frozen=True)
class Change:
    """One operation. `may_overwrite`: an `add` replaces what is there (the old media type refuses)."""

    operation: str
    name: str
    value: Any
    may_overwrite: bool


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
    if not isinstance(body, list):
        raise bad_request("Request body must be a JSON array of operation objects.")
    read = _operation if media_type == MEDIA_TYPE else _old_operation
    return [_change(*read(entry), may_overwrite=media_type == MEDIA_TYPE) for entry in body]


def applied(image: Record, changes: list[Change]) -> Record:
    """The new values of an image record's fields after the changes, in order.

    Raises: ApiError 403 for attributes that are not the user's, 409 for properties that are missing or there
    already, 400 for values that do not suit.
    """
    fields: Record = {}
    properties = dict(image["properties"])
    for change in changes:
        refuse_foreign(change.name)
        if change.name in BASE:
            _change_field(image, fields, change)
        else:
            _change_property(properties, change)
    return {**fields, "properties": properties}


def refuse_foreign(name: str) -> None:
    """403 when the attribute is one that Glance sets, or keeps for itself."""
    if name in COMPUTED:
        raise forbidden(f"Attribute '{name}' is read-only.")
    if name in RESERVED or name.startswith(RESERVED_PREFIX):
        raise forbidden(f"Attribute '{name}' is reserved.")
    if name == "locations":
        raise forbidden("It's not allowed to add locations if locations are invisible.")


def stored(name: str, value: Any) -> Record:
    """A checked base attribute as fields of the image record."""
    check(name, value)
    if name == "tags":
        value = list(dict.fromkeys(value))
    return {"project_id" if name == "owner" else name: value}


def _change_field(image: Record, fields: Record, change: Change) -> None:
    if change.name == "id":
        raise forbidden("Attribute 'id' is read-only.")
    if change.operation == "remove":
        raise forbidden(f"Property {change.name} may not be removed.")
    if change.operation == "add" and not change.may_overwrite:
        raise detailed(409, f"Property {change.name} already present.")
    if change.name in ("disk_format", "container_format") and image["status"] not in ("queued", "importing"):
        raise forbidden(f"Attribute {change.name} can be only replaced for a queued image.")
    fields.update(stored(change.name, change.value))


def _change_property(properties: dict[str, str], change: Change) -> None:
    there = change.name in properties
    if change.operation == "add" and there and not change.may_overwrite:
        raise detailed(409, f"Property {change.name} already present.")
    if change.operation != "add" and not there:
        raise detailed(409, f"Property {change.name} does not exist.")
    if change.operation == "remove":
        del properties[change.name]
        return
    check(change.name, change.value)
    properties[change.name] = change.value


def _operation(entry: Any) -> tuple[str, str, Any]:
    if not isinstance(entry, Mapping):
        raise bad_request("Operations must be JSON objects.")
    for key in ("op", "path"):
        if key not in entry:
            raise bad_request(f"Unable to find '{key}' in JSON Schema change")
    if entry["op"] not in OPERATIONS:
        accepted = ", ".join(sorted(OPERATIONS))
        raise bad_request(f"Invalid operation: `{entry['op']}`. It must be one of the following: {accepted}.")
    return entry["op"], entry["path"], _value(entry)


def _old_operation(entry: Any) -> tuple[str, str, Any]:
    """`{"replace": "/name", "value": …}`."""
    if not isinstance(entry, Mapping):
        raise bad_request("Operations must be JSON objects.")
    named = [key for key in OPERATIONS if key in entry]
    if len(named) != 1:
        raise bad_request(f"Operation objects must contain exactly one member named one of {', '.join(OPERATIONS)}.")
    value = None if named[0] == "remove" else _value({**entry, "op": named[0]})
    return named[0], entry[named[0]], value


def _value(entry: Mapping[str, Any]) -> Any:
    if entry["op"] == "remove":
        return None
    if "value" not in entry:
        raise bad_request(f'Operation "{entry["op"]}" requires a member named "value".')
    return entry["value"]


def _change(operation: str, path: Any, value: Any, may_overwrite: bool) -> Change:
    return Change(operation, _pointed_at(path), value, may_overwrite)


def _pointed_at(path: Any) -> str:
    """The attribute a JSON pointer names; 400 for a pointer that is malformed or goes deeper."""
    if not isinstance(path, str) or not path.startswith("/"):
        raise bad_request(f'Pointer `{path}` does not start with "/".')
    if path.endswith("/") or "//" in path[1:]:
        raise bad_request(f'Pointer `{path}` contains adjacent or trailing "/".')
    if re.search(r"~(?![01])", path):
        raise bad_request(f'Pointer `{path}` contains "~" not part of a recognized escape sequence.')
    name, *deeper = path[1:].split("/")
    name = name.replace("~1", "/").replace("~0", "~")
    if deeper and name not in RESERVED | {"locations"}:
        raise bad_request(f"Invalid JSON pointer for this resource: '{path}'")
    return name


def created(body: Any) -> tuple[Record, str | None]:
    """The fields of a new image record and the owner asked for, out of the body of a POST.

    Raises: ApiError 400 for values that do not suit, 403 for attributes that are not the user's.
    """
    if not isinstance(body, Mapping):
        raise bad_request("The request body must be a JSON object.")
    fields: Record = {}
    properties: dict[str, str] = {}
    for name, value in body.items():
        refuse_foreign(name)
        if name in WRITABLE:
            fields.update(stored(name, value))
        else:
            check(name, value)
            properties[name] = value
    owner = fields.pop("project_id", None)
    return {**fields, "properties": properties}, owner
