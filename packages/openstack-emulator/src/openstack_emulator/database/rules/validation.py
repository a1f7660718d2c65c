"""Checks of what requests describe, with the messages of Trove."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.validation.objects import Dialect, Step
from openstack_emulator.core.validation.problems import Check, Problem, Reason, specific
from openstack_emulator.core.validation.sentences import JSON_SCHEMA

Checks = Mapping[str, Check]


def password(value: Any) -> Problem | None:
    """A password, which is not repeated in the message."""
    return None if isinstance(value, str) and value else specific(None, "is not a string with characters")


def any_list(value: object) -> Problem | None:
    """A list."""
    return None if isinstance(value, list) else specific(value, "is not a list")


def filled_list(value: object) -> Problem | None:
    """A list with at least one item."""
    return None if isinstance(value, list) and value else specific(value, "is not a list with items")


def unsupported(value: object) -> Problem | None:
    """Nothing: what the emulated cloud does not do."""
    return specific(value, "is not supported by the emulated cloud") if value else None


def _type(problem: Problem) -> str:
    return "is not an object" if problem.expected[0] == "object" else JSON_SCHEMA[Reason.TYPE](problem)


def _refusal(where: str, body: object, problem: Problem, words: str) -> ApiError:
    return _wrong(f"{where}['{problem.path[0]}']" if problem.path else where, words)


_TROVE = Dialect((Step.MISSING, Step.FIELDS), _refusal, {**JSON_SCHEMA, Reason.TYPE: _type}, null_is_missing=True)


def check(where: str, body: Any, checks: Checks, required: Sequence[str] = (), *, open: bool = False) -> dict[str, Any]:
    """Return the known fields of an object, which pass their checks.

    open: the object may have other fields, which are ignored.

    Raises: ApiError 400.
    """
    _TROVE.check(where, body, checks, required, strict=not open)
    return {name: value for name, value in body.items() if name in checks}


def objects(where: str, value: Any, checks: Checks, required: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return a list of such objects; null means none. Raises ApiError 400."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise _wrong(where, "is not a list")
    return [check(f"{where}[{index}]", entry, checks, required) for index, entry in enumerate(value)]


def _wrong(where: str, problem: str) -> ApiError:
    return bad_request(f"Validation error: {where} {problem}")
