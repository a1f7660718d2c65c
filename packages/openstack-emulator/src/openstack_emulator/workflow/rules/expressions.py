"""Expressions of workflows: `<% YAQL %>` and `{{ Jinja }}`, as whole values or inside of strings."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any
from uuid import uuid4

from openstack_emulator.workflow.rules import jinja
from openstack_emulator.workflow.rules.jinja import SECONDS, JinjaError
from stoker_foundation import bounded_yaql
from stoker_foundation.plain_data import plain

ITERATORS, MEMORY = 10_000, 1_000_000
_OPEN, _CLOSE = "<%", "%>"
_MARKS = len(_OPEN + _CLOSE)
_SCOPE = "__scope"


class ExpressionError(Exception):
    """An expression cannot be parsed or evaluated."""


@dataclass(frozen=True)
class Scope:
    """What the functions of expressions read.

    task: the view of a task by its name, or of the task that the expression belongs to.
    """

    env: Mapping[str, object]
    execution: Mapping[str, Any]
    published: Mapping[str, object]
    task: Callable[[str | None], object]
    tasks: Callable[[], list[object]]


def _task(scope: Scope, name: str | None = None) -> object:
    return scope.task(name)


def _global(scope: Scope, name: str | None = None) -> object:
    return scope.published if name is None else scope.published.get(name)


def _pretty(scope: Scope, value: object) -> str:
    return json.dumps(plain(value), indent=4)


_FUNCTIONS: Mapping[str, Callable[..., object]] = {
    "env": lambda scope: scope.env,
    "execution": lambda scope: scope.execution,
    "task": _task,
    "tasks": lambda scope: scope.tasks(),
    "global": _global,
    "uuid": lambda scope: str(uuid4()),
    "json_pp": _pretty,
    "json_parse": lambda scope, value: json.loads(value),
    "json_dump": lambda scope, value: json.dumps(plain(value)),
    "base64_encode": lambda scope, value: base64.b64encode(str(value).encode()).decode(),
    "base64_decode": lambda scope, value: base64.b64decode(str(value)).decode(),
}
"""The functions of Mistral that both languages have."""


def evaluate(value: object, data: Mapping[str, Any], scope: Scope) -> Any:
    """Return a value with its expressions evaluated, at any depth. Raises ExpressionError."""
    if isinstance(value, Mapping):
        return {evaluate(key, data, scope): evaluate(item, data, scope) for key, item in value.items()}
    if isinstance(value, list):
        return [evaluate(item, data, scope) for item in value]
    return _string(value, data, scope) if isinstance(value, str) else value


def check(value: Any) -> None:
    """Check the syntax of all expressions in a value. Raises ExpressionError."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            check(key)
            check(item)
    elif isinstance(value, list):
        for item in value:
            check(item)
    elif isinstance(value, str):
        _check_string(value)


def _check_string(text: str) -> None:
    yaql = [piece for piece in _pieces(text) if isinstance(piece, _Yaql)]
    for piece in yaql:
        if (error := bounded_yaql.syntax_error(piece.expression)) is not None:
            raise ExpressionError(f"Parse error in the YAQL expression [{piece.expression}]: {error}")
    if not yaql and _has_jinja(text) and (error := jinja.syntax_error(text)) is not None:
        raise ExpressionError(f"Parse error in the Jinja expression [{text}]: {error}")


def _string(text: str, data: Mapping[str, object], scope: Scope) -> object:
    whole = text.strip()
    if whole.startswith(_OPEN) and whole.endswith(_CLOSE) and len(whole) >= _MARKS and whole.count(_OPEN) == 1:
        return _yaql(whole[len(_OPEN) : -len(_CLOSE)].strip(), data, scope)
    pieces = list(_pieces(text))
    if any(isinstance(piece, _Yaql) for piece in pieces):
        return "".join(
            _as_text(_yaql(piece.expression, data, scope)) if isinstance(piece, _Yaql) else piece for piece in pieces
        )
    return _jinja(text, data, scope) if _has_jinja(text) else text


@dataclass(frozen=True)
class _Yaql:
    """An expression inside of a string."""

    expression: str


def _pieces(text: str) -> Iterator[str | _Yaql]:
    """Yield the expressions in YAQL and what is between them, in a time that grows with the length only."""
    end = 0
    while (start := text.find(_OPEN, end)) >= 0 and (close := text.find(_CLOSE, start + len(_OPEN))) >= 0:
        yield text[end:start]
        yield _Yaql(text[start + len(_OPEN) : close].strip())
        end = close + len(_CLOSE)
    yield text[end:]


def _has_jinja(text: str) -> bool:
    marks = (("{{", "}}"), ("{%", "%}"))
    return any((start := text.find(first)) >= 0 and text.find(last, start + 2) >= 0 for first, last in marks)


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _yaql(expression: str, data: Mapping[str, object], scope: Scope) -> object:
    limits = {"seconds": SECONDS, "iterators": ITERATORS, "memory": MEMORY}
    try:
        return bounded_yaql.evaluate(expression, data, parent=_functions(), variables={_SCOPE: scope}, **limits)  # type: ignore[arg-type]
    except Exception as error:
        # The library runs the user's expression; any exception is a mistake in it.
        raise _failed("YAQL", expression, error) from error


def _failed(language: str, expression: str, error: Exception) -> ExpressionError:
    problem = "it takes too long" if isinstance(error, TimeoutError) else str(error) or type(error).__name__
    return ExpressionError(f"Can not evaluate {language} expression [expression={expression}, error={problem}]")


@cache
def _functions() -> object:
    return bounded_yaql.extended({name: _in_yaql(function) for name, function in _FUNCTIONS.items()})


def _in_yaql(function: Callable[..., object]) -> Callable[..., object]:
    def call(context: Any, *arguments: object) -> Any:
        return function(context[_SCOPE], *arguments)

    return call


def _jinja(text: str, data: Mapping[str, object], scope: Scope) -> object:
    try:
        return jinja.evaluate(text, plain(data), {name: partial(call, scope) for name, call in _FUNCTIONS.items()})
    except (JinjaError, TimeoutError, ValueError) as error:
        raise _failed("Jinja", text, error) from error
