"""By how much a group that scales changes, and when it may again (facts: heat.yaml, capacity_change, adjust).

Everything here is pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

CHANGE, EXACT, PERCENT = "change_in_capacity", "exact_capacity", "percent_change_in_capacity"
_AWS = {"ChangeInCapacity": CHANGE, "ExactCapacity": EXACT, "PercentChangeInCapacity": PERCENT}
EXACT_BY_DEFINITION = "ExactCapacity"
"""How a group's metadata calls a size that comes from its own definition."""

END, IN_PROGRESS, _FORMER = "cooldown_end", "scaling_in_progress", "cooldown"


@dataclass(frozen=True, slots=True)
class Adjustment:
    """What a scaling policy asks of its group.

    `type` is one of the spellings of either API. `minimum` is the least that a percentage shall mean, in members.
    `cooldown` is the time in seconds in which nothing more is done, None for the group's own.
    """

    amount: float
    type: str
    minimum: int | None = None
    cooldown: float | None = None

    def __str__(self) -> str:
        return f"{self.type} : {self.amount}"


def new_capacity(current: int, adjustment: Adjustment, smallest: int, largest: int) -> int:
    """The size that an adjustment leads to, kept between the two bounds."""
    kind = _AWS.get(adjustment.type, adjustment.type)
    if kind == EXACT:
        wanted = int(adjustment.amount)
    elif kind == CHANGE:
        wanted = current + int(adjustment.amount)
    else:
        wanted = current + _percentage(current, adjustment)
    return max(smallest, min(largest, wanted))


def _percentage(current: int, adjustment: Adjustment) -> int:
    """A percentage in members: less than one counts as one, else parts of one are dropped; no change counts as down."""
    exact = current * adjustment.amount / 100
    sign = 1 if exact > 0 else -1
    members = 1 if 0 < abs(exact) < 1 else int(abs(exact))
    return sign * max(members, adjustment.minimum or 0)


def cooling_down(metadata: Mapping[str, Any], cooldown: float, now: float) -> str | None:
    """When the group may change again, as its metadata says; None when it may now.

    Groups that were made by older engines note when they changed, not when they may change again: to that `cooldown`
    (seconds) is added.
    """
    ends = dict.fromkeys(_moments(metadata.get(END)), 0.0)
    before = metadata.get(_FORMER, {name: text for name, text in metadata.items() if name not in (END, IN_PROGRESS)})
    ends |= dict.fromkeys(_moments(before), max(cooldown, 0.0))
    last = max((moment + more for moment, more in ends.items()), default=now)
    return _isoformat(last) if _datetime(now) < _datetime(last) else None


def begun(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of a group that is changing its size."""
    return {**metadata, IN_PROGRESS: True}


def ended(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of a group that could not change its size: it may try again at once."""
    return {**metadata, IN_PROGRESS: False}


def changed(metadata: Mapping[str, Any], reason: str, cooldown: float, now: float) -> dict[str, Any]:
    """The metadata of a group that has changed its size. The end of a cooldown never moves to an earlier time."""
    end = max([now + max(cooldown, 0.0), *_moments(metadata.get(END))])
    return {**metadata, END: {_isoformat(end): reason}, IN_PROGRESS: False}


def _moments(entries: Any) -> list[float]:
    """The times (seconds since the epoch) among the keys of a map; other keys are none of ours."""
    found = []
    for text in entries if isinstance(entries, Mapping) else ():
        try:
            moment = datetime.fromisoformat(str(text))
        except ValueError:
            continue
        found.append((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    return found


def _isoformat(moment: float) -> str:
    return _datetime(moment).replace(tzinfo=None).isoformat()


def _datetime(moment: float) -> datetime:
    """A time as exact as metadata has it: what was written as `moment` is not later than `moment` when it is read."""
    return datetime.fromtimestamp(moment, UTC)
