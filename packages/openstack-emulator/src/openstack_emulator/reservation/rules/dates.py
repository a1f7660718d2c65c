"""Dates as Blazar reads and writes them, in UTC; minutes are its smallest unit."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from openstack_emulator.core.errors import bad_request

READ = "%Y-%m-%d %H:%M"
WRITTEN = "%Y-%m-%dT%H:%M:%S.%f"
STAMP = "%Y-%m-%d %H:%M:%S"
"""The format of created_at and updated_at."""


def parse(value: Any, now: datetime) -> datetime:
    """Return the moment that a date in a request means; `now` is one. Raises ApiError 400."""
    if value == "now":
        return minute(now)
    try:
        return datetime.strptime(value, READ).replace(tzinfo=UTC)
    except (TypeError, ValueError):
        raise bad_request(f"{value} is an invalid date. Required format: {READ}") from None


def minute(moment: datetime) -> datetime:
    """Return the beginning of a moment's minute."""
    return moment.replace(second=0, microsecond=0)


def written(moment: datetime) -> str:
    """Return a moment as records and answers have it; such strings sort by time."""
    return moment.strftime(WRITTEN)


def read(text: str) -> datetime:
    """Return the moment that `written` wrote."""
    return datetime.strptime(text, WRITTEN).replace(tzinfo=UTC)
