"""Constraints on values: range, length, modulo, allowed values, pattern, and checks by plug-ins.

The rules are those of parameter constraints in the HOT specification. A constraint's own description precedes the
message that is generated here, which has the value that was given.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeGuard

from stoker.base.similar import Suggestion, closest
from stoker_foundation.patterns import PatternError, PatternTooCostly, compiled


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint(ABC):
    """One rule for a value. `problem` returns an error message, or None when the value satisfies it."""

    description: str = ""
    asks_others: ClassVar[bool] = False
    """Whether the result depends on more than the value."""

    def problem(self, value: object) -> str | None:
        """Return what is wrong with `value` (already of its declared type); None when it is valid."""
        broken = self._problem(value)
        return described(self.description, broken) if broken else None

    def hint(self, value: object) -> str:
        """Return what to write instead of an invalid value; an empty string if nothing comes close."""
        return ""

    @abstractmethod
    def _problem(self, value: Any) -> str | None: ...

    @abstractmethod
    def to_schema(self) -> dict[str, object]:
        """Return the constraint in the Orchestration API's format."""

    def _described(self, body: dict[str, object]) -> dict[str, object]:
        return {**body, "description": self.description} if self.description else body


def described(description: str, broken: str) -> str:
    """Return the message `broken` about a value behind the constraint's own description, if it has one."""
    return f"{description} ({broken})" if description else broken


def _bounds(minimum: float | None, maximum: float | None) -> dict[str, object]:
    return {key: bound for key, bound in (("min", minimum), ("max", maximum)) if bound is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Range(Constraint):
    """A number between two inclusive bounds, each of which is optional."""

    min: float | None = None
    max: float | None = None

    def _problem(self, value: Any) -> str | None:
        if self.min is not None and value < self.min:
            return f"{value} is less than {self.min}"
        if self.max is not None and value > self.max:
            return f"{value} is more than {self.max}"
        return None

    def to_schema(self) -> dict[str, object]:
        return self._described({"range": _bounds(self.min, self.max)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Length(Constraint):
    """A string's characters, a list's items or a map's keys: their number is between two inclusive bounds."""

    min: int | None = None
    max: int | None = None

    def _problem(self, value: Any) -> str | None:
        size = len(value)
        if self.min is not None and size < self.min:
            return f"length {size}{_of(value)} is less than {self.min}"
        if self.max is not None and size > self.max:
            return f"length {size}{_of(value)} is more than {self.max}"
        return None

    def to_schema(self) -> dict[str, object]:
        return self._described({"length": _bounds(self.min, self.max)})


def _of(value: object) -> str:
    """Return which value has a length. A string is shown only as it is: a part, or one with escapes, could not be
    recognized as a secret where those are removed from messages.
    """
    if not isinstance(value, str) or len(value) > _LONGEST_SHOWN or (shown := repr(value))[1:-1] != value:
        return ""
    return f" of {shown}"


_LONGEST_SHOWN = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Modulo(Constraint):
    """A number that has the remainder `offset` when divided by `step`."""

    step: int
    offset: int = 0

    def _problem(self, value: Any) -> str | None:
        if value % self.step != self.offset % self.step:
            return f"{value} is not {self.offset} more than a multiple of {self.step}"
        return None

    def to_schema(self) -> dict[str, object]:
        return self._described({"modulo": {"step": self.step, "offset": self.offset}})


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedValues(Constraint):
    """One of the listed values; of a list, every item is one of them.

    A number may be given as a string, as a property that takes names and numbers has it (the protocol of a rule).
    `values` are as written; `converted` to the type of the value, with which they are compared, if that differs.
    """

    values: tuple[object, ...]
    converted: tuple[object, ...] | None = None

    def _problem(self, value: object) -> str | None:
        for item in self._refused(value):
            return f"{in_template(item)} is not one of {', '.join(listed(self.values, in_template))}"
        return None

    def hint(self, value: object) -> str:
        for item in self._refused(value):
            return self._nearest(item)
        return ""

    def _refused(self, value: object) -> Iterator[object]:
        compared = self.values if self.converted is None else self.converted
        for item in value if isinstance(value, list | tuple) else [value]:
            if not (isinstance(item, str) and item in compared) and not any(_same(item, each) for each in compared):
                yield item

    def _nearest(self, item: object) -> str:
        if isinstance(item, str):
            close = closest(item, [allowed for allowed in self.values if isinstance(allowed, str)])
            return Suggestion(item, close) if close else ""
        numbers = [allowed for allowed in self.converted or self.values if _is_number(allowed)]
        if not numbers or not _is_number(item):
            return ""
        return f"the nearest is {min(numbers, key=lambda allowed: abs(allowed - item))}"

    def to_schema(self) -> dict[str, object]:
        return self._described({"allowed_values": list(self.values)})


def in_template(value: object) -> str:
    """Return a value as a message shows it: a string in quotes, everything else as JSON, as a template has it."""
    return repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def listed(values: Sequence[object], shown: Callable[[object], str] = repr) -> Iterator[str]:
    """Yield the values as a message lists them; `0 to 255` stands for consecutive integers."""
    for run in _runs(values):
        if len(run) >= _SHORTEST_RUN:
            yield f"{shown(run[0])} to {shown(run[-1])}"
        else:
            yield from map(shown, run)


def _runs(values: Sequence[object]) -> list[list[object]]:
    """Return the values in order, with integers that follow each other in one list."""
    runs: list[list[object]] = []
    for value in values:
        if runs and type(value) is int and type(runs[-1][-1]) is int and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    return runs


_SHORTEST_RUN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered(Constraint):
    """One of the names that the installed packages offer; they are asked for when a value is checked."""

    asks_others = True
    names: Callable[[], Iterable[str]]

    def _problem(self, value: object) -> str | None:
        return AllowedValues(values=tuple(self.names())).problem(value)

    def to_schema(self) -> dict[str, object]:
        return self._described({"allowed_values": list(self.names())})


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same(value: object, allowed: object) -> bool:
    if isinstance(value, bool) or isinstance(allowed, bool):
        return value is allowed
    return bool(value == allowed) or (isinstance(value, str) and isinstance(allowed, int) and value == str(allowed))


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedPattern(Constraint):
    """A string that a Python regular expression matches completely; of a list, every item.

    In Heat, the first match at the beginning must reach the end: `a|ab` does not match "ab". `any_match` says that any
    match may, as in AWS.
    """

    pattern: str
    any_match: bool = False

    def _problem(self, value: object) -> str | None:
        for item in value if isinstance(value, list | tuple) else [value]:
            pattern = compiled(self.pattern)
            try:
                fits = pattern.is_whole(str(item)) if self.any_match else pattern.fits(str(item))
            except PatternTooCostly:
                return f"the pattern {self.pattern!r} takes too long on this value"
            if not fits:
                return f"{in_template(item)} does not match the pattern {self.pattern!r}"
        return None

    def to_schema(self) -> dict[str, object]:
        return self._described({"allowed_pattern": self.pattern})


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomConstraint(Constraint):
    """A named check that is implemented by a plug-in, usually with a request to a service."""

    asks_others = True
    name: str

    def _problem(self, value: object) -> str | None:
        return None

    def to_schema(self) -> dict[str, object]:
        return self._described({"custom_constraint": self.name})


def pattern_error(pattern: str) -> str | None:
    """Return why `pattern` is not a valid regular expression; None when it is."""
    try:
        compiled(pattern)
    except PatternError as error:
        return str(error)
    return None


def schema_of(constraints: Sequence[Constraint]) -> list[Mapping[str, object]]:
    """Return the constraints in the Orchestration API's format."""
    return [constraint.to_schema() for constraint in constraints]
