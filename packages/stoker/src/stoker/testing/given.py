"""The values that tests give to parameters: those of a list or a range, and strings that match a pattern."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any, overload
from zlib import crc32

from stoker.authoring.test_files.declarations import ALLOWED
from stoker.base.extras import require_parts
from stoker.template.parameter import ParameterSchema
from stoker.testing.allowed_values import NoValue, allowed_by

if TYPE_CHECKING:
    from hypothesis import Phase
    from hypothesis.strategies import SearchStrategy

Combination = Mapping[str, Any]
"""A value for each parameter."""


@dataclass(frozen=True, slots=True)
class Range(Sequence[Any]):
    """Numbers from `first` in steps, `length` of them: in decimals, so that tenths are tenths."""

    first: Decimal
    step: Decimal
    length: int

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, index: int) -> int | float: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[int | float]: ...

    def __getitem__(self, index: int | slice) -> object:
        places = range(self.length)[index]
        return self._value(places) if isinstance(places, int) else [self._value(place) for place in places]

    def _value(self, place: int) -> int | float:
        value = self.first + place * self.step
        return int(value) if value == value.to_integral_value() else float(value)


@dataclass(frozen=True, slots=True)
class Pattern:
    """All strings that a regular expression of Python matches as a whole."""

    expression: str


@dataclass(frozen=True, slots=True)
class Allowed:
    """All values that the declaration of a parameter allows; None until the template has been read."""

    declaration: ParameterSchema | None = None


Domain = Sequence[Any] | Pattern | Allowed
"""The values that a parameter may have; only some of those of a pattern or a declaration can be tried."""


def domain_of(given: Any) -> Domain:
    """Return the values of a declaration. Raises ValueError for a range that never ends, and for an invalid pattern."""
    if isinstance(given, list):
        return given
    if given == ALLOWED:
        return Allowed()
    if "matching" in given:
        try:
            re.compile(given["matching"])
        except (re.error, RecursionError, OverflowError) as error:
            raise ValueError(f"it is not a regular expression: {error}") from error
        return Pattern(given["matching"])
    first, last, step = (Decimal(str(value)) for value in (given["from"], given["to"], given.get("step", 1)))
    if not step or (last - first) / step < 0:
        raise ValueError("the step of a range must lead from its first value to its last")
    return Range(first, step, int((last - first) / step) + 1)


def simplest(
    domains: Mapping[str, Domain], examples: int, name: str, fails: Callable[[Combination], bool]
) -> Combination | None:
    """Return the simplest combination of values for which `fails` is true; None if none is found in `examples` tries.

    The same `name` chooses the same combinations each time. When one fails, simpler ones are tried: lower places of
    lists and ranges, shorter strings. Raises NoValue, and PartMissing without Hypothesis.
    """
    require_parts("stoker test", ["testing"])
    import hypothesis
    from hypothesis import errors, strategies

    failed: list[Combination] = []

    def fails_with(combination: Combination) -> bool:
        if fails(combination):
            failed.append(combination)
            return True
        return False

    drawn = strategies.fixed_dictionaries({name: _strategy(domain) for name, domain in domains.items()})
    settings = hypothesis.settings(max_examples=examples, database=None, deadline=None, phases=_phases())
    try:
        return hypothesis.find(drawn, fails_with, settings=settings, random=Random(crc32(name.encode())))
    except errors.NoSuchExample:
        return None
    except errors.Flaky:  # the simplest has not failed each time; the last one that has is still a failure
        return failed[-1]
    except errors.Unsatisfiable as error:
        raise NoValue("no value was found that matches the pattern, or that the template allows") from error


def _phases() -> list[Phase]:
    """Return all phases but the explanation of failures, which nobody reads here: it would trace every line."""
    from hypothesis import Phase

    return [phase for phase in Phase if phase is not Phase.explain]


def _strategy(domain: Domain) -> SearchStrategy[object]:
    from hypothesis import strategies

    if isinstance(domain, Allowed):
        return strategies.nothing() if domain.declaration is None else allowed_by(domain.declaration)
    if isinstance(domain, Pattern):
        return strategies.from_regex(domain.expression, fullmatch=True)
    return strategies.integers(0, len(domain) - 1).map(domain.__getitem__)
