"""Which attributes of an image requests may set and change, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openstack_emulator.core import json_patch
from openstack_emulator.core.errors import bad_request, forbidden
from openstack_emulator.core.json_patch import Operation, PathNotFound
from openstack_emulator.image.records import Image
from openstack_emulator.image.rules.attributes import BASE, COMPUTED, RESERVED, RESERVED_PREFIX, WRITABLE, check
from openstack_emulator.image.rules.errors import detailed


@dataclass(frozen=True)
class Change:
    """One operation. `may_overwrite`: an `add` replaces what is there (the old media type refuses)."""

    operation: Operation
    name: str
    may_overwrite: bool


def changed_fields(image: Image, changes: list[Change]) -> dict[str, object]:
    """The new values of an image record's fields after the changes, in order.

    Raises: ApiError 403 for attributes that are not the user's, 409 for properties that are missing or there
    already, 400 for values that do not suit.
    """
    fields: dict[str, Any] = {}
    properties = dict(image.properties)
    for change in changes:
        refuse_reserved(change.name)
        if change.name in BASE:
            _change_field(image, fields, change)
        else:
            _change_property(properties, change)
    return {**fields, "properties": properties}


def refuse_reserved(name: str) -> None:
    """403 when the attribute is one that Glance sets, or keeps for itself."""
    if name in COMPUTED:
        raise forbidden(f"Attribute '{name}' is read-only.")
    if name in RESERVED or name.startswith(RESERVED_PREFIX):
        raise forbidden(f"Attribute '{name}' is reserved.")
    if name == "locations":
        raise forbidden("It's not allowed to add locations if locations are invisible.")


def record_fields(name: str, value: Any) -> dict[str, Any]:
    """A checked base attribute as fields of the image record."""
    check(name, value)
    if name == "tags":
        value = list(dict.fromkeys(value))
    return {"project_id" if name == "owner" else name: value}


def _change_field(image: Image, fields: dict[str, object], change: Change) -> None:
    if change.name == "id":
        raise forbidden("Attribute 'id' is read-only.")
    if change.operation.op == "remove":
        raise forbidden(f"Property {change.name} may not be removed.")
    if change.operation.op == "add" and not change.may_overwrite:
        raise detailed(409, f"Property {change.name} already present.")
    if change.name in ("disk_format", "container_format") and image.status not in ("queued", "importing"):
        raise forbidden(f"Attribute {change.name} can be only replaced for a queued image.")
    fields.update(record_fields(change.name, change.operation.value))


def _change_property(properties: dict[str, str], change: Change) -> None:
    if change.operation.op == "add" and change.name in properties and not change.may_overwrite:
        raise detailed(409, f"Property {change.name} already present.")
    try:
        json_patch.apply(properties, change.operation)
    except PathNotFound:
        raise detailed(409, f"Property {change.name} does not exist.") from None
    if change.operation.op != "remove":
        check(change.name, change.operation.value)


def fields_of_new(body: object) -> tuple[dict[str, Any], str | None]:
    """The fields of a new image record and the owner asked for, out of the body of a POST.

    Raises: ApiError 400 for values that do not suit, 403 for attributes that are not the user's.
    """
    if not isinstance(body, Mapping):
        raise bad_request("The request body must be a JSON object.")
    fields: dict[str, Any] = {}
    properties: dict[str, str] = {}
    for name, value in body.items():
        refuse_reserved(name)
        if name in WRITABLE:
            fields.update(record_fields(name, value))
        else:
            check(name, value)
            properties[name] = value
    owner = fields.pop("project_id", None)
    return {**fields, "properties": properties}, owner
