"""Validation of request bodies, with Gnocchi's messages."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from stoker.emulator.core.errors import bad_request
from stoker.emulator.core.fields import Check


def check_fields(wanted: Any, fields: Mapping[str, Check], required: Collection[str] = ()) -> None:
    """Refuse an object with a wrong, an unknown or a missing field. Raises ApiError 400."""
    if not isinstance(wanted, dict):
        raise bad_request("Invalid input: expected a dictionary")
    for name, value in wanted.items():
        if name not in fields:
            raise bad_request(f"Invalid input: extra keys not allowed @ data['{name}']")
        if (problem := fields[name](value)) is not None:
            raise bad_request(f"Invalid input: {problem} @ data['{name}']")
    for name in required:
        if name not in wanted:
            raise bad_request(f"Invalid input: required key not provided @ data['{name}']")
