"""Durations as ISO 8601 writes them, in hours, minutes and seconds: `PT1H30M`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stoker.base.errors import BadValue
from stoker.schema.constraints import Constraint

_DURATION = re.compile(r"PT(?=\d)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})S)?", re.ASCII)


def seconds_of(text: str) -> float:
    """The seconds of a duration. Raises BadValue for another string."""
    found = _DURATION.fullmatch(text)
    if found is None:
        raise BadValue(f"{text!r} is not a duration such as PT1M30S")
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return hours * 3600.0 + minutes * 60.0 + seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Duration(Constraint):
    """A duration of at most `longest`, a duration too."""

    longest: str

    def _problem(self, value: object) -> str | None:
        try:
            seconds = seconds_of(str(value))
        except BadValue as error:
            return error.message
        return f"{value} is more than {self.longest}" if seconds > seconds_of(self.longest) else None

    def to_schema(self) -> dict[str, object]:
        return self._described({"allowed_pattern": _DURATION.pattern})
