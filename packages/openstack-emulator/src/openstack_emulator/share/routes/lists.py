"""Lists of the shared file systems service: filtered, ordered, and one page of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime

from openstack_emulator.core.filters import Filter, contains, equal
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.lists import check_numbers, matching, page_response
from openstack_emulator.core.store import R
from openstack_emulator.share.rules.errors import invalid_input

COMMON: Mapping[str, Filter] = {
    "name": equal("name"),
    "display_name": equal("name"),
    "description": equal("description"),
    "display_description": equal("description"),
    "status": equal("status"),
}
SINCE_LIKE = (2, 36)
LIKE: Mapping[str, Filter] = {"name~": contains("name"), "description~": contains("description")}
"""Filters that exist since microversion 2.36."""
RENAMED = {"display_name": "name", "share_type": "share_type_id", "share_network": "share_network_id",
           "snapshot": "snapshot_id"}  # fmt: skip
SORTABLE = frozenset({"id", "name", "status", "size", "host", "share_proto", "availability_zone", "user_id",
                      "project_id", "created_at", "updated_at", "share_type_id", "share_network_id", "snapshot_id",
                      "share_id", "share_size", "resource_id", "resource_type", "action_id", "detail_id",
                      "message_level", "expires_at"})  # fmt: skip


def created_within(
    request: Request, rows: Collection[R], read: Callable[[str], datetime] = datetime.fromisoformat
) -> list[R]:
    """The rows between the query's `created_since` and `created_before`.

    read: parses these; raises ValueError for other strings, which are refused with ApiError 400.
    """
    since, before = (_moment(request.query.get(name), read) for name in ("created_since", "created_before"))
    found = [(datetime.fromisoformat(row.get("created_at")), row) for row in rows]
    return [
        row
        for created_at, row in found
        if (since is None or created_at >= since) and (before is None or created_at <= before)
    ]


def _moment(value: str | None, read: Callable[[str], datetime]) -> datetime | None:
    try:
        moment = None if value is None else read(value)
    except ValueError:
        raise invalid_input(f"{value} is not a date or time") from None
    return moment if moment is None or moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


def list_response(
    request: Request,
    plural: str,
    rows: Collection[R],
    filters: Mapping[str, Filter],
    view: Callable[[R], dict[str, object]],
) -> Response:
    """The answer to a list request: the newest records first unless it asks for another order."""
    query = request.query
    check_numbers(query, ("limit", "offset"))
    found = matching(rows, {**filters, **(LIKE if request.version >= SINCE_LIKE else {})}, query)
    key = query.get("sort_key") or "created_at"
    direction = query.get("sort_dir") or "desc"
    field = RENAMED.get(key, key)
    if field not in SORTABLE:
        raise invalid_input(f"Wrong sorting key provided - '{key}'")
    if direction not in ("asc", "desc"):
        raise invalid_input(f"Wrong sorting direction provided - '{direction}'")
    if direction == "desc":
        found.reverse()  # records of the same moment: the newest first, too
    return page_response(request, plural, found, [(field, direction == "desc")], view, counted=(2, 42))
