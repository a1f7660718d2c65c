"""Changes of an image as JSON-patch documents, and which of them are allowed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openstack_emulator.core import json_patch
from openstack_emulator.core.errors import ApiError, bad_request, forbidden
from openstack_emulator.core.http import Request
from openstack_emulator.core.json_patch import OPERATIONS, Flaw, Inapplicable, Operation
from openstack_emulator.core.store import Record
from openstack_emulator.image.attributes import BASE, COMPUTED, RESERVED, RESERVED_PREFIX, WRITABLE, check
from openstack_emulator.image.errors import detailed, unsupported

MEDIA_TYPE = "application/openstack-images-v2.1-json-patch"
OLD_MEDIA_TYPE = "application/openstack-images-v2.0-json-patch"


def _unknown(body: Any, at: int) -> ApiError:
    for key in ("op", "path"):
        if key not in body[at]:
            return bad_request(f"Unable to find '{key}' in JSON Schema change")
    accepted = ", ".join(sorted(OPERATIONS))
    return bad_request(f"Invalid operation: `{body[at]['op']}`. It must be one of the following: {accepted}.")


def _mispointed(body: Any, at: int) -> ApiError:
    if "path" not in body[at]:
        return bad_request("Unable to find 'path' in JSON Schema change")
    path = body[at]["path"]
    if not isinstance(path, str) or not path.startswith("/"):
        return bad_request(f'Pointer `{path}` does not start with "/".')
    if path.endswith("/") or "//" in path[1:]:
        return bad_request(f'Pointer `{path}` contains adjacent or trailing "/".')
    return bad_request(f'Pointer `{path}` contains "~" not part of a recognized escape sequence.')


DIALECT = json_patch.Dialect(
    {
        Flaw.BODY: lambda body, at: bad_request("Request body must be a JSON array of operation objects."),
        Flaw.OPERATION: lambda body, at: bad_request("Operations must be JSON objects."),
        Flaw.OP: _unknown,
        Flaw.PATH: _mispointed,
        Flaw.VALUE: lambda body, at: bad_request(f'Operation "{body[at]["op"]}" requires a member named "value".'),
    },
    path=re.compile(r"(/[^/]+)+"),
    empty=True,
)


@dataclass(frozen=True)
class Change:
    """One operation. `may_overwrite`: an `add` replaces what is there (the old media type refuses)."""

    operation: Operation
    name: str
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
    if media_type == OLD_MEDIA_TYPE and isinstance(body, list):
        body = [_modern(entry) for entry in body]
    found = json_patch.operations(body, DIALECT)
    return [Change(one, _attribute(one), media_type == MEDIA_TYPE) for one in found]


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
    if change.operation.op == "remove":
        raise forbidden(f"Property {change.name} may not be removed.")
    if change.operation.op == "add" and not change.may_overwrite:
        raise detailed(409, f"Property {change.name} already present.")
    if change.name in ("disk_format", "container_format") and image["status"] not in ("queued", "importing"):
        raise forbidden(f"Attribute {change.name} can be only replaced for a queued image.")
    fields.update(stored(change.name, change.operation.value))


def _change_property(properties: dict[str, str], change: Change) -> None:
    if change.operation.op == "add" and change.name in properties and not change.may_overwrite:
        raise detailed(409, f"Property {change.name} already present.")
    try:
        json_patch.apply(properties, change.operation)
    except Inapplicable:
        raise detailed(409, f"Property {change.name} does not exist.") from None
    if change.operation.op != "remove":
        check(change.name, change.operation.value)


def _modern(entry: Any) -> Any:
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
