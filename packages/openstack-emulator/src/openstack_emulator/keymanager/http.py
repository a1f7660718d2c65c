"""What all collections of the key manager have in common over HTTP: bodies, pages, references, errors.

Error messages contain the wrong values of a request, as Barbican's do, except those of `SENSITIVE` fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from openstack_emulator.core import fields
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Query, Request, Response
from openstack_emulator.core.store import Record

DEFAULT_PAGE, LARGEST_PAGE = 10, 100
SECONDS = "%Y-%m-%dT%H:%M:%S"
"""The service's form of times: in UTC, without an offset and without fractions."""
SENSITIVE = frozenset({"payload", "pass_phrase"})
"""Fields whose values never appear in an error message."""
Forms = Mapping[str, fields.Check]
View = Callable[[str, Record], dict[str, Any]]
"""Makes the public form of a record; the first argument is the URL of the service."""


class KeyManagerComponent(Component):
    """A part of the key manager, with its form of times."""

    def moment(self) -> str:
        return self.records.timestamp(SECONDS)


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


def check(
    schema: str, body: Mapping[str, Any], forms: Forms, required: Sequence[str] = (), within: str | None = None
) -> None:
    """Raise ApiError 400 for an object that lacks a field or has a wrong one. Unknown fields are ignored.

    schema: as in `mismatch`. within: the field of the request's body that has the object, None for the body itself;
    the error names it in place of the object's own fields.
    """
    for name in required:
        if body.get(name) is None:
            raise mismatch(schema, f"'{name}' is a required property", within)
    for name, form in forms.items():
        if name in body and (problem := form(body[name])) is not None:
            shown = "the value has a wrong type or range" if name in SENSITIVE else problem
            raise mismatch(schema, shown, within or name)


def mismatch(schema: str, problem: str, name: str | None) -> ApiError:
    """The 400 for a body that does not match a schema.

    schema: its name in quotes, with what it is part of: `'Secret' within 'Order'`.
    name: the property with the problem; None for a problem of the whole object.
    """
    return bad_request(f"Provided object does not match schema {schema}: {problem}. Invalid property: '{name}'")


def number(minimum: int, maximum: int) -> fields.Check:
    """An integer in a range; not a string of one."""

    def check_number(value: Any) -> str | None:
        if not isinstance(value, int) or isinstance(value, bool):
            return f"{value!r} is not of type 'integer'"
        if value < minimum:
            return f"{value!r} is less than the minimum of {minimum}"
        return None if value <= maximum else f"{value!r} is greater than the maximum of {maximum}"

    return check_number


def object_value(value: Any) -> str | None:
    """A JSON object."""
    return None if isinstance(value, dict) else f"{value!r} is not of type 'object'"


def expiration_of(schema: str, text: str | None, now: datetime) -> str | None:
    """A future time, as the service stores it. Raises ApiError 400 with the name of the schema."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise mismatch(schema, "Invalid date for 'expiration'", "expiration") from None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    if moment <= now:
        raise mismatch(schema, "'expiration' is before current time", "expiration")
    return moment.strftime(SECONDS)


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
    return f"{request.url}?{urlencode([('limit', limit), ('offset', offset), *kept])}"


def _number(query: Query, name: str) -> int | None:
    value = query.get(name) or ""
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else None
