"""Checks of requests' bodies, in the words of Aodh."""

from __future__ import annotations

import math
from typing import Any

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.validation.objects import Dialect, Step, value_at
from openstack_emulator.core.validation.problems import Problem, Reason
from openstack_emulator.core.validation.sentences import JSON_SCHEMA, WSME


def invalid(name: str, value: Any, problem: str) -> ApiError:
    """The 400 for a field with a value that it cannot have."""
    return bad_request(f"Invalid input for field/attribute {name}. Value: '{value}'. {problem}")


def _refusal(where: str, body: object, problem: Problem, words: str) -> ApiError:
    """The 400 for an object; `where` is its path: `data` for the body, `data.event_rule` for its rule."""
    if problem.reason is Reason.UNKNOWN:
        return bad_request(f"Unknown attribute for argument {where}: {', '.join(problem.expected)}")
    if problem.reason is Reason.MISSING:
        return invalid(problem.expected, None, words)
    return invalid(str(problem.path[-1]) if problem.path else where, value_at(body, problem.path), words)


AODH = Dialect(
    (Step.UNKNOWN, Step.MISSING, Step.VALUES),
    _refusal,
    {**JSON_SCHEMA, **{reason: WSME[reason] for reason in (Reason.CHOICE, Reason.MISSING)}},
    null_is_missing=True,
)


def number(value: Any) -> float:
    """The number that a value or a string of one stands for. Raises ValueError, for an infinite one too."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"could not convert {type(value).__name__} to float: {value!r}")
    found = float(value)
    if not math.isfinite(found):
        raise ValueError(f"{value!r} is not finite")
    return found
