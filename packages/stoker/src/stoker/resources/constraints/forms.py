"""Constraints on the format of a value, checked without a service."""

from __future__ import annotations

import ipaddress
import re
import zoneinfo
from collections.abc import Callable
from datetime import UTC, datetime

from stoker.base.json_text import read_json
from stoker.plugins.constraints import Checks, FormCheck
from stoker.resources.constraints.cron import cron_problem
from stoker_foundation.clock import Clock, SystemClock

_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")
_LONGEST_NAME = 255
_LONGEST_RELATIVE_NAME = 252
_MAC_ADDRESS = re.compile(
    r"(?i)[0-9a-f]{1,2}(?P<separator>[:-])(?:[0-9a-f]{1,2}(?P=separator)){4}[0-9a-f]{1,2}"
    r"|[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}|[0-9a-f]{6}[:-][0-9a-f]{6}|[0-9a-f]{12}"
)
_YEAR_OR_MONTH = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2]))?")
_LONGEST_QUEUE_NAME = 64


class Form(FormCheck):
    """A check made of a function from the value's string form to a problem, None when it is valid.

    With `empty_allowed`, null and the empty string are valid.
    """

    def __init__(self, problem: Callable[[str], str | None], empty_allowed: bool = False) -> None:
        self._problem = problem
        self._empty_allowed = empty_allowed

    def problem(self, value: object) -> str | None:
        if self._empty_allowed and value in (None, ""):
            return None
        return self._problem(str(value))


class Expiration(FormCheck):
    """A time in the future, or no value."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def problem(self, value: object) -> str | None:
        if value in (None, ""):
            return None
        moment = parse_time(str(value))
        if moment is None:
            return f"{value!r} is not a time in ISO 8601 form, such as 2030-01-31T12:00:00"
        return None if moment.timestamp() > self._clock.now() else f"{value!r} is in the past"


def parse_time(text: str) -> datetime | None:
    """Parse an ISO 8601 time, in UTC if it has no offset; None if it is not one."""
    if _YEAR_OR_MONTH.fullmatch(text):
        text = f"{text}-01-01"[:10]
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _ip_address(text: str) -> str | None:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return f"{text!r} is not an IP address"
    return None


def _cidr(text: str) -> str | None:
    try:
        if "/" in text:
            ipaddress.ip_network(text, strict=False)
            return None
    except ValueError:
        pass
    return f"{text!r} is not a range of IP addresses, such as 10.0.0.0/24"


def _ip_or_cidr(text: str) -> str | None:
    if _ip_address(text) is None or _cidr(text) is None:
        return None
    return f"{text!r} is neither an IP address nor a range of them"


def _mac_address(text: str) -> str | None:
    return None if _MAC_ADDRESS.fullmatch(text) else f"{text!r} is not a MAC address"


def _dns_name(text: str) -> str | None:
    bare = text.removesuffix(".")
    if len(bare) > _LONGEST_NAME:
        return f"the name has {len(bare)} characters, more than {_LONGEST_NAME}"
    labels = bare.split(".")
    for label in labels:
        if not _LABEL.fullmatch(label):
            return (
                f"{text!r} is not a domain name: its part {label!r} must be 1 to 63 lower-case letters, digits and "
                "hyphens, with no hyphen at either end"
            )
    if text.endswith(".") and len(labels) > 1 and labels[-1].isdigit():
        return f"{text!r} is not a domain name: its last part has digits only"
    return None


def _relative_dns_name(text: str) -> str | None:
    if text.endswith("."):
        return f"{text!r} ends with a dot; a relative name must not"
    if len(text) > _LONGEST_RELATIVE_NAME:
        return f"the name has {len(text)} characters, more than {_LONGEST_RELATIVE_NAME}"
    return _dns_name(text)


def _dns_domain(text: str) -> str | None:
    return _dns_name(text) if text.endswith(".") else f"{text!r} does not end with a dot"


def _timezone(text: str) -> str | None:
    try:
        zoneinfo.ZoneInfo(text)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return f"{text!r} is not a known time zone, such as Europe/Paris"
    return None


def _iso_8601(text: str) -> str | None:
    return None if parse_time(text) else f"{text!r} is not a time in ISO 8601 form"


def _json_text(text: str) -> str | None:
    try:
        read_json(text)
    except ValueError as error:
        return f"the string is not JSON: {error}"
    return None


def _queue_name(text: str) -> str | None:
    return None if 1 <= len(text) <= _LONGEST_QUEUE_NAME else "a queue's name must have 1 to 64 characters"


def _anything(text: str) -> str | None:
    return None


FORMS: Checks = {
    "cron_expression": Form(cron_problem, empty_allowed=True),
    "dns_domain": Form(_dns_domain, empty_allowed=True),
    "dns_name": Form(_dns_name, empty_allowed=True),
    "expiration": Expiration(SystemClock()),
    "ip_addr": Form(_ip_address),
    "ip_or_cidr": Form(_ip_or_cidr),
    "iso_8601": Form(_iso_8601),
    "json_string": Form(_json_text, empty_allowed=True),
    "mac_addr": Form(_mac_address),
    "net_cidr": Form(_cidr),
    "nova.network": Form(_anything),
    "rel_dns_name": Form(_relative_dns_name, empty_allowed=True),
    "test_constr": Form(_anything),
    "timezone": Form(_timezone, empty_allowed=True),
    "zaqar.queue": Form(_queue_name),
}
