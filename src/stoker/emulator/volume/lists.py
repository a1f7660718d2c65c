"""Lists of the block-storage service: order and pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from stoker.emulator.core.errors import ApiError, bad_request, not_found
from stoker.emulator.core.filters import Filter
from stoker.emulator.core.http import Query, Request, Response
from stoker.emulator.core.paging import ordered, page
from stoker.emulator.core.store import Record

SORTABLE = frozenset(
    {
        "id",
        "name",
        "status",
        "size",
        "bootable",
        "availability_zone",
        "created_at",
        "updated_at",
        "volume_id",
        "snapshot_id",
        "volume_type_id",
        "project_id",
        "user_id",
        "event_id",
        "message_level",
        "request_id",
        "resource_type",
        "resource_uuid",
        "reference",
        "host",
    }
)
RENAMED = {"display_name": "name"}


def listing(
    request: Request,
    plural: str,
    rows: list[Record],
    filters: Mapping[str, Filter],
    view: Callable[[Record], dict[str, Any]],
) -> Response:
    """The answer: filtered, ordered, one page of it, with the link to the next."""
    query = request.query
    for name, test in filters.items():
        if (wanted := query.get(name)) is not None:
            rows = [row for row in rows if test(row, wanted)]
    total = len(rows)
    rows = ordered(rows, _sorting(query))[query.integer("offset") or 0 :]
    shown = page(rows, query, missing=_unknown_marker)
    body: dict[str, Any] = {plural: [view(row) for row in shown.rows]}
    if shown.next_marker is not None:
        body[f"{plural}_links"] = shown.links(request)
    if request.version >= (3, 45) and query.boolean("with_count"):
        body["count"] = total
    return Response(body)


def _sorting(query: Query) -> Query:
    """The order asked for, in the names that records have; 400 for a field that nothing is sorted by."""
    known = []
    for name, value in query.pairs:
        if name == "sort_key":
            known.append((name, _sortable(value)))
        elif name == "sort":
            parts = (part.partition(":") for part in value.split(","))
            known.append((name, ",".join(f"{_sortable(key)}{colon}{way}" for key, colon, way in parts)))
        elif name == "sort_dir":
            known.append((name, value))
    return Query(urlencode(known))


def _sortable(field: str) -> str:
    name = RENAMED.get(field, field)
    if name not in SORTABLE:
        raise bad_request(f"Invalid input received: Invalid sort key: {field}.")
    return name


def _unknown_marker(marker: str) -> ApiError:
    return not_found(f"The marker {marker} could not be found.")
