"""Checks of requests' bodies, in the words of Aodh."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.fields import Check, Nested


def invalid(name: str, value: Any, problem: str) -> ApiError:
    """The 400 for a field with a value that it cannot have."""
    return bad_request(f"Invalid input for field/attribute {name}. Value: '{value}'. {problem}")


def check_fields(wanted: Any, fields: Mapping[str, Check], required: Collection[str], where: str) -> None:
    """Refuse an object with a wrong field.

    fields: the check of each field that the object can have.
    where: the path of the object in messages: `data` for the body, `data.event_rule` for its rule.

    Raises: ApiError 400.
    """
    if not isinstance(wanted, dict):
        raise invalid(where, wanted, f"{wanted!r} is not of type 'object'")
    if unknown := [name for name in wanted if name not in fields]:
        raise bad_request(f"Unknown attribute for argument {where}: {', '.join(unknown)}")
    for name in required:
        if wanted.get(name) is None:
            raise invalid(name, None, "Mandatory field missing.")
    for name, value in wanted.items():
        if (problem := fields[name](value)) is not None:
            if isinstance(problem, Nested):
                name, value = problem.name, problem.value
            raise invalid(name, value, problem)


def one_of(*words: str) -> Check:
    """One of some words."""
    return lambda value: None if value in words else f"Value should be one of: {', '.join(words)}"


def number(value: Any) -> float:
    """The number that a value or a string of one stands for. Raises ValueError, for an infinite one too."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"could not convert {type(value).__name__} to float: {value!r}")
    found = float(value)
    if not math.isfinite(found):
        raise ValueError(f"{value!r} is not finite")
    return found
