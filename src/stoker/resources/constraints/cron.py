"""Whether a text is a cron expression: five fields, or six or seven with seconds and years after them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ALIASES = frozenset({"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"})
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_PART = re.compile(r"(?P<low>\*|\?|\w+)(?:-(?P<high>\w+))?(?:#(?P<nth>[1-5]))?(?:/(?P<step>\d+))?")
_LAST_WEEKDAY = re.compile(r"l[0-7]")


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    low: int
    high: int
    words: tuple[str, ...] = ()

    def problem(self, text: str) -> str | None:
        """What is wrong with this field's text."""
        for part in text.lower().split(","):
            match = _PART.fullmatch(part)
            if not match or not self._sound(match):
                return f"{part!r} is not a valid {self.name} ({self.low} to {self.high})"
        return None

    def _sound(self, match: re.Match[str]) -> bool:
        low, high, nth, step = match.group("low", "high", "nth", "step")
        if step is not None and int(step) == 0:
            return False
        if nth is not None and self.name != "day of the week":
            return False
        if low in ("*", "?"):
            return high is None and nth is None
        return self._known(low) and (high is None or self._known(high))

    def _known(self, text: str) -> bool:
        if text in self.words or (text == "l" and self.name == "day of the month"):
            return True
        if _LAST_WEEKDAY.fullmatch(text) and self.name == "day of the week":
            return True
        return text.isascii() and text.isdigit() and self.low <= int(text) <= self.high


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of the week", 0, 7, _DAYS),
    _Field("second", 0, 59),
    _Field("year", 1970, 2099),
)
_FEWEST_FIELDS = 5


def cron_problem(text: str) -> str | None:
    """What is wrong with a cron expression; None when nothing is."""
    fields = text.split()
    if len(fields) == 1 and fields[0].lower() in _ALIASES:
        return None
    if not _FEWEST_FIELDS <= len(fields) <= len(_FIELDS):
        return f"{text!r} is not a cron expression: it has {len(fields)} fields instead of 5 to 7"
    for field, given in zip(_FIELDS, fields, strict=False):
        if problem := field.problem(given):
            return f"{text!r} is not a cron expression: {problem}"
    return None
