"""How Manila refuses requests."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Query, Request


def invalid_input(reason: str) -> ApiError:
    """Return the 400 for a value that does not fit; the reason has no full stop."""
    return bad_request(f"Invalid input received: {reason}.")


def member(request: Request, key: str) -> dict[str, Any]:
    """Return the object under `key` of the body. Raises ApiError 400 when the body is not JSON, 422 without the key."""
    given = request.json
    value = given.get(key) if isinstance(given, dict) else None
    if not isinstance(value, dict):
        raise ApiError(422, "Unable to process the contained instructions")
    return value


def check_page(query: Query) -> None:
    """Refuse a `limit` or an `offset` that is no integer or negative. Raises ApiError 400."""
    for name in ("limit", "offset"):
        given = query.get(name)
        if given is None:
            continue
        try:
            number = int(given)
        except ValueError:
            raise bad_request(f"{name} param must be an integer") from None
        if number < 0:
            raise bad_request(f"{name} param must be positive")
