"""Expressions that select records, as Aodh's and Gnocchi's search requests have them.

`{"and": [{"=": {"state": "alarm"}}, {"not": {"like": {"name": "web%"}}}]}`
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.store import R
from stoker_foundation.patterns import PatternTooCostly
from stoker_foundation.patterns.linear import fits_like

_DEEPEST = 20
_ORDERED: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda have, expected: have < expected,
    "<=": lambda have, expected: have <= expected,
    ">": lambda have, expected: have > expected,
    ">=": lambda have, expected: have >= expected,
}
_NAMES = {"eq": "=", "==": "=", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
OPERATORS = frozenset({"=", "!=", "like", "in", *_ORDERED, *_NAMES})
"""The operators that compare a field."""
_JOINED = {"and": all, "or": any}


def compare(operator: str, have: object, expected: object) -> bool:
    """Compare two values; those of types without an order are in no order. ApiError 400 for an unknown operator."""
    operator = _NAMES.get(operator, operator)
    if operator in ("=", "!="):
        equal = have == expected or (have is not None and expected is not None and _text(have) == _text(expected))
        return equal == (operator == "=")
    if operator == "like":
        try:
            return fits_like(str(expected), str(have))
        except PatternTooCostly:
            raise bad_request("The pattern of 'like' is too long.") from None
    if operator not in _ORDERED:
        raise bad_request(f"Unknown operator {operator!r}.")
    try:
        return _ORDERED[operator](have, expected)
    except TypeError:
        return False


def predicate(expression: object, read: Callable[[R, str], object], depth: int = 0) -> Callable[[R], bool]:
    """Return the function that an expression describes. Raises ApiError 400 for an invalid expression.

    read: returns the value of a record's field. It raises ApiError 400 for a field that records do not have.
    """
    if expression in (None, {}):
        return lambda record: True
    if not isinstance(expression, Mapping) or len(expression) != 1 or depth > _DEEPEST:
        raise bad_request(f"Invalid search expression: {expression!r}. An expression is an object with one operator.")
    ((operator, argument),) = expression.items()
    if operator in _JOINED:
        if not isinstance(argument, list) or not argument:
            raise bad_request(f"The operator {operator!r} needs a list of expressions.")
        parts = [predicate(part, read, depth + 1) for part in argument]
        join = _JOINED[operator]
        return lambda record: join(part(record) for part in parts)
    if operator == "not":
        inner = predicate(argument, read, depth + 1)
        return lambda record: not inner(record)
    if not isinstance(argument, Mapping) or len(argument) != 1:
        raise bad_request(f"The operator {operator!r} needs an object with one field.")
    ((field, operand),) = argument.items()
    if operator == "in":
        if not isinstance(operand, list):
            raise bad_request("The operator 'in' needs a list of values.")
        return lambda record: any(compare("=", read(record, field), choice) for choice in operand)
    compare(operator, None, None)
    return lambda record: compare(operator, read(record, field), operand)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
