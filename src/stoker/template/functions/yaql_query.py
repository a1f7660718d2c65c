"""yaql: an expression in the YAQL language over some data, with limits on its cost."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import islice
from typing import Any, cast

import yaql
from yaql.language import contexts, specs, utils, yaqltypes
from yaql.language.exceptions import YaqlException

from stoker.base.budget import Budget, measured
from stoker.base.errors import BudgetExceeded
from stoker.base.patterns import Match, Pattern, compiled
from stoker.base.processor_time import processor_time
from stoker.base.recent import Recent
from stoker.template.expressions import Evaluation, Expression, entries_of
from stoker.template.functions.base import Function, is_map, variant
from stoker.template.limits import Limits

_KEYS = frozenset({"expression", "data"})
_COPIES = 2
"""How many copies of the data are charged: the library's immutable copy, and the result."""

_MOST_CHARACTERS = 20_000
_MOST_BITS = 100_000
_MOST_ITEMS = 10_000


@variant("yaql/1")
class Yaql(Function):
    """The value of a YAQL expression; takes a map with `expression` (a string) and `data`, which is `$.data` in it."""

    __slots__ = ()

    def complaint(self, arguments: Any) -> str | None:
        entries = entries_of(arguments)
        if entries is None or "expression" not in entries or not set(entries) <= _KEYS:
            return "takes a map with expression (a string) and, optionally, data"
        expression = entries["expression"]
        if isinstance(expression, Expression):
            return None
        return _syntax_error(expression)

    def apply(self, arguments: Any, evaluation: Evaluation) -> Any:
        if not is_map(arguments):
            raise self.wrong_type("takes a map with expression and data")
        expression = arguments["expression"]
        error = _syntax_error(expression)
        if error:
            raise self.wrong(error)
        data = arguments.get("data", {})
        limits = evaluation.binding.limits
        try:
            return _run(expression, data, evaluation)
        except BudgetExceeded:
            raise
        except (TimeoutError, RecursionError, MemoryError) as failure:
            reason = f"more than {limits.yaql_seconds} s, or too much memory"
            raise self.wrong(f"the expression takes {reason}") from failure
        except KeyError as failure:
            raise self.wrong(f"the data has no key {failure}", "KeyError") from failure
        except Exception as failure:
            # The library runs the user's expression; any exception is a mistake in it.
            raise self.wrong(str(failure) or type(failure).__name__, type(failure).__name__) from failure


def _syntax_error(expression: Any) -> str | None:
    if not isinstance(expression, str):
        return "the expression must be a string"
    if len(expression) > _MOST_CHARACTERS:
        return f"the expression has {len(expression)} characters; at most {_MOST_CHARACTERS} are allowed"
    try:
        _parsed(expression, Limits())
    except (YaqlException, RecursionError) as error:
        return f"not a YAQL expression: {error}"
    return None


@lru_cache(maxsize=8)
def _engine(iterators: int, memory: int) -> Any:
    options = {
        "yaql.limitIterators": iterators,
        "yaql.memoryQuota": memory,
        "yaql.convertTuplesToLists": True,
        "yaql.convertSetsToLists": False,
    }
    return yaql.YaqlFactory().create(options)


def _parsed(expression: str, limits: Limits) -> Any:
    iterators, memory = limits.yaql_limit_iterators, limits.yaql_memory_quota
    key = (expression, iterators, memory)
    return _PARSED.get(key, lambda: (expression, _engine(iterators, memory)(expression)))[1]


_PARSED: Recent[tuple[str, Any]] = Recent(128, lambda pair: len(pair[0]), most=64 * 1024)
"""Expressions with what they parse to, which takes up to 200 bytes for each of their characters."""


def _run(expression: str, data: Any, evaluation: Evaluation) -> Any:
    limits, budget = evaluation.binding.limits, evaluation.budget
    budget.charge(made=_COPIES * measured(data, budget))
    context = _Bounded(_context())
    context.budget = budget
    context.deadline = processor_time() + limits.yaql_seconds
    return _plain(_parsed(expression, limits).evaluate(data={"data": data}, context=context))


def _plain(value: Any) -> Any:
    """Return a result as JSON data. Sets are sorted, so that an expression gives the same list in every process."""
    if isinstance(value, dict):
        return {key if isinstance(key, str) else json.dumps(_plain(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(_plain, value), key=lambda item: json.dumps(item, sort_keys=True))
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise ValueError(f"the result is a {type(value).__name__}, which a template cannot contain")


class _Bounded(contexts.Context):  # type: ignore[misc]
    """A context in which every call checks the thread's processor time first, and every iterator has a limit."""

    def __init__(self, parent_context: Any = None, data: Any = utils.NO_VALUE, convention: Any = None) -> None:
        super().__init__(parent_context, data, convention)
        self.deadline: float = getattr(parent_context, "deadline", float("inf"))
        self.budget: Budget | None = getattr(parent_context, "budget", None)

    def __call__(self, name: str, engine: Any, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        if processor_time() > self.deadline:
            raise TimeoutError
        if self.budget is not None:
            self.budget.charge()
        call = super().__call__(name, engine, *args, **kwargs)

        def bounded(*arguments: Any, **options: Any) -> Any:
            result = call(*arguments, **options)
            return utils.limit_iterable(result, engine) if isinstance(result, Iterator) else result

        return bounded


class _Pattern:
    """A pattern for the library's functions. Its `__class__` is `re.Pattern`, which their declarations require."""

    __class__ = re.Pattern  # type: ignore[assignment]

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern

    def search(self, text: str) -> Match | None:
        return self._pattern.first(text)

    def finditer(self, text: str) -> Iterator[Match]:
        return iter(self._pattern.matches(text))

    def split(self, text: str, most: int = 0) -> list[str | None]:
        pieces: list[str | None] = []
        end = 0
        for match in self._some(text, most):
            pieces += (text[end : match.start()], *match.groups())
            end = match.end()
        return [*pieces, text[end:]]

    def sub(self, replacement: str | Callable[[Match], str], text: str, count: int = 0) -> str:
        if isinstance(replacement, str):
            return self._pattern.replaced(text, replacement, count)
        pieces: list[str] = []
        end = 0
        for match in self._some(text, count):
            pieces += (text[end : match.start()], replacement(match))
            end = match.end()
        return "".join([*pieces, text[end:]])

    def _some(self, text: str, count: int) -> Iterator[Match]:
        return islice(self.finditer(text), count or None) if count >= 0 else iter(())


def _regex(pattern: str, ignore_case: bool = False, multi_line: bool = False, dot_all: bool = False) -> _Pattern:
    return _Pattern(compiled(pattern, ignore_case=ignore_case, multi_line=multi_line, dot_all=dot_all))


def _matches(string: str, regexp: str) -> bool:
    return compiled(regexp).found_in(string)


def _equals_pattern(string: str, pattern: str) -> bool:
    return compiled(pattern).found_in(string)


def _differs_from_pattern(string: str, pattern: str) -> bool:
    return not compiled(pattern).found_in(string)


def _power(a: Any, b: Any, c: Any = None) -> Any:
    if isinstance(a, int) and isinstance(b, int) and a.bit_length() * abs(b) > _MOST_BITS and c is None:
        raise ValueError("the power is too large")
    return pow(a, b, c)


def _shift_bits_left(value: int, bits_number: int) -> int:
    if bits_number > _MOST_BITS:
        raise ValueError("the number is too large")
    return value << bits_number


def _times(left: Any, right: int) -> Any:
    if len(left) * right > _MOST_ITEMS:
        raise ValueError("the list is too long")
    return left * right


def _times_reversed(left: int, right: Any) -> Any:
    return _times(right, left)


def _declared(name: str, function: Callable[..., Any], **types: Any) -> Callable[..., Any]:
    for parameter, kind in types.items():
        function = specs.parameter(parameter, kind)(function)
    return cast(Callable[..., Any], specs.name(name)(function))


_TEXT = yaqltypes.String()
_NUMBER = yaqltypes.Number()
_LIST = yaqltypes.Sequence()
_OVERRIDES = (
    _declared("#operator_*", _times, left=_LIST, right=int),
    _declared("#operator_*", _times_reversed, left=int, right=_LIST),
    _declared("pow", _power, a=_NUMBER, b=_NUMBER, c=yaqltypes.Number(nullable=True)),
    _declared("shiftBitsLeft", _shift_bits_left, value=int, bits_number=int),
    _declared("regex", _regex, pattern=_TEXT),
    specs.method(_declared("matches", _matches, string=_TEXT, regexp=_TEXT)),
    _declared("#operator_=~", _equals_pattern, string=_TEXT, pattern=_TEXT),
    _declared("#operator_!~", _differs_from_pattern, string=_TEXT, pattern=_TEXT),
)
"""Replacements for the library's functions that have no limit on time or size."""


@cache
def _context() -> Any:
    context = yaql.create_context(convention=yaql.language.conventions.CamelCaseConvention()).create_child_context()
    for function in _OVERRIDES:
        context.register_function(function)
    return context
