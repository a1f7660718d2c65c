"""What changes of stacks need: approvals of other people, and a time that windows and freezes allow.

The operator, a project and a stack may each require something; a change needs all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from stoker.base.errors import BadValue, Invalid
from stoker.engine.change_windows import Calendar, next_opening
from stoker.store.approvals import Requirement

DEFAULT_HOURS = 72
"""How long a request and its approvals are valid, unless something else is set."""
_MOST_HOURS = 24 * 90
_MOST_PEOPLE = 10
_KEYS = ("approvals", "windows", "freezes", "automatic", "valid_hours")


class Automatic(StrEnum):
    """What is done about actions that an engine begins by itself: healing, scaling by alarms, repair of drift."""

    ALLOWED = "allowed"
    """They need neither an approval nor a window."""
    WAIT = "wait"
    """They are done when they are approved, within a window."""
    REFUSED = "refused"
    """They are not done."""


_STRICTER = list(Automatic)


@dataclass(frozen=True)
class Control:
    """What changes need. `hours` is how long approvals are valid."""

    requirements: Sequence[Requirement] = ()
    calendars: Sequence[Calendar] = ()
    automatic: Automatic = Automatic.ALLOWED
    hours: int = DEFAULT_HOURS

    @classmethod
    def read(cls, data: Any, place: str = "") -> Control:
        """Return the control that data describe: `approvals`, `windows`, `freezes`, `automatic`, `valid_hours`.

        Raises BadValue, which begins with the place.
        """
        if not isinstance(data, Mapping) or set(data) - set(_KEYS):
            raise BadValue(f"{place or 'control'} must be a map with the keys {', '.join(_KEYS)}.")
        prefix = f"{place}." if place else ""
        approvals = data.get("approvals", ())
        if not isinstance(approvals, list | tuple) or len(approvals) > _MOST_PEOPLE:
            raise BadValue(f"{prefix}approvals must be a list of at most {_MOST_PEOPLE} entries.")
        required = tuple(_requirement(entry, f"{prefix}approvals[{n}]") for n, entry in enumerate(approvals))
        automatic, hours = data.get("automatic", Automatic.ALLOWED.value), data.get("valid_hours", DEFAULT_HOURS)
        if automatic not in set(Automatic):
            raise BadValue(f"{prefix}automatic must be one of {', '.join(Automatic)}.")
        if type(hours) is not int or not 1 <= hours <= _MOST_HOURS:
            raise BadValue(f"{prefix}valid_hours must be an integer from 1 to {_MOST_HOURS}.")
        return cls(required, (Calendar.read(data, prefix),), Automatic(automatic), hours)

    @classmethod
    def combined(cls, controls: Iterable[Control]) -> Control:
        """Return what all of these controls need together."""
        each = list(controls)
        return cls(
            tuple(dict.fromkeys(requirement for control in each for requirement in control.requirements)),
            tuple(calendar for control in each for calendar in control.calendars),
            max((control.automatic for control in each), key=_STRICTER.index, default=Automatic.ALLOWED),
            min((control.hours for control in each), default=DEFAULT_HOURS),
        )

    def opens_at(self, now: float) -> float | None:
        """Return when changes are allowed: `now` if they are; None if no time is found."""
        return next_opening(self.calendars, now)


def _requirement(entry: Any, place: str) -> Requirement:
    if not isinstance(entry, Mapping) or set(entry) - {"role", "number"}:
        raise BadValue(f"{place} must be a map with the keys role, number.")
    role, number = entry.get("role"), entry.get("number", 1)
    if role is not None and not (isinstance(role, str) and 0 < len(role) <= 255):
        raise BadValue(f"{place}.role must be the name of a role.")
    if type(number) is not int or not 1 <= number <= _MOST_PEOPLE:
        raise BadValue(f"{place}.number must be an integer from 1 to {_MOST_PEOPLE}.")
    return Requirement(role, number)


def read_file(path: str) -> Control:
    """Return the operator's control in a YAML file. Raises Invalid."""
    import yaml

    try:
        return Control.read(yaml.safe_load(Path(path).read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise Invalid(f"The change control {path} cannot be read: {error}") from None
    except BadValue as error:
        raise Invalid(f"{path}: {error.message}") from None
