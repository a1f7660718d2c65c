"""What changes of stacks need: approvals of other people, and a time that windows and freezes allow.

The operator, a project and a stack may each require something; a change needs all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from stoker.base.errors import BadValue, Invalid
from stoker.engine.change_windows import Calendar, next_opening
from stoker.store.approvals import Requirement

DEFAULT_HOURS = 72
"""How long a request and its approvals are valid, unless something else is set."""
_MOST_HOURS = 24 * 90
_MOST_PEOPLE = 10
_KEYS = ("approvals", "windows", "freezes", "automatic", "valid_hours", "notify")
_MOST_RECEIVERS = 10
_ADDRESS = re.compile(r"[^\s@,;:<>()\[\]\"\\]{1,64}@[A-Za-z0-9.-]{1,253}")


class ReceiverKind(StrEnum):
    """How somebody is notified."""

    EMAIL = "email"
    WEBHOOK = "webhook"


class Automatic(StrEnum):
    """What is done about actions that an engine begins by itself: healing, scaling by alarms, repair of drift."""

    ALLOWED = "allowed"
    """They need neither an approval nor a window."""
    WAIT = "wait"
    """They are done when they are approved, within a window."""
    REFUSED = "refused"
    """They are not done."""


_STRICTER = list(Automatic)


@dataclass(frozen=True, slots=True)
class Receiver:
    """Who is notified: an `address` of mail, or the URL of a webhook; `of_operator` says that the operator names it."""

    kind: ReceiverKind
    address: str
    of_operator: bool = False


@dataclass(frozen=True)
class Control:
    """What changes need, and who is notified. `hours` is how long approvals are valid."""

    requirements: Sequence[Requirement] = ()
    calendars: Sequence[Calendar] = ()
    automatic: Automatic = Automatic.ALLOWED
    hours: int = DEFAULT_HOURS
    notify: Sequence[Receiver] = ()

    @classmethod
    def read(cls, data: object, place: str = "", *, of_operator: bool = False) -> Control:
        """Return the control that data describe: `approvals`, `windows`, `freezes`, `automatic`, `valid_hours`,
        `notify`.

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
        named = data.get("notify", ())
        if not isinstance(named, list | tuple) or len(named) > _MOST_RECEIVERS:
            raise BadValue(f"{prefix}notify must be a list of at most {_MOST_RECEIVERS} entries.")
        receivers = tuple(_receiver(entry, f"{prefix}notify[{n}]", of_operator) for n, entry in enumerate(named))
        return cls(required, (Calendar.read(data, prefix),), Automatic(automatic), hours, receivers)

    @classmethod
    def combined(cls, controls: Iterable[Control]) -> Control:
        """Return what all of these controls need together."""
        each = list(controls)
        return cls(
            tuple(dict.fromkeys(requirement for control in each for requirement in control.requirements)),
            tuple(calendar for control in each for calendar in control.calendars),
            max((control.automatic for control in each), key=_STRICTER.index, default=Automatic.ALLOWED),
            min((control.hours for control in each), default=DEFAULT_HOURS),
            tuple(dict.fromkeys(receiver for control in each for receiver in control.notify)),
        )

    def opens_at(self, now: float) -> float | None:
        """Return when changes are allowed: `now` if they are; None if no time is found."""
        return next_opening(self.calendars, now)


def _requirement(entry: object, place: str) -> Requirement:
    if not isinstance(entry, Mapping) or set(entry) - {"role", "number"}:
        raise BadValue(f"{place} must be a map with the keys role, number.")
    role, number = entry.get("role"), entry.get("number", 1)
    if role is not None and not (isinstance(role, str) and 0 < len(role) <= 255):
        raise BadValue(f"{place}.role must be the name of a role.")
    if type(number) is not int or not 1 <= number <= _MOST_PEOPLE:
        raise BadValue(f"{place}.number must be an integer from 1 to {_MOST_PEOPLE}.")
    return Requirement(role, number)


def _receiver(entry: object, place: str, of_operator: bool) -> Receiver:
    if not isinstance(entry, Mapping) or len(entry) != 1 or set(entry) - set(ReceiverKind):
        raise BadValue(f"{place} must be a map with one of the keys {', '.join(ReceiverKind)}.")
    [(kind, address)] = entry.items()
    if kind == ReceiverKind.WEBHOOK:
        from stoker.base.webhooks import check_url  # only with webhooks

        return Receiver(ReceiverKind.WEBHOOK, check_url(address, f"{place}.webhook"), of_operator)
    if not isinstance(address, str) or not _ADDRESS.fullmatch(address):
        raise BadValue(f"{place}.email must be an address such as ops@example.com.")
    return Receiver(ReceiverKind.EMAIL, address, of_operator)


def read_file(path: str) -> Control:
    """Return the operator's control in a YAML file. Raises Invalid."""
    import yaml

    try:
        return Control.read(yaml.safe_load(Path(path).read_text(encoding="utf-8")), of_operator=True)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise Invalid(f"The change control {path} cannot be read: {error}") from None
    except BadValue as error:
        raise Invalid(f"{path}: {error.message}") from None
