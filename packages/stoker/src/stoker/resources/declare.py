"""Shorthands for declarations: each returns what `Property(constraints=…)` takes; join several with `+`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from stoker.schema.constraints import (
    AllowedPattern,
    AllowedValues,
    Constraint,
    CustomConstraint,
    Length,
    Offered,
    Range,
)

Constraints = tuple[Constraint, ...]


def custom(name: str) -> Constraints:
    """A custom constraint, by its name (`neutron.network`)."""
    return (CustomConstraint(name=name),)


def one_of(*values: object) -> Constraints:
    """The value must be one of these."""
    return (AllowedValues(values=values),)


def offered(names: Callable[[], Iterable[str]]) -> Constraints:
    """The value must be one of the names that the installed packages offer; `names` returns them."""
    return (Offered(names=names),)


def between(low: float | None = None, high: float | None = None) -> Constraints:
    """A number from `low` to `high`, both included."""
    return (Range(min=low, max=high),)


def length(low: int | None = None, high: int | None = None) -> Constraints:
    """The number of characters, items or keys, both limits included."""
    return (Length(min=low, max=high),)


def matching(pattern: str) -> Constraints:
    """A string that a Python regular expression matches as a whole."""
    return (AllowedPattern(pattern=pattern),)
