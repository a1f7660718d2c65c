"""Expressions of workflows: `<% YAQL %>` and `{{ Jinja }}`, as whole values or inside of strings."""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any
from uuid import uuid4

from jinja2 import TemplateError, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from stoker.base import bounded_yaql
from stoker.base.processor_time import processor_time

SECONDS = 0.5
"""Processor time of one expression."""
ITERATORS, MEMORY = 10_000, 1_000_000
_YAQL = re.compile(r"<%\s*(.*?)\s*%>", re.DOTALL)
_JINJA = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
_JINJA_ALONE = re.compile(r"\s*\{\{((?:(?!\}\}).)*)\}\}\s*\Z", re.DOTALL)
_LARGEST = 100_000
"""Characters or items of a product."""
_SCOPE = "__scope"


class ExpressionError(Exception):
    """An expression cannot be parsed or evaluated."""


@dataclass(frozen=True)
class Scope:
    """What the functions of expressions read.

    task: the view of a task by its name, or of the task that the expression belongs to.
    """

    env: Mapping[str, Any]
    execution: Mapping[str, Any]
    published: Mapping[str, Any]
    task: Callable[[str | None], Any]
    tasks: Callable[[], list[Any]]


def _task(scope: Scope, name: str | None = None) -> Any:
    return scope.task(name)


def _global(scope: Scope, name: str | None = None) -> Any:
    return scope.published if name is None else scope.published.get(name)


def _pretty(scope: Scope, value: Any) -> str:
    return json.dumps(bounded_yaql.plain(value), indent=4)


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "env": lambda scope: scope.env,
    "execution": lambda scope: scope.execution,
    "task": _task,
    "tasks": lambda scope: scope.tasks(),
    "global": _global,
    "uuid": lambda scope: str(uuid4()),
    "json_pp": _pretty,
    "json_parse": lambda scope, value: json.loads(value),
    "json_dump": lambda scope, value: json.dumps(bounded_yaql.plain(value)),
    "base64_encode": lambda scope, value: base64.b64encode(str(value).encode()).decode(),
    "base64_decode": lambda scope, value: base64.b64decode(str(value)).decode(),
}
"""The functions of Mistral that both languages have."""


def evaluate(value: Any, data: Mapping[str, Any], scope: Scope) -> Any:
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
    for found in _YAQL.finditer(text):
        if (error := bounded_yaql.syntax_error(found[1])) is not None:
            raise ExpressionError(f"Parse error in the YAQL expression [{found[1]}]: {error}")
    if _JINJA.search(text) and not _YAQL.search(text):
        try:
            _environment().parse(text)
        except TemplateError as error:
            raise ExpressionError(f"Parse error in the Jinja expression [{text}]: {error}") from None


def _string(text: str, data: Mapping[str, Any], scope: Scope) -> Any:
    whole = _YAQL.fullmatch(text.strip())
    if whole is not None and "<%" not in whole[1]:
        return _yaql(whole[1], data, scope)
    if _YAQL.search(text):
        return _YAQL.sub(lambda found: _as_text(_yaql(found[1], data, scope)), text)
    return _jinja(text, data, scope) if _JINJA.search(text) else text


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _yaql(expression: str, data: Mapping[str, Any], scope: Scope) -> Any:
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
def _functions() -> Any:
    return bounded_yaql.extended({name: _in_yaql(function) for name, function in _FUNCTIONS.items()})


def _in_yaql(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(context: Any, *arguments: Any) -> Any:
        return function(context[_SCOPE], *arguments)

    return call


# -- Jinja ----------------------------------------------------------------------------------------------------------


class _Deadline(threading.local):
    at = float("inf")


_deadline = _Deadline()


class _Environment(ImmutableSandboxedEnvironment):
    """A sandbox in which calls, look-ups and products end an evaluation that takes too long or gets too large."""

    intercepted_binops = frozenset({"*", "**", "%"})

    def call(self, *arguments: Any, **options: Any) -> Any:
        _in_time()
        return super().call(*arguments, **options)

    def getattr(self, obj: Any, attribute: str) -> Any:
        _in_time()
        return obj[attribute] if isinstance(obj, Mapping) and attribute in obj else super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        _in_time()
        return super().getitem(obj, argument)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        sized = [len(one) for one in (left, right) if isinstance(one, str | list | tuple)]
        times = [one for one in (left, right) if isinstance(one, int)]
        if operator == "%" and isinstance(left, str):
            raise ValueError("strings are not formatted with %")
        if operator == "*" and sized and times and sized[0] * times[0] > _LARGEST:
            raise ValueError("the product is too large")
        if operator == "**" and (abs(right) > 1000 or abs(left) > _LARGEST):
            raise ValueError("the power is too large")
        return super().call_binop(context, operator, left, right)


def _in_time() -> None:
    if processor_time() > _deadline.at:
        raise TimeoutError


@cache
def _environment() -> _Environment:
    return _Environment()


@lru_cache(maxsize=128)
def _compiled(text: str) -> Callable[..., Any]:
    alone = _JINJA_ALONE.match(text)
    if alone is not None:
        return _environment().compile_expression(alone[1], undefined_to_none=False)
    return _environment().from_string(text).render


def _jinja(text: str, data: Mapping[str, Any], scope: Scope) -> Any:
    def bound(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments: function(scope, *arguments)

    _deadline.at = processor_time() + SECONDS
    try:
        result = _compiled(text)({"_": data, **{name: bound(function) for name, function in _FUNCTIONS.items()}})
        if isinstance(result, Undefined):
            raise ValueError("the value is undefined")
        return bounded_yaql.plain(result)
    except Exception as error:
        # The library runs the user's expression; any exception is a mistake in it.
        raise _failed("Jinja", text, error) from error
    finally:
        _deadline.at = float("inf")
