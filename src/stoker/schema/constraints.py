"""What a value must be like: range, length, modulo, allowed values, pattern, and checks by plug-ins.

Rules from facts: parameters.json (constraint_rules, constraints_allowed_per_type). A constraint's own
description replaces the text made here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stoker.base.patterns import PatternError, PatternTooCostly, compiled


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint(ABC):
    """One rule on a value. `problem` returns the complaint, or None when the value is fine."""

    description: str = ""

    def problem(self, value: Any) -> str | None:
        """What is wrong with `value` (already of its declared type); None when nothing is."""
        broken = self._problem(value)
        return (self.description or broken) if broken else None

    @abstractmethod
    def _problem(self, value: Any) -> str | None: ...

    @abstractmethod
    def to_schema(self) -> dict[str, Any]:
        """The constraint in the Orchestration API's form."""

    def _described(self, body: dict[str, Any]) -> dict[str, Any]:
        return {**body, "description": self.description} if self.description else body


def _bounds(minimum: float | None, maximum: float | None) -> dict[str, Any]:
    return {key: bound for key, bound in (("min", minimum), ("max", maximum)) if bound is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Range(Constraint):
    """A number between two bounds, both included and either one optional."""

    min: float | None = None
    max: float | None = None

    def _problem(self, value: Any) -> str | None:
        if self.min is not None and value < self.min:
            return f"{value} is less than {self.min}"
        if self.max is not None and value > self.max:
            return f"{value} is more than {self.max}"
        return None

    def to_schema(self) -> dict[str, Any]:
        return self._described({"range": _bounds(self.min, self.max)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Length(Constraint):
    """A text's characters, a list's items or a map's keys between two bounds."""

    min: int | None = None
    max: int | None = None

    def _problem(self, value: Any) -> str | None:
        size = len(value)
        if self.min is not None and size < self.min:
            return f"length {size} is less than {self.min}"
        if self.max is not None and size > self.max:
            return f"length {size} is more than {self.max}"
        return None

    def to_schema(self) -> dict[str, Any]:
        return self._described({"length": _bounds(self.min, self.max)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Modulo(Constraint):
    """A number that leaves the remainder `offset` when divided by `step`."""

    step: int
    offset: int = 0

    def _problem(self, value: Any) -> str | None:
        if value % self.step != self.offset % self.step:
            return f"{value} is not {self.offset} more than a multiple of {self.step}"
        return None

    def to_schema(self) -> dict[str, Any]:
        return self._described({"modulo": {"step": self.step, "offset": self.offset}})


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedValues(Constraint):
    """One of a list; for a list, every item one of them."""

    values: tuple[Any, ...]

    def _problem(self, value: Any) -> str | None:
        items = value if isinstance(value, list | tuple) else [value]
        for item in items:
            if not any(type(item) is type(allowed) and item == allowed for allowed in self.values) and (
                isinstance(item, bool) or item not in self.values
            ):
                return f"{item!r} is not one of {', '.join(repr(allowed) for allowed in self.values)}"
        return None

    def to_schema(self) -> dict[str, Any]:
        return self._described({"allowed_values": list(self.values)})


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedPattern(Constraint):
    """A text that a Python regular expression matches from end to end."""

    pattern: str

    def _problem(self, value: Any) -> str | None:
        try:
            fits = compiled(self.pattern).fits(str(value))
        except PatternTooCostly:
            return f"the pattern {self.pattern!r} takes too long on this value"
        return None if fits else f"{value!r} does not match the pattern {self.pattern!r}"

    def to_schema(self) -> dict[str, Any]:
        return self._described({"allowed_pattern": self.pattern})


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomConstraint(Constraint):
    """A check by name that a plug-in makes, usually by asking a service."""

    name: str

    def _problem(self, value: Any) -> str | None:
        return None

    def to_schema(self) -> dict[str, Any]:
        return self._described({"custom_constraint": self.name})


def pattern_error(pattern: str) -> str | None:
    """Why `pattern` is no regular expression; None when it is one."""
    try:
        compiled(pattern)
    except PatternError as error:
        return str(error)
    return None


def schema_of(constraints: Sequence[Constraint]) -> list[Mapping[str, Any]]:
    """The constraints in the Orchestration API's form."""
    return [constraint.to_schema() for constraint in constraints]
