"""The operations of `POST /v1/aggregates`: `(aggregate mean (metric cpu mean))`, as a string or as nested lists."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from openstack_emulator.core.errors import bad_request
from openstack_emulator.metric.rules.series import METHODS, Series, combined
from openstack_emulator.metric.rules.validation import invalid

Measured = dict[tuple[str, str], Series]
"""Series by the ID of the metric and the aggregation method, or by the one key of an aggregate."""
Measure = Callable[[str, str], Measured]
"""Returns the series of the metrics with an ID or name, aggregated with a method."""

AGGREGATED = ("aggregated", "")
_DEEPEST = 10
_TOKEN = re.compile(r"[()]|[^\s()]+")
_ARITHMETIC: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_OPERATIONS = frozenset({
    "metric", "aggregate", "rolling", "resample", "rateofchange", "rename", "abs", "absolute", "neg", "negative", "cos",
    "sin", "tan", "floor", "ceil", "clip", "clip_min", "clip_max", "bool", "or", "and", "not", "if", "eq", "ne", "ge",
    "gt", "le", "lt", "%", "^", "**", "//", "==", "!=", ">=", ">", "<=", "<", "add", "sub", "mul", "div", *_ARITHMETIC,
})  # fmt: skip
"""The operations of Gnocchi, of which most are not supported here."""


def parse(text: str) -> object:
    """Return the nested lists that an S-expression describes. Raises ApiError 400."""
    stack: list[list[Any]] = [[]]
    for part in _TOKEN.findall(text):
        if part == "(":
            stack.append([])
        elif part == ")" and len(stack) > 1:
            done = stack.pop()
            stack[-1].append(done)
        elif part == ")":
            raise bad_request("Invalid operations: a closing parenthesis without an opening one.")
        else:
            stack[-1].append(_number(part))
    if len(stack) != 1 or len(stack[0]) != 1:
        raise bad_request(f"Invalid operations: {text!r} is not one expression in parentheses.")
    return stack[0][0]


def _number(token: str) -> object:
    try:
        return float(token)
    except ValueError:
        return token


def evaluate(expression: Any, measure: Measure, depth: int = 0) -> Measured:
    """Return the series that an expression describes. Raises ApiError 400."""
    if not isinstance(expression, list) or not expression or depth > _DEEPEST:
        raise bad_request(f"Invalid operations: {expression!r}")
    name, *arguments = expression
    if not isinstance(name, str):
        raise bad_request(f"Invalid operations: {name!r} is not the name of an operation.")
    if name == "metric":
        return _metric(arguments, measure)
    if name == "aggregate" and len(arguments) == 2 and arguments[0] in tuple(METHODS):
        return {AGGREGATED: combined(list(evaluate(arguments[1], measure, depth + 1).values()), arguments[0])}
    if name in _ARITHMETIC and len(arguments) == 2:
        return _arithmetic(name, arguments, measure, depth)
    if name not in _OPERATIONS:
        raise invalid(f"{name!r} operation invalid for dictionary value", ("operations",))
    raise bad_request(
        f"Operation {name!r} is not supported here with {len(arguments)} arguments. The supported operations are "
        f"metric, aggregate and {', '.join(_ARITHMETIC)}."
    )


def _metric(arguments: list[Any], measure: Measure) -> Measured:
    pairs = arguments if arguments and all(isinstance(argument, list) for argument in arguments) else [arguments]
    found: Measured = {}
    for pair in pairs:
        if len(pair) != 2 or not all(isinstance(part, str) for part in pair):
            raise bad_request("The operation 'metric' needs a metric and an aggregation method.")
        found.update(measure(*pair))
    return found


def _arithmetic(name: str, arguments: list[Any], measure: Measure, depth: int) -> Measured:
    """Calculate with a number and series, period by period. A division by zero has no value."""
    numbers = [isinstance(argument, float | int) for argument in arguments]
    if sum(numbers) != 1:
        raise bad_request(f"The operation {name!r} needs one number and one expression.")
    calculate = _ARITHMETIC[name]
    constant = float(arguments[numbers.index(True)])
    series = evaluate(arguments[numbers.index(False)], measure, depth + 1)

    def apply(value: float) -> float | None:
        pair = (constant, value) if numbers[0] else (value, constant)
        return None if name == "/" and pair[1] == 0 else calculate(*pair)

    return {
        key: {then: found for then, value in measures.items() if (found := apply(value)) is not None}
        for key, measures in series.items()
    }
