"""The values that the declaration of a parameter allows, for tests that try some of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from stoker.base.errors import StokerError
from stoker.schema.constraints import AllowedPattern, AllowedValues, Constraint, Length, Modulo, Range
from stoker.template.parameter import ParameterSchema

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_Kind = TypeVar("_Kind", bound=Constraint)
_SPAN = 1000
"""How far numbers without a bound go, from zero or from their other bound."""
_MOST_CHARACTERS = 40
_MOST_ITEMS = 5
"""Lengths of strings and lists without an upper bound, more than their lower bound."""


class NoValue(StokerError):
    """No value was found that matches a pattern, or that a declaration allows."""


def allowed_by(declaration: ParameterSchema) -> SearchStrategy[object]:
    """Return the values that a declaration allows, as they are given to a stack.

    Raises NoValue for a type without a limit to its values, and where a service decides which are allowed.
    """
    custom = [constraint.name for constraint, _ in declaration.custom_constraints([""])]
    if custom:
        message = f"what {custom[0]} allows, the cloud decides; give a list of values"
        raise NoValue(f"the values of {declaration.name} are not known: {message}")
    make = _BY_TYPE.get(declaration.type.hot)
    if make is None:
        message = f"its type is {declaration.type.hot}; give a list of values"
        raise NoValue(f"the values of {declaration.name} are not known: {message}")
    return make(declaration).filter(lambda value: _is_allowed(declaration, value))


def _is_allowed(declaration: ParameterSchema, value: object) -> bool:
    try:
        converted = declaration.convert(value)
    except ValueError:
        return False
    return next(declaration.violations(converted), None) is None


def _first(declaration: ParameterSchema, kind: type[_Kind]) -> _Kind | None:
    return next((constraint for constraint in declaration.constraints if isinstance(constraint, kind)), None)


def _strings(declaration: ParameterSchema) -> SearchStrategy[object]:
    from hypothesis import strategies

    listed, pattern = _first(declaration, AllowedValues), _first(declaration, AllowedPattern)
    if listed is not None:
        return strategies.sampled_from(listed.values)
    if pattern is not None:
        return strategies.from_regex(pattern.pattern, fullmatch=True)
    return _text(*_lengths(declaration, _MOST_CHARACTERS))


def _numbers(declaration: ParameterSchema) -> SearchStrategy[Any]:
    from hypothesis import strategies

    listed, modulo = _first(declaration, AllowedValues), _first(declaration, Modulo)
    if listed is not None:
        return strategies.sampled_from(listed.values)
    lowest, highest = _bounds(_first(declaration, Range) or Range())
    if modulo is None:
        return strategies.integers(lowest, highest) if lowest <= highest else strategies.nothing()
    step, offset = abs(modulo.step), modulo.offset % abs(modulo.step)
    first, last = -((offset - lowest) // step), (highest - offset) // step
    multiples = strategies.integers(first, last) if first <= last else strategies.nothing()
    return multiples.map(lambda number: number * step + offset)


def _bounds(allowed: Range) -> tuple[int, int]:
    """Return the lowest and the highest whole number of a range."""
    if allowed.min is None:
        highest = _SPAN if allowed.max is None else int(allowed.max // 1)
        return min(highest, 0) - _SPAN, highest
    lowest = -int(-allowed.min // 1)
    return lowest, max(lowest, 0) + _SPAN if allowed.max is None else int(allowed.max // 1)


def _lists(declaration: ParameterSchema) -> SearchStrategy[object]:
    from hypothesis import strategies

    listed, pattern = _first(declaration, AllowedValues), _first(declaration, AllowedPattern)
    shortest, longest = _lengths(declaration, _MOST_ITEMS)
    if listed is not None:
        items: SearchStrategy[object] = strategies.sampled_from(listed.values)
    elif pattern is not None:
        items = strategies.from_regex(pattern.pattern, fullmatch=True)
    else:
        items = _text(1, _MOST_CHARACTERS)
    plain = items.filter(lambda item: "," not in str(item))
    return strategies.lists(plain, min_size=shortest, max_size=longest)


def _lengths(declaration: ParameterSchema, most: int) -> tuple[int, int]:
    length = _first(declaration, Length) or Length()
    shortest = length.min or 0
    return shortest, shortest + most if length.max is None else length.max


def _text(shortest: int, longest: int) -> SearchStrategy[str]:
    from hypothesis import strategies

    printable = strategies.characters(
        exclude_categories=("C", "Zl", "Zp")
    )  # neither control characters nor ends of lines
    return strategies.text(printable, min_size=shortest, max_size=longest)


def _booleans(declaration: ParameterSchema) -> SearchStrategy[object]:
    from hypothesis import strategies

    return strategies.booleans()


_BY_TYPE: Mapping[str, Callable[[ParameterSchema], SearchStrategy[object]]] = {
    "string": _strings,
    "number": _numbers,
    "boolean": _booleans,
    "comma_delimited_list": _lists,
}
