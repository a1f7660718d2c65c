"""What an engine does about drift by itself, and when. Every function here is pure."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from zlib import crc32

from stoker.engine.ownership.healing_schedule import attempts_of
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.plan import Plan
from stoker.store.records import Operation

MOST_INEFFECTIVE = 2
"""Number of repairs in a row after which a stack still differs from its definition; then a user must act."""

_JITTER = 0.1
"""Part of the interval by which looks are earlier or later, so that they do not stay at the same moment."""


class Mode(StrEnum):
    """What is done about the drift of a stack without a request."""

    OFF = "off"
    DETECT = "detect"
    REPAIR = "repair"


class Repair(StrEnum):
    """The outcome of a repair that a look suggests."""

    BEGUN = "begun"
    """An update has begun that brings the objects back."""
    NOT_NOW = "not-now"
    """The state of the stack does not allow it, or an earlier attempt was too recent."""
    MAINTENANCE = "maintenance"
    """The operator has switched all repairs off."""
    INEFFECTIVE = "ineffective"
    """Repairs did not help."""
    TOO_MANY_REPLACEMENTS = "too-many-replacements"
    """It would make more objects again than the operator allows."""
    NOTHING_TO_DO = "nothing-to-do"
    """An update would change nothing, or cannot change it."""


def first_check_time(group: str, now: float, interval: float) -> float:
    """Return the time of the first look at a group of stacks: groups are spread over the interval."""
    return now + interval * _fraction(group)


def next_check_time(group: str, now: float, interval: float) -> float:
    """Return the time of the look after one now."""
    return now + interval * (1 - _JITTER + 2 * _JITTER * _fraction(f"{group} {int(now)}"))


def _fraction(text: str) -> float:
    return crc32(text.encode()) / 2**32


def ineffective_repairs(operations: Sequence[Operation], in_sync_at: float) -> int:
    """Return how many repairs in a row have not helped: those since the stack was last seen without drift.

    `operations` are those of the stack, newest first, `in_sync_at` is that time, 0 for never.
    """
    return sum(attempt.created_at > in_sync_at for attempt in attempts_of(operations))


def rejection_reason(plan: Plan, most_replacements: int) -> Repair | None:
    """Return why a plan that brings objects back is not run; None if it is."""
    if not any(step.kind is not StepKind.KEEP for step in plan.steps) or plan.of_kind(StepKind.REFUSE):
        return Repair.NOTHING_TO_DO
    made_again = sum(step.supersedes for step in plan.steps)
    return Repair.TOO_MANY_REPLACEMENTS if made_again > most_replacements else None
