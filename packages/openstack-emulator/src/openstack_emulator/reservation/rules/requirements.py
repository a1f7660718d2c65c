"""Requirements on hosts, as leases state them: `["and", [">=", "$vcpus", "4"], ["==", "$gpu", "True"]]` in JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from openstack_emulator.core.errors import bad_request, not_found

Matches = Callable[[Mapping[str, object]], bool]

_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": lambda have, expected: have == expected,
    "=": lambda have, expected: have == expected,
    "!=": lambda have, expected: have != expected,
    "<": lambda have, expected: have < expected,
    "<=": lambda have, expected: have <= expected,
    ">": lambda have, expected: have > expected,
    ">=": lambda have, expected: have >= expected,
}


def requirement(expression: Any, known: Callable[[str], bool]) -> Matches:
    """Return the condition that a string of JSON states; an empty one always holds.

    known: whether any host has a field.

    Raises: ApiError 400 for another form, 404 for a field that no host has.
    """
    if expression in (None, ""):
        return lambda host: True
    try:
        parsed = json.loads(expression)
    except (TypeError, ValueError):
        raise _malformed(expression) from None
    return _condition(parsed, expression, known) if parsed else lambda host: True


def _condition(parsed: object, expression: object, known: Callable[[str], bool]) -> Matches:
    if not isinstance(parsed, list) or len(parsed) < 2 or not isinstance(parsed[0], str):
        raise _malformed(expression)
    if parsed[0] == "and":
        parts = [_comparison(part, expression, known) for part in parsed[1:]]
        return lambda host: all(part(host) for part in parts)
    return _comparison(parsed, expression, known)


def _comparison(parsed: object, expression: object, known: Callable[[str], bool]) -> Matches:
    if not isinstance(parsed, list) or len(parsed) != 3 or not all(isinstance(part, str) for part in parsed):
        raise _malformed(expression)
    operator, field, expected = parsed
    if operator not in _OPERATORS or not field.startswith("$"):
        raise _malformed(expression)
    name, compare = field[1:], _OPERATORS[operator]
    if not known(name):
        raise not_found(f"No host has the property {name}.")
    return lambda host: name in host and compare(*_comparable(host[name], expected))


def _comparable(have: Any, requested: str) -> tuple[Any, Any]:
    """Return both values as numbers if both are, otherwise as strings."""
    try:
        return float(have), float(requested)
    except (TypeError, ValueError):
        return str(have), requested


def _malformed(expression: object) -> Exception:
    return bad_request(f"Malformed requirements {expression}")
