"""What all collections of the key manager have in common over HTTP: bodies, pages, references, errors.

No error message contains a value of a request, because the value may be the payload of a secret.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from stoker.emulator.core import fields
from stoker.emulator.core.component import MICROSECONDS
from stoker.emulator.core.errors import ApiError, bad_request
from stoker.emulator.core.http import Query, Request, Response
from stoker.emulator.core.store import Record

DEFAULT_PAGE, LARGEST_PAGE = 10, 100
Forms = Mapping[str, fields.Check]
View = Callable[[str, Record], dict[str, Any]]
"""Makes the public form of a record; the first argument is the URL of the service."""


def error_body(error: ApiError) -> dict[str, Any]:
    return {"code": error.status, "title": error.title, "description": error.message}


def object_of(request: Request) -> dict[str, Any]:
    """The JSON object in the request's body.

    Raises: ApiError 415 for another content type, 400 for other JSON.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise ApiError(415, "Unexpected content type. Expected content types are: ['application/json']")
    body = request.json
    if not isinstance(body, dict):
        raise bad_request("The request body must be a JSON object.")
    return body


def check(schema: str, body: Mapping[str, Any], forms: Forms, required: Sequence[str] = ()) -> None:
    """Raise ApiError 400 for an object that lacks a field or has a wrong one. Unknown fields are ignored."""
    prefix = f"Provided object does not match schema '{schema}'"
    for name in required:
        if body.get(name) is None:
            raise bad_request(f"{prefix}: '{name}' is a required property. Invalid property: '{name}'")
    for name, form in forms.items():
        if name in body and form(body[name]) is not None:
            raise bad_request(f"{prefix}: the value has a wrong type or range. Invalid property: '{name}'")


def number(minimum: int, maximum: int) -> fields.Check:
    """An integer in a range; not a string of one."""

    def check_number(value: Any) -> str | None:
        good = isinstance(value, int) and not isinstance(value, bool) and minimum <= value <= maximum
        return None if good else "not such a number"

    return check_number


def expiration_of(text: str | None, now: datetime) -> str | None:
    """A future time, as the service stores it: in UTC, without an offset. Raises ApiError 400."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise bad_request("Invalid date for 'expiration': it must be in ISO 8601 format.") from None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    if moment <= now:
        raise bad_request("'expiration' is before current time.")
    return moment.strftime(MICROSECONDS)


def reference(base: str, collection: str, key: str) -> str:
    """The URL of an object, by which clients refer to it."""
    return f"{base}/v1/{collection}/{key}"


def key_in(url: Any) -> str:
    """The ID in a reference; "" in what is none."""
    return url.rstrip("/").rpartition("/")[2] if isinstance(url, str) else ""


def listed(request: Request, name: str, rows: Sequence[Record], view: View) -> Response:
    """A page of records: `limit` (10, at most 100) of them after the first `offset`, with links to its neighbours.

    Values that are not numbers are taken as absent, as Barbican does.
    """
    offset = _number(request.query, "offset") or 0
    limit = min(_number(request.query, "limit") or DEFAULT_PAGE, LARGEST_PAGE)
    body: dict[str, Any] = {
        name: [view(request.base, row) for row in rows[offset : offset + limit]],
        "total": len(rows),
    }
    if offset:
        body["previous"] = _page_url(request, max(offset - limit, 0), limit)
    if offset + limit < len(rows):
        body["next"] = _page_url(request, offset + limit, limit)
    return Response(body)


def _page_url(request: Request, offset: int, limit: int) -> str:
    kept = [(name, value) for name, value in request.query.pairs if name not in ("limit", "offset")]
    return f"{request.url}?{urlencode([*kept, ('limit', limit), ('offset', offset)])}"


def _number(query: Query, name: str) -> int | None:
    value = query.get(name) or ""
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else None
