"""Evaluation of YAQL expressions with limits on processor time, memory and the length of iterators."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import islice
from typing import Any, cast

import yaql
from yaql.language import contexts, specs, utils, yaqltypes
from yaql.language.exceptions import YaqlException

from stoker_foundation.patterns import Match, Pattern, compiled
from stoker_foundation.plain_data import plain
from stoker_foundation.processor_time import processor_time
from stoker_foundation.recent import Recent
from stoker_foundation.weights import MOST, Weights

MOST_CHARACTERS = 20_000
"""Characters of an expression."""
ITERATORS, MEMORY = 200, 10_000
"""The default limits, those of Heat: items of an iterator, and bytes of an intermediate value."""
_MOST_BITS = 100_000
_MOST_ITEMS = 10_000


def syntax_error(expression: str) -> str | None:
    """Return what is wrong with an expression; None if it can be evaluated."""
    if len(expression) > MOST_CHARACTERS:
        return f"the expression has {len(expression)} characters; at most {MOST_CHARACTERS} are allowed"
    try:
        _compiled(expression, ITERATORS, MEMORY)
    except (YaqlException, RecursionError) as error:
        return f"not a YAQL expression: {error}"
    return None


def evaluate(
    expression: str,
    data: Any,
    *,
    seconds: float,
    iterators: int = ITERATORS,
    memory: int = MEMORY,
    charge: Callable[[], None] | None = None,
    parent: Any = None,
    variables: Mapping[str, Any] | None = None,
) -> Any:
    """Return the value of an expression over `data`, as JSON data.

    seconds: of processor time. charge: is called before every call of a function. parent: a context with further
    functions, see `extended`. variables: values that those functions find in the `context` that they are called with.
    Raises: TimeoutError, RecursionError, MemoryError, what `charge` raises, and any other exception for a mistake in
    the expression, which the library runs.
    """
    context = _Bounded(parent or _context())
    context.charge = charge
    context.deadline = processor_time() + seconds
    for name, value in (variables or {}).items():
        context[name] = value
    return plain(_compiled(expression, iterators, memory).evaluate(data=data, context=context))


def extended(functions: Mapping[str, Callable[..., object]]) -> Any:
    """Return a context with further functions, by name; one with a parameter `context` gets the evaluation's."""
    context = _context().create_child_context()
    for name, function in functions.items():
        context.register_function(function, name=name)
    return context


@lru_cache(maxsize=8)
def _engine(iterators: int, memory: int) -> Any:
    options = {
        "yaql.limitIterators": iterators,
        "yaql.memoryQuota": memory,
        "yaql.convertTuplesToLists": True,
        "yaql.convertSetsToLists": False,
    }
    return yaql.YaqlFactory().create(options)


def _compiled(expression: str, iterators: int, memory: int) -> Any:
    key = (expression, iterators, memory)
    return _PARSED.get(key, lambda: (expression, _engine(iterators, memory)(expression)))[1]


_PARSED: Recent[tuple[str, Any]] = Recent(128, lambda pair: len(pair[0]), most=64 * 1024)
"""Expressions with what they parse to, which takes up to 200 bytes for each of their characters."""


class _Bounded(contexts.Context):  # type: ignore[misc]
    """A context in which every call checks the thread's processor time first; values and iterators have limits."""

    def __init__(self, parent_context: object = None, data: Any = utils.NO_VALUE, convention: object = None) -> None:
        super().__init__(parent_context, data, convention)
        self.deadline: float = getattr(parent_context, "deadline", float("inf"))
        self.charge: Callable[[], None] | None = getattr(parent_context, "charge", None)
        self.weights: Weights = getattr(parent_context, "weights", None) or Weights()

    def __call__(self, name: str, engine: object, *args: object, **kwargs: object) -> Callable[..., object]:
        if processor_time() > self.deadline:
            raise TimeoutError
        if self.charge is not None:
            self.charge()
        call = super().__call__(name, engine, *args, **kwargs)

        def bounded(*arguments: object, **options: object) -> object:
            result = call(*arguments, **options)
            if isinstance(result, Iterator):
                return utils.limit_iterable(self.weights.bounded_items(result), engine)
            return self.weights.bounded(result)

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
        end = length = 0
        for match in self._some(text, count):
            pieces += (text[end : match.start()], replacement(match))
            end = match.end()
            length += len(pieces[-1])
            if length > MOST:
                raise MemoryError
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


def _power(a: Any, b: Any, c: Any = None) -> object:
    if isinstance(a, int) and isinstance(b, int) and a.bit_length() * abs(b) > _MOST_BITS and c is None:
        raise ValueError("the power is too large")
    return pow(a, b, c)


def _shift_bits_left(value: int, bits_number: int) -> int:
    if bits_number > _MOST_BITS:
        raise ValueError("the number is too large")
    return value << bits_number


def _as_string(parameter: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Pass the language's own conversion to strings to a function."""
    return cast(Callable[..., Any], specs.inject(parameter, yaqltypes.Delegate("str", method=False)))


def _replace(string: str, old: str, new: str, count: int = -1) -> str:
    times = string.count(old) if count < 0 else min(count, string.count(old))
    if len(string) + times * len(new) > MOST:
        raise MemoryError
    return string.replace(old, new, count)


@_as_string("str_func")
def _replace_all(
    string: str, str_func: Callable[[object], str], replacements: Mapping[object, object], count: int = -1
) -> str:
    for old, new in replacements.items():
        string = _replace(string, str_func(old), str_func(new), count)
    return string


@_as_string("str_delegate")
def _join(sequence: Iterable[object], separator: str, str_delegate: Callable[[object], str]) -> str:
    pieces: list[str] = []
    length = 0
    for item in sequence:
        pieces.append(str_delegate(item))
        length += len(pieces[-1]) + len(separator)
        if length > MOST:
            raise MemoryError
    return separator.join(pieces)


@_as_string("str_delegate")
def _join_reversed(separator: str, sequence: Iterable[object], str_delegate: Callable[[object], str]) -> str:
    joined: str = _join(sequence, separator, str_delegate)
    return joined


def _times(left: Any, right: int) -> object:
    if len(left) * right > _MOST_ITEMS:
        raise ValueError("the list is too long")
    return left * right


def _times_reversed(left: int, right: object) -> object:
    return _times(right, left)


def _declared(name: str, function: Callable[..., Any], **types: Any) -> Callable[..., object]:
    for parameter, kind in types.items():
        function = specs.parameter(parameter, kind)(function)
    return cast(Callable[..., Any], specs.name(name)(function))


_TEXT = yaqltypes.String()
_NUMBER = yaqltypes.Number()
_LIST = yaqltypes.Sequence()
_ITEMS = yaqltypes.Iterable()
_MAP = utils.MappingType
_OVERRIDES = (
    _declared("#operator_*", _times, left=_LIST, right=int),
    _declared("#operator_*", _times_reversed, left=int, right=_LIST),
    _declared("pow", _power, a=_NUMBER, b=_NUMBER, c=yaqltypes.Number(nullable=True)),
    _declared("shiftBitsLeft", _shift_bits_left, value=int, bits_number=int),
    _declared("regex", _regex, pattern=_TEXT),
    specs.method(_declared("replace", _replace, string=_TEXT, old=_TEXT, new=_TEXT, count=int)),
    specs.method(_declared("replace", _replace_all, string=_TEXT, replacements=_MAP, count=int)),
    specs.method(_declared("join", _join, sequence=_ITEMS, separator=_TEXT)),
    specs.method(_declared("join", _join_reversed, separator=_TEXT, sequence=_ITEMS)),
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
