"""Objects that are found by UUID or name, and lists of them, as Magnum and Zun have them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlencode

from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Context, Request, Response, Version
from openstack_emulator.core.paging import ordered, page, unknown_marker
from openstack_emulator.core.store import R, T, Table
from openstack_emulator.core.typed import TypedRecord
from openstack_emulator.core.validation.fields import identifier

TIMESTAMP = "%Y-%m-%dT%H:%M:%S+00:00"
LISTED_BY = {"limit", "marker", "sort_key", "sort_dir"}
View = Callable[[str, R], dict[str, object]]
"""Makes the public form of a record; the first argument is the URL of the service."""


def writer(request: Request) -> Context:
    """Return the caller, who may change objects. Raises ApiError 403 for one who may only read."""
    request.context.require("member")
    return request.context


def reader(request: Request) -> Context:
    """Return the caller, who may see objects. Raises ApiError 403 for one without a role in the project."""
    request.context.require("reader", "member")
    return request.context


def require_version(request: Request, least: Version) -> None:
    """Hide a route from microversions before the one that has it. Raises ApiError 404."""
    if request.version < least:
        raise not_found("The resource could not be found.")


def by_name_or_id(rows: Table[T], title: str, key: str, visible: Callable[[T], bool]) -> T:
    """Return the record with an ID or name that the caller may see. Raises ApiError 404, or 409 for several."""
    record = rows.get(key)
    if record is not None and visible(record):
        return record
    found = [row for row in rows.select(name=key) if visible(row)]
    if len(found) > 1:
        raise conflict(f"Multiple {title}s exist with same name. Please use the {title} uuid instead.", "conflict")
    if not found:
        raise missing(title)(key)
    return found[0]


def missing(title: str) -> Callable[[str], ApiError]:
    """Return what makes the 404 of a kind of object."""
    kind = f"{title.lower().replace(' ', '-')}-not-found"
    return lambda key: not_found(f"{title[:1].upper()}{title[1:]} {key} could not be found.", kind)


def page_response(
    request: Request,
    members: str,
    rows: Sequence[R],
    view: View[R],
    filters: Sequence[str] = (),
    missing: Callable[[str], ApiError] = unknown_marker,
) -> Response:
    """Return a page of a list: `{members: […], next: url}`.

    missing: makes the error for a marker that does not exist.

    Raises: ApiError, that one, or 400 for an unknown parameter: Magnum does not filter lists by fields of the objects.
    """
    known = LISTED_BY.union(filters)
    if unknown := [name for name, _ in request.query.pairs if name not in known]:
        raise bad_request(f'Unknown argument: "{unknown[0]}"')
    query = request.query
    if (limit := query.get("limit")) is not None:
        _check_limit(limit)
    sort_key, direction, marker = query.get("sort_key", "id"), query.get("sort_dir", "asc"), query.get("marker")
    if rows and sort_key not in _fields(rows[0]):
        raise bad_request(f'The sort_key value "{sort_key}" is an invalid field for sorting', "invalid-parameter-value")
    if direction not in ("asc", "desc"):
        raise bad_request(f"Invalid sort direction: {direction}. Acceptable values are 'asc' or 'desc'")
    if marker is not None and identifier(marker) is not None:
        raise _unreadable("marker", marker, f"unable to convert to uuid. Error: Expected a uuid but received {marker}.")
    if sort_key != "id":
        rows = ordered(rows, query)
    elif direction == "desc":  # the ID is meant that the service has in its database, which grows with each object
        rows = rows[::-1]
    found = page(rows, query, missing=missing)
    body: dict[str, Any] = {members: [view(request.base, row) for row in found.rows]}
    if found.truncated and found.next_marker is not None:
        sort = {"sort_key": sort_key, "sort_dir": direction, "limit": limit}
        parameters = {name: value for name, value in query.pairs if name not in LISTED_BY}
        body["next"] = f"{request.url}?{urlencode({**parameters, **sort, 'marker': found.next_marker})}"
    return Response(body)


def _fields(record: Any) -> set[str]:
    """The names of the fields of a record that clients may know."""
    stored = record.to_json() if isinstance(record, TypedRecord) else record
    return {name for name in stored if not name.startswith("_")}


def _check_limit(limit: str) -> None:
    try:
        number = int(limit)
    except ValueError as error:
        raise _unreadable("limit", limit, f"unable to convert to int. Error: {error}") from None
    if number <= 0:
        raise bad_request("Limit must be positive")


def _unreadable(name: str, value: str, problem: str) -> ApiError:
    return bad_request(f"Invalid input for field/attribute {name}. Value: '{value}'. {problem}")


def links(base: str, collection: str, key: str) -> list[dict[str, str]]:
    """Return the links of an object."""
    return [
        {"href": f"{base}/v1/{collection}/{key}", "rel": "self"},
        {"href": f"{base}/{collection}/{key}", "rel": "bookmark"},
    ]
