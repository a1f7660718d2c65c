"""When changes are allowed: windows and freezes, which repeat by the rules of iCalendar (RRULE) in a time zone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from stoker.base.errors import BadValue

HORIZON_DAYS = 731
"""How far ahead the next opening is looked for."""
_LONGEST = timedelta(days=366)
_MOST_PERIODS = 50
_MOST_STEPS = 1000
_EARLIEST, _LATEST = datetime(2000, 1, 1), datetime(2200, 1, 1)
_FREQUENCIES = ("DAILY", "WEEKLY", "MONTHLY", "YEARLY")
_PARTS = ("FREQ", "INTERVAL", "BYDAY", "BYMONTHDAY", "BYMONTH", "COUNT", "UNTIL", "WKST")
_RULE = re.compile(r"[A-Z0-9=;,+-]+")
"""One line: dateutil reads several rules, dates and exceptions from several."""
_KEYS = ("name", "start", "end", "repeat", "time_zone")
_DAYS_OF_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_ROOM = timedelta(days=2)
"""More than clocks differ between time zones, and change within one."""


@dataclass(frozen=True)
class Period:
    """A time span that may repeat. `start` and `end` are those of the first one, in the local time of `zone`.

    `repeat` is a rule as in iCalendar, such as `FREQ=WEEKLY;BYDAY=SA`, None for a period that does not repeat.
    """

    name: str
    start: datetime
    end: datetime
    repeat: str | None
    zone: tzinfo

    @classmethod
    def read(cls, entry: object, place: str) -> Period:
        """Return the period that data describe. Raises BadValue, which names the place."""
        if not isinstance(entry, Mapping) or set(entry) - set(_KEYS):
            raise BadValue(f"{place} must be a map with the keys {', '.join(_KEYS)}.")
        start, end = (_local_time(entry.get(key), f"{place}.{key}") for key in ("start", "end"))
        if not timedelta() < end - start <= _LONGEST:
            raise BadValue(f"{place}.end must be after start, by at most {_LONGEST.days} days.")
        name, repeat = entry.get("name", ""), entry.get("repeat")
        if not isinstance(name, str) or len(name) > 255:
            raise BadValue(f"{place}.name must be a string of at most 255 characters.")
        period = cls(name, start, end, repeat, _zone(entry.get("time_zone", "UTC"), f"{place}.time_zone"))
        if repeat is not None:
            _check_rule(repeat, f"{place}.repeat")
            if not period._starts(start - _ROOM, start + timedelta(days=10 * 366)):
                raise BadValue(f"{place}.repeat: {repeat!r} yields no time within ten years after start.")
        return period

    def end_around(self, now: float) -> float | None:
        """Return when the period that has begun at a time ends; None if none has."""
        local = datetime.fromtimestamp(now, self.zone).replace(tzinfo=None)
        spans = map(self._span, self._starts(local - self._length - _ROOM, local + _ROOM))
        return max((end for start, end in spans if start <= now < end), default=None)

    def next_start(self, now: float) -> float | None:
        """Return when the period begins next, after a time; None if it does not within `HORIZON_DAYS`."""
        local = datetime.fromtimestamp(now, self.zone).replace(tzinfo=None)
        starts = self._starts(local - _ROOM, local + timedelta(days=HORIZON_DAYS))
        return next((start for start, _ in map(self._span, starts) if start > now), None)

    @property
    def _length(self) -> timedelta:
        return self.end - self.start

    def _starts(self, after: datetime, before: datetime) -> Sequence[datetime]:
        if self.repeat is None:
            return [self.start] if after < self.start < before else []
        found: list[datetime] = self._rule.between(after, before)
        return found

    @cached_property
    def _rule(self) -> Any:
        from dateutil.rrule import rrulestr  # only stacks with windows need it

        return rrulestr(self.repeat or "", dtstart=self.start)

    def _span(self, start: datetime) -> tuple[float, float]:
        end = start + self._length
        return start.replace(tzinfo=self.zone).timestamp(), end.replace(tzinfo=self.zone).timestamp()


def _local_time(text: Any, place: str) -> datetime:
    if isinstance(text, datetime):  # YAML reads it so
        found = text
    else:
        try:
            found = datetime.fromisoformat(text)
        except (TypeError, ValueError):
            raise BadValue(f"{place} must be a local time, such as 2026-12-24T18:00.") from None
    if found.tzinfo is not None:
        raise BadValue(f"{place} must be a local time without an offset; time_zone names its time zone.")
    if not _EARLIEST <= found <= _LATEST:
        raise BadValue(f"{place} must be between {_EARLIEST.year} and {_LATEST.year}.")
    return found


def _zone(name: Any, place: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, TypeError, ValueError, OSError):
        raise BadValue(f"{place}: {name!r} is no time zone; one is Europe/Berlin.") from None


def _check_rule(rule: object, place: str) -> None:
    """Raise BadValue for a rule that is none, or that would take long to evaluate."""
    from dateutil.rrule import rrulestr

    if not isinstance(rule, str) or len(rule) > 500 or not _RULE.fullmatch(rule):
        raise BadValue(f"{place} must be a rule of iCalendar, such as FREQ=WEEKLY;BYDAY=SA.")
    parts = dict(part.partition("=")[::2] for part in rule.split(";"))
    if set(parts) - set(_PARTS) or parts.get("FREQ") not in _FREQUENCIES:
        raise BadValue(f"{place} must have FREQ ({', '.join(_FREQUENCIES)}) and may have {', '.join(_PARTS[1:])}.")
    try:
        days = [int(day) for day in parts.get("BYMONTHDAY", "1").split(",")]
        months = [int(month) for month in parts.get("BYMONTH", "1").split(",")]
        often = all(1 <= int(parts.get(part, "1")) <= _MOST_STEPS for part in ("INTERVAL", "COUNT"))
        possible = any(abs(day) <= _DAYS_OF_MONTH[month - 1] for day in days for month in months if 1 <= month <= 12)
        rrulestr(rule, dtstart=_EARLIEST)
    except (ValueError, TypeError, IndexError, KeyError, AttributeError, OverflowError):
        raise BadValue(f"{place}: {rule!r} is no rule of iCalendar (RFC 5545, RRULE).") from None
    if not often:  # a rule with the interval 0 would yield its first time without end
        raise BadValue(f"{place}: INTERVAL and COUNT of {rule!r} must be between 1 and {_MOST_STEPS}.")
    if not possible or 0 in days:
        raise BadValue(f"{place}: {rule!r} names a day that no month has.")


@dataclass(frozen=True)
class Calendar:
    """Changes are allowed within the windows (always if there are none), and not within the freezes."""

    windows: Sequence[Period] = ()
    freezes: Sequence[Period] = ()

    @classmethod
    def read(cls, data: Mapping[str, object], place: str) -> Calendar:
        """Return the calendar of the lists `windows` and `freezes`. Raises BadValue."""
        return cls(*(_periods(data.get(key, ()), f"{place}{key}") for key in ("windows", "freezes")))

    def closed_until(self, now: float) -> float | None:
        """Return the earliest time after which changes may be allowed; None if they are now, inf if that is unknown."""
        frozen = [end for period in self.freezes if (end := period.end_around(now)) is not None]
        if frozen:
            return max(frozen)
        if not self.windows or any(window.end_around(now) is not None for window in self.windows):
            return None
        return min((s for window in self.windows if (s := window.next_start(now)) is not None), default=float("inf"))


def _periods(entries: object, place: str) -> tuple[Period, ...]:
    if not isinstance(entries, list | tuple) or len(entries) > _MOST_PERIODS:
        raise BadValue(f"{place} must be a list of at most {_MOST_PERIODS} entries.")
    return tuple(Period.read(entry, f"{place}[{number}]") for number, entry in enumerate(entries))


def next_opening(calendars: Sequence[Calendar], now: float) -> float | None:
    """Return when changes are allowed by all calendars: `now` if they are; None if no time is found in two years."""
    moment = now
    for _ in range(_MOST_STEPS):
        later = [until for calendar in calendars if (until := calendar.closed_until(moment)) is not None]
        if not later:
            return moment
        moment = max(later)
        if moment > now + HORIZON_DAYS * 86400.0:
            break
    return None
