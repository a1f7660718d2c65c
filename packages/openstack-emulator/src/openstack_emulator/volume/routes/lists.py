"""Lists of the block-storage service: order and pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlencode

from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.filters import Filter, equal
from openstack_emulator.core.http import Query, Request, Response
from openstack_emulator.core.lists import check_numbers, matching, page_response
from openstack_emulator.core.paging import order_of
from openstack_emulator.core.store import R

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
COMMON = frozenset(
    {"all_tenants", "limit", "marker", "offset", "project_id", "sort", "sort_dir", "sort_key", "with_count"}
)
"""Parameters of every list."""
RENAMED = {"display_name": "name"}


def list_response(
    request: Request,
    plural: str,
    rows: Sequence[R],
    filters: Mapping[str, Filter],
    view: Callable[[R], dict[str, object]],
) -> Response:
    """The answer: filtered, ordered, one page of it, with the link to the next."""
    query = request.query
    check_numbers(query, ("limit",))
    found = matching(rows, _tests(request, filters), query)
    kind = plural.removesuffix("s").capitalize()
    return page_response(
        request,
        plural,
        found,
        order_of(_sorting(query)),
        view,
        counted=(3, 45),
        linked=True,
        missing=lambda key: not_found(f"{kind} {key} could not be found."),
    )


def _tests(request: Request, filters: Mapping[str, Filter]) -> dict[str, Filter]:
    """The filters that a query names. Raises ApiError 400 for those of members that the list does not have.

    Administrators may name any field; nothing has one that does not exist. Before 3.31, unknown filters of members are
    ignored.
    """
    tests: dict[str, Filter] = {}
    unknown = []
    for name, _ in request.query.pairs:
        if name in COMMON or not filters:
            continue
        if name in filters:
            tests[name] = filters[name]
        elif request.context.is_admin:
            tests[name] = equal(name)
        else:
            unknown.append(name)
    if unknown and request.version >= (3, 31):
        raise bad_request(f"Invalid filters {', '.join(unknown)} are found in query options.")
    return tests


def _sorting(query: Query) -> Query:
    """The order asked for, in the names that records have; 400 for a field that nothing is sorted by."""
    known = []
    for name, value in query.pairs:
        if name == "sort_key":
            known.append((name, _sortable(value)))
        elif name == "sort":
            parts = (part.partition(":") for part in value.split(","))
            ways = [(_sortable(key), colon, way) for key, colon, way in parts]
            if any(way not in ("", "asc", "desc") for _, _, way in ways):
                raise bad_request("Invalid input received: Unknown sort direction, must be 'desc' or 'asc'.")
            known.append((name, ",".join(f"{key}{colon}{way}" for key, colon, way in ways)))
        elif name == "sort_dir":
            known.append((name, value))
    return Query(urlencode(known))


def _sortable(field: str) -> str:
    name = RENAMED.get(field, field)
    if name not in SORTABLE:
        raise bad_request("Invalid input received: Invalid sort key")
    return name
