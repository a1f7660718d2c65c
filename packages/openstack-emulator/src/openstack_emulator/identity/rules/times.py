"""Times of day as requests give them."""

from __future__ import annotations

from datetime import UTC, datetime

from openstack_emulator.core.errors import bad_request
from openstack_emulator.identity.rules.errors import MALFORMED


def parse_time(value: str) -> float | None:
    """Seconds since the epoch of an ISO 8601 time, UTC when it names no zone; None when it is none."""
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError:
        return None
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()


def future(value: str, now: float) -> float:
    """Seconds since the epoch of a time that is to come. Raises ApiError 400 for others."""
    expires = parse_time(value)
    if expires is None:
        raise bad_request(f"Timestamp not in expected format. {MALFORMED}")
    if expires <= now:
        raise bad_request(f"The 'expires_at' must not be before now. {MALFORMED}")
    return expires
