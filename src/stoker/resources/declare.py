"""Short words for declarations: each makes what `Property(constraints=…)` takes; join several with `+`."""

from __future__ import annotations

from typing import Any

from stoker.schema.constraints import (
    AllowedPattern,
    AllowedValues,
    Constraint,
    CustomConstraint,
    Length,
    Range,
)

Constraints = tuple[Constraint, ...]


def custom(name: str) -> Constraints:
    """A check by a plug-in, by its name (`neutron.network`)."""
    return (CustomConstraint(name=name),)


def one_of(*values: Any) -> Constraints:
    """One of these values."""
    return (AllowedValues(values=values),)


def between(low: float | None = None, high: float | None = None) -> Constraints:
    """A number from `low` to `high`, both included."""
    return (Range(min=low, max=high),)


def length(low: int | None = None, high: int | None = None) -> Constraints:
    """So many characters, items or keys."""
    return (Length(min=low, max=high),)


def matching(pattern: str) -> Constraints:
    """A text that a Python regular expression matches from end to end."""
    return (AllowedPattern(pattern=pattern),)
