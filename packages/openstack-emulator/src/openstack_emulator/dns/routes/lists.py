"""Answers to requests for lists."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Query, Request, Response
from openstack_emulator.core.paging import ordered, page
from openstack_emulator.core.store import R
from openstack_emulator.core.typed import Readable

DEFAULT_LIMIT, LARGEST_LIMIT = 20, 1000
_PAGING = frozenset({"limit", "marker", "sort_key", "sort_dir"})


def list_response(
    request: Request,
    members: str,
    rows: Iterable[R],
    view: Callable[[Request, R], dict[str, Any]],
    filters: Collection[str] = (),
    sort_keys: Collection[str] = (),
) -> Response:
    """Return a page of a list: `{<members>: […], links: {self, next}, metadata: {total_count}}`.

    filters: fields that the query can compare; `*` in a value stands for any characters.
    sort_keys: fields by which the list can be sorted, besides those of all lists; the filters without any.

    Raises: ApiError 400 for an unknown filter or sort key, and for an invalid limit or marker.
    """
    query = request.query
    if unknown := [name for name, _ in query.pairs if name not in filters and name not in _PAGING]:
        raise ApiError(400, f"Invalid filters {', '.join(unknown)}")
    _check_sorting(query, ("created_at", "id", "updated_at", *(sort_keys or (*filters, "tenant_id"))))
    found = ordered([row for row in rows if _matches(query, row, filters)], query, (("created_at", False),))
    limit = _limit(query)
    shown = page(found, Query(_with_limit(query, limit)), LARGEST_LIMIT, missing=_unknown_marker)
    links = {"self": f"{request.url}?{request.query_string}" if request.query_string else request.url}
    if shown.next_marker is not None:
        links["next"] = request.next_url(shown.next_marker)
    objects = [view(request, row) for row in shown.rows]
    return Response({members: objects, "links": links, "metadata": {"total_count": len(found)}})


def _limit(query: Query) -> int:
    value = query.get("limit")
    if value is None:
        return DEFAULT_LIMIT
    if value.lower() == "max":
        return LARGEST_LIMIT
    if not value.isascii() or not value.isdigit() or not 1 <= int(value[:10]) <= LARGEST_LIMIT:
        raise ApiError(400, f"limit should be an integer between 1 and {LARGEST_LIMIT}", "invalid_limit")
    return int(value)


def _with_limit(query: Query, limit: int) -> str:
    marker = query.get("marker")
    return f"limit={limit}" + (f"&marker={marker}" if marker else "")


def _unknown_marker(marker: str) -> ApiError:
    return ApiError(400, f"Marker {marker} could not be found", "marker_not_found")


def _check_sorting(query: Query, names: Collection[str]) -> None:
    for key in query.all("sort_key"):
        if key not in names:
            raise ApiError(400, f"sort key must be one of {list(names)}", "invalid_sort_key")
    for direction in query.all("sort_dir"):
        if direction not in ("asc", "desc"):
            raise ApiError(400, f"sort direction {direction!r} is not valid", "invalid_sort_dir")


def _matches(query: Query, row: Readable, filters: Collection[str]) -> bool:
    return all(_compared(row.get(name), query.all(name)) for name in filters if name in query)


def _compared(value: object, expected: Collection[str]) -> bool:
    have = [
        str(field_value).lower()
        for field_value in (value if isinstance(value, list) else [value])
        if field_value is not None
    ]
    return any(_is_like(field_value, pattern.lower()) for pattern in expected for field_value in have)


def _is_like(text: str, pattern: str) -> bool:
    """Return whether a string is what a pattern describes, in which `*` stands for any characters."""
    first, *others = pattern.split("*")
    if not others:
        return text == pattern
    *middle, last = others
    if not text.startswith(first) or not text.endswith(last):
        return False
    start, end = len(first), len(text) - len(last)
    for part in middle:
        found = text.find(part, start, end)
        if found < 0:
            return False
        start = found + len(part)
    return start <= end
