"""The timeline of an operation: its time axis, and a bar for each action on a resource, as a tree."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, takewhile

from stoker.console.timeline import Span

ORDERS = {"start": "as they began", "longest": "longest first"}
"""The orders of bars: name in the URL, and label."""

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_STEPS = (1, 2, 5, 10, 15, 30)
_ALL_STEPS = (*_STEPS, *(_MINUTE * step for step in _STEPS), *(_HOUR * step for step in (1, 2, 3, 6, 12)))
_MOST_STEPS = 5
"""Steps of the axis; more labels would touch each other on a phone."""

_NARROWEST = 0.4
"""Percent of the axis that an action without a duration gets."""
_CLEAR = 92.0
"""Percent of the axis after which no label begins, because it would not fit."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A line of the axis at `place` percent of its length; `label` is empty for a line at the end."""

    place: float
    label: str


@dataclass(frozen=True, slots=True)
class Axis:
    """The time from `began` (seconds since 1970), `seconds` long."""

    began: float
    seconds: float

    @classmethod
    def of(cls, began: float, ended: float, *, growing: bool) -> Axis:
        """Return the axis for a period of at least a second.

        One that is `growing` ends with a whole step, so that bars keep their places until that is reached.
        """
        seconds = max(ended - began, 1.0)
        step = _step(seconds)
        return cls(began, (math.floor(seconds / step) + 1) * step if growing else seconds)

    @property
    def ticks(self) -> list[Tick]:
        """The lines of the axis from its begin."""
        step = _step(self.seconds)
        times = takewhile(lambda time: time < self.seconds, count(0, step))
        return [_tick(time, 100 * time / self.seconds) for time in times]

    def place(self, time: float) -> float:
        """Return a time in percent of the axis, from 0 to 100."""
        return min(max(100 * (time - self.began) / self.seconds, 0.0), 100.0)


def _tick(time: int, place: float) -> Tick:
    return Tick(place, _label(time) if place < _CLEAR else "")


def _step(seconds: float) -> int:
    for step in _ALL_STEPS:
        if seconds / step <= _MOST_STEPS:
            return step
    return _DAY * math.ceil(seconds / _DAY / _MOST_STEPS)


def _label(seconds: int) -> str:
    """Return a time since the begin like `0`, `1 min 30 s` or `2 d 12 h`."""
    units = ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min"), (1, "s"))
    words = []
    for size, unit in units:
        whole, seconds = divmod(seconds, size)
        if whole:
            words.append(f"{whole} {unit}")
    return " ".join(words) or "0"


@dataclass(frozen=True, slots=True)
class Bar:
    """An action on a resource; `left` and `width` are in percent of the axis.

    `name` identifies the bar on the page, `parent` that of the resource whose nested stack the resource is in (or is
    empty); `level` counts from 0, and `inside` is the number of bars below this one.
    """

    name: str
    span: Span
    left: float
    width: float
    level: int
    parent: str
    inside: int


def bars_of(
    spans: Sequence[Span], axis: Axis, ended: float, order: str = "start", owners: Mapping[str, str] | None = None
) -> list[Bar]:
    """Return the bars of the actions that began on the axis until `ended`, each followed by those of its nested stack.

    `spans` has the actions in the order in which they began. `owners` maps the ID of a nested stack to the key of the
    resource it belongs to, where the actions themselves do not show that.
    """
    chosen = [span for span in spans if axis.began <= span.began <= ended]
    names = _names(chosen)
    above = _parents(chosen, owners or {})
    inside: dict[int | None, list[int]] = defaultdict(list)
    for place, span in enumerate(chosen):
        inside[above.get(span.stack_id)].append(place)

    def length(place: int) -> float:
        span = chosen[place]
        return (ended if span.ended is None else span.ended) - span.began

    def below(parent: int | None, level: int) -> Iterator[Bar]:
        places = inside.pop(parent, [])
        for place in sorted(places, key=length, reverse=True) if order == "longest" else places:
            rest = list(below(place, level + 1))
            span = chosen[place]
            left = min(axis.place(span.began), 100 - _NARROWEST)
            width = max(axis.place(ended if span.ended is None else span.ended) - left, _NARROWEST)
            yield Bar(names[place], span, left, width, level, "" if parent is None else names[parent], len(rest))
            yield from rest

    return list(below(None, 0))


def _names(spans: Sequence[Span]) -> list[str]:
    """Return a name for each bar: `KEY-ACTION` for the latest action of its kind, with a number for earlier ones."""
    kinds = [f"{span.key}-{span.action}" for span in spans]
    later, names = Counter[str](), []
    for kind in reversed(kinds):
        names.append(f"{kind}-{later[kind]}" if later[kind] else kind)
        later[kind] += 1
    return names[::-1]


def _parents(spans: Sequence[Span], owners: Mapping[str, str]) -> dict[str, int]:
    """Return the place of the action on the resource that a nested stack belongs to, by the ID of the stack."""
    nested = {span.stack_id for span in spans}
    by_key = {span.key: place for place, span in enumerate(spans)}
    parents = {stack_id: by_key[key] for stack_id, key in owners.items() if stack_id in nested and key in by_key}
    for place, span in reversed(list(enumerate(spans))):
        if span.physical_id in nested:
            parents[span.physical_id] = place
    return parents
