"""Types of resources: their attributes, and the checks of values of these."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from stoker.emulator.core.errors import bad_request
from stoker.emulator.core.fields import Check, identifier, integer, number, one_of, text
from stoker.emulator.metric.bodies import check_fields

_OPTIONS: Mapping[str, dict[str, Check]] = {
    "string": {"min_length": integer(0), "max_length": integer(0)},
    "number": {"min": number(float("-inf")), "max": number(float("-inf"))},
    "uuid": {},
    "bool": {},
    "datetime": {},
}
"""The types of attributes, with the options of each."""
_DEFAULTS: Mapping[str, dict[str, Any]] = {
    "string": {"min_length": 0, "max_length": 255},
    "number": {"min": None, "max": None},
}


def attribute(given: Any) -> dict[str, Any]:
    """Return the complete description of an attribute. Raises ApiError 400."""
    kind = given.get("type") if isinstance(given, dict) else None
    options = _OPTIONS.get(kind, {}) if isinstance(kind, str) else {}
    fields: dict[str, Check] = {"type": one_of(*_OPTIONS), "required": _boolean, "options": _fill, **options}
    check_fields(given, fields, ("type",))
    kept = {key: value for key, value in given.items() if key != "options"}
    return {"required": True, **_DEFAULTS.get(str(kind), {}), **kept}


def check_values(values: Mapping[str, Any], attributes: Mapping[str, Any], complete: bool) -> None:
    """Refuse values that attributes cannot have, and in a `complete` resource, required ones that are missing.

    Raises: ApiError 400.
    """
    for name, described in attributes.items():
        value = values.get(name)
        if value is None:
            if described["required"] and (complete or name in values):
                raise bad_request(f"Invalid input: required key not provided @ data['{name}']")
        elif (problem := _problem(value, described)) is not None:
            raise bad_request(f"Invalid input: {problem} @ data['{name}']")


def _problem(value: Any, described: Mapping[str, Any]) -> str | None:
    kind = described["type"]
    if kind == "string":
        return text(described["min_length"], described["max_length"])(value)
    if kind == "uuid":
        return identifier(value)
    if kind == "bool":
        return _boolean(value)
    if kind == "datetime":
        return _moment(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"{value!r} is not a number"
    low, high = described["min"], described["max"]
    outside = (low is not None and value < low) or (high is not None and value > high)
    return f"{value!r} is not between {low} and {high}" if outside else None


def _boolean(value: Any) -> str | None:
    return None if isinstance(value, bool) else f"{value!r} is not of type 'boolean'"


def _fill(value: Any) -> str | None:
    """The options of a new attribute: the value that existing resources get."""
    known = isinstance(value, dict) and value.keys() <= {"fill"}
    return None if known else f"{value!r} is not an object with the key 'fill'"


def _moment(value: Any) -> str | None:
    try:
        datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return f"{value!r} is not a timestamp"
    return None
