"""Arithmetic of scaling: the new size of a group, and its cooldown.

Every function here is pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

CHANGE, EXACT, PERCENT = "change_in_capacity", "exact_capacity", "percent_change_in_capacity"
_AWS = {"ChangeInCapacity": CHANGE, "ExactCapacity": EXACT, "PercentChangeInCapacity": PERCENT}
EXACT_BY_DEFINITION = "ExactCapacity"
"""The reason in a group's metadata for a size that comes from its own definition."""

END, IN_PROGRESS, _FORMER = "cooldown_end", "scaling_in_progress", "cooldown"


@dataclass(frozen=True, slots=True)
class Adjustment:
    """The change of size that a scaling policy requests of its group.

    `type` is an adjustment type of either API. `minimum` is the minimum number of members that a percentage changes.
    `cooldown` is the time in seconds during which further adjustments are refused, None for the group's own.
    """

    amount: float
    type: str
    minimum: int | None = None
    cooldown: float | None = None

    def __str__(self) -> str:
        return f"{self.type} : {self.amount}"


def new_capacity(current: int, adjustment: Adjustment, smallest: int, largest: int) -> int:
    """Return the size after an adjustment, limited to the bounds."""
    kind = _AWS.get(adjustment.type, adjustment.type)
    if kind == EXACT:
        unlimited = int(adjustment.amount)
    elif kind == CHANGE:
        unlimited = current + int(adjustment.amount)
    else:
        unlimited = current + _percentage(current, adjustment)
    return max(smallest, min(largest, unlimited))


def _percentage(current: int, adjustment: Adjustment) -> int:
    """Convert a percentage to members: less than one counts as one, other fractions are cut; zero counts as down."""
    exact = current * adjustment.amount / 100
    sign = 1 if exact > 0 else -1
    members = 1 if 0 < abs(exact) < 1 else int(abs(exact))
    return sign * max(members, adjustment.minimum or 0)


def cooling_down(metadata: Mapping[str, object], cooldown: float, now: float) -> str | None:
    """Return when the group's cooldown ends according to its metadata; None when it has ended.

    The metadata of adopted groups may record when the group changed instead of when the cooldown ends: `cooldown`
    (seconds) is added to that time.
    """
    ends = dict.fromkeys(_moments(metadata.get(END)), 0.0)
    before = metadata.get(
        _FORMER, {name: reason for name, reason in metadata.items() if name not in (END, IN_PROGRESS)}
    )
    ends |= dict.fromkeys(_moments(before), max(cooldown, 0.0))
    last = max((moment + more for moment, more in ends.items()), default=now)
    return _isoformat(last) if _datetime(now) < _datetime(last) else None


def begun(metadata: Mapping[str, object]) -> dict[str, Any]:
    """Return the metadata of a group that is changing its size."""
    return {**metadata, IN_PROGRESS: True}


def ended(metadata: Mapping[str, object]) -> dict[str, object]:
    """Return the metadata of a group that could not change its size: it may retry immediately."""
    return {**metadata, IN_PROGRESS: False}


def changed(metadata: Mapping[str, object], reason: str, cooldown: float, now: float) -> dict[str, Any]:
    """Return the metadata of a group that has changed its size. A cooldown's end never moves to an earlier time."""
    end = max([now + max(cooldown, 0.0), *_moments(metadata.get(END))])
    return {**metadata, END: {_isoformat(end): reason}, IN_PROGRESS: False}


def _moments(entries: object) -> list[float]:
    """Return the times among the keys of a map as seconds since the epoch; other keys are ignored."""
    found = []
    for key in entries if isinstance(entries, Mapping) else ():
        try:
            moment = datetime.fromisoformat(str(key))
        except ValueError:
            continue
        found.append((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    return found


def _isoformat(moment: float) -> str:
    return _datetime(moment).replace(tzinfo=None).isoformat()


def _datetime(moment: float) -> datetime:
    """Convert a time with the precision of metadata, so that a time compares equal after writing and reading it."""
    return datetime.fromtimestamp(moment, UTC)
