"""Requests and errors in the form of Zaqar: titles of errors, bodies, numbers in queries, links of lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request
from openstack_emulator.core.typed import Readable
from openstack_emulator.messaging.rules.checks import INVALID_BODY

MOST_AT_ONCE = 20
"""Messages posted, listed or popped by one request."""
DEFAULT_PAGE = 10


def json_of(request: Request) -> object:
    """The decoded body of a request. Raises ApiError 400."""
    try:
        return request.json
    except ApiError:
        raise bad_request("Request body could not be parsed.", INVALID_BODY) from None


def object_of(request: Request) -> dict[str, Any]:
    """The JSON object in a request's body, {} if that is empty. Raises ApiError 400."""
    body = json_of(request) if request.body else {}
    if not isinstance(body, dict):
        raise bad_request("The request body must be a JSON object.", INVALID_BODY)
    return body


def integer_in(request: Request, name: str) -> int | None:
    """The integer in a query, None if it is absent. Raises ApiError 400."""
    value = request.query.get(name)
    try:
        return None if value is None else int(value)
    except ValueError:
        message = f'The "{name}" parameter is invalid. The value must be an integer.'
        raise bad_request(message, "Invalid parameter") from None


def page_size(request: Request) -> int:
    """Return how many objects a page of a list has. Raises ApiError 400."""
    limit = integer_in(request, "limit")
    if limit is not None and not 1 <= limit <= MOST_AT_ONCE:
        raise bad_request(f"Limit must be at least 1 and no greater than {MOST_AT_ONCE}.")
    return limit or DEFAULT_PAGE


def links_after(request: Request, shown: Sequence[Readable], key: str) -> list[dict[str, str]]:
    """The links of a page: one to what follows the last row, whether there is more or not; none for an empty page.

    key: the field whose value is the marker.
    """
    return [{"rel": "next", "href": request.next_url(str(row.get(key)))} for row in shown[-1:]]
