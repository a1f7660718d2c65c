"""What bodies of several kinds of requests have in common."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.filters import equal
from openstack_emulator.core.typed import Readable
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_boolean
from openstack_emulator.core.validation.problems import Check

FREE_TEXT = fields.nullable(fields.text())
METADATA = fields.text_map(key_form=r".{1,255}")
SPECS = fields.properties(fields.text(), r"[a-zA-Z0-9-_:.]{1,255}")
NAMED: Mapping[str, Check] = {
    "name": FREE_TEXT,
    "description": FREE_TEXT,
    "display_name": FREE_TEXT,
    "display_description": FREE_TEXT,
}
NO_ITEM = "Volume {id} has no metadata with key {key}."
OTHER_KEY = "Request body and URI mismatch"


def flag(value: object, name: str) -> bool:
    """The boolean that a value of a request means; 400 for other values."""
    found = as_boolean(value)
    if found is None:
        raise bad_request(f"Invalid input received: Invalid value '{value}' for '{name}': it must be a boolean.")
    return found


def renamed(body: Mapping[str, object], known: Collection[str]) -> dict[str, Any]:
    """The known fields of a body under their present names; `display_name` is an old one."""
    return {name.removeprefix("display_"): value for name, value in body.items() if name in known}


def is_public(row: Readable, requested: str) -> bool:
    """The filter of lists of types: `none` stands for all."""
    return requested.lower() == "none" or bool(row.get("is_public") == flag(requested, "is_public"))


GROUP_FILTERS = {name: equal(name) for name in ("id", "name", "status", "description", "group_id")}
"""The filters of lists of groups and of group snapshots."""
