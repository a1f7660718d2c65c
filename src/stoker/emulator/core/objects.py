"""Objects that are found by UUID or name, and lists of them, as Magnum and Zun have them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stoker.emulator.core.errors import ApiError, bad_request, conflict, not_found
from stoker.emulator.core.http import Context, Request, Response, Version
from stoker.emulator.core.paging import ordered, page
from stoker.emulator.core.store import Collection, Record

TIMESTAMP = "%Y-%m-%dT%H:%M:%S+00:00"
LISTED_BY = {"limit", "marker", "sort_key", "sort_dir"}
View = Callable[[str, Record], dict[str, Any]]
"""Makes the public form of a record; the first argument is the URL of the service."""


def writer(request: Request) -> Context:
    """Return the caller, who may change objects. Raises ApiError 403 for one who may only read."""
    request.context.require("member")
    return request.context


def require_version(request: Request, least: Version) -> None:
    """Hide a route from microversions before the one that has it. Raises ApiError 404."""
    if request.version < least:
        raise not_found("The resource could not be found.")


def by_name_or_id(rows: Collection, title: str, key: str, visible: Callable[[Record], bool]) -> Record:
    """Return the record with an ID or name that the caller may see. Raises ApiError 404, or 409 for several."""
    record = rows.get(key)
    if record is not None and visible(record):
        return record
    found = [row for row in rows.select(name=key) if visible(row)]
    if len(found) > 1:
        raise conflict(f"Multiple {title}s exist with same name. Please use the {title} uuid instead.")
    if not found:
        raise missing(title)(key)
    return found[0]


def missing(title: str) -> Callable[[str], ApiError]:
    """Return what makes the 404 of a kind of object."""
    return lambda key: not_found(f"{title[:1].upper()}{title[1:]} {key} could not be found.")


def listed(request: Request, members: str, rows: Sequence[Record], view: View, filters: Sequence[str] = ()) -> Response:
    """Return a page of a list: `{members: […], next: url}`.

    Raises: ApiError 400 for an unknown parameter: Magnum does not filter lists by fields of the objects.
    """
    known = LISTED_BY.union(filters)
    if unknown := [name for name, _ in request.query.pairs if name not in known]:
        raise bad_request(f'Unknown argument: "{unknown[0]}"')
    if request.query.get("limit") == "0":
        raise bad_request("Limit must be positive")
    sort_key = request.query.get("sort_key")
    if sort_key is not None and rows and sort_key not in rows[0]:
        raise bad_request(f'The sort_key value "{sort_key}" is invalid for sorting')
    found = page(ordered(rows, request.query), request.query)
    body: dict[str, Any] = {members: [view(request.base, row) for row in found.rows]}
    if found.truncated and found.next_marker is not None:
        body["next"] = request.next_url(found.next_marker)
    return Response(body)


def links(base: str, collection: str, key: str) -> list[dict[str, str]]:
    """Return the links of an object."""
    return [
        {"href": f"{base}/v1/{collection}/{key}", "rel": "self"},
        {"href": f"{base}/{collection}/{key}", "rel": "bookmark"},
    ]
