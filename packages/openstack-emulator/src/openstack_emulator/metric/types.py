"""Types of resources: their attributes, and the checks of values of these."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from openstack_emulator.core.errors import bad_request
from openstack_emulator.metric.bodies import (
    Check,
    Invalid,
    boolean,
    checked,
    dictionary,
    identifier,
    integer,
    mapping,
    number,
    text,
    timestamp,
)

_OPTIONS: Mapping[str, dict[str, Check]] = {
    "string": {"min_length": integer(0), "max_length": integer(0)},
    "number": {"min": number(), "max": number()},
    "uuid": {},
    "bool": {},
    "datetime": {},
}
"""The types of attributes, with the options of each."""
RESERVED = frozenset({
    "id", "type", "metrics", "original_resource_id", "revision", "revision_start", "revision_end", "project_id",
    "user_id", "started_at", "ended_at", "creator", "created_by_user_id", "created_by_project_id", "get_metric",
})  # fmt: skip
"""Names that attributes cannot have."""
_DEFAULTS: Mapping[str, dict[str, Any]] = {
    "string": {"min_length": 0, "max_length": 256},
    "number": {"min": None, "max": None},
}


def described(attributes: Any) -> dict[str, dict[str, Any]]:
    """Return the complete descriptions of a new type's attributes. Raises ApiError 400."""
    checked({"attributes": attributes or {}}, dictionary({"attributes": mapping(_attribute)}))
    for name in attributes or {}:
        if name in RESERVED:
            raise bad_request(f"Invalid input: Resource attribute name {name} is invalid")
    return {name: attribute(given) for name, given in (attributes or {}).items()}


def attribute(given: Any) -> dict[str, Any]:
    """Return the complete description of an attribute. Raises ApiError 400."""
    checked(given, _attribute)
    kept = {key: value for key, value in given.items() if key != "options"}
    return {"required": True, **_DEFAULTS.get(given["type"], {}), **kept}


def _attribute(given: Any) -> None:
    """The description of an attribute; one with wrong options has none of the types."""
    if not isinstance(given, dict):
        raise Invalid("expected a dictionary")
    if "type" not in given:
        raise Invalid("required key not provided", ("type",))
    options = _OPTIONS.get(given["type"]) if isinstance(given["type"], str) else None
    fields: dict[str, Check] = {"type": text(), "required": boolean, "options": _fill, **(options or {})}
    try:
        dictionary(fields)(given)
    except Invalid:
        options = None
    if options is None:
        raise Invalid("not a valid value for dictionary value", ("type",))


def check_values(attributes: Mapping[str, Any]) -> dict[str, Check]:
    """Return the check of the values of each attribute."""
    return {name: _check(described) for name, described in attributes.items()}


def _check(described: Mapping[str, Any]) -> Check:
    checks: dict[str, Callable[[], Check]] = {
        "string": lambda: text(int(described["min_length"]), int(described["max_length"])),
        "number": lambda: number(described["min"], described["max"]),
        "uuid": lambda: identifier,
        "bool": lambda: boolean,
        "datetime": lambda: timestamp,
    }
    return checks[described["type"]]()


def kept_values(values: Mapping[str, Any], attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of attributes in the form in which they are kept: floats, and UUIDs with dashes."""
    forms: dict[str, Callable[[Any], Any]] = {"number": float, "uuid": lambda value: str(UUID(str(value)))}
    return {
        name: value if value is None else forms.get(attributes[name]["type"], lambda kept: kept)(value)
        for name, value in values.items()
        if name in attributes
    }


def _fill(value: Any) -> None:
    """The options of a new attribute: the value that existing resources get."""
    if not (isinstance(value, dict) and value.keys() <= {"fill"}):
        raise Invalid("expected a dictionary")
