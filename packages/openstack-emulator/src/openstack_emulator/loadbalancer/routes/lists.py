"""Lists of the load-balancer API: filtered by any field, in order, in pages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Query, Request, Response
from openstack_emulator.core.paging import ordered, page
from openstack_emulator.loadbalancer.rules.errors import OUTSIDE

NOT_FILTERS = frozenset({"fields", "limit", "marker", "page_reverse", "sort", "sort_dir", "sort_key"})
TAG_FILTERS: Mapping[str, Callable[[set[str], set[str]], bool]] = {
    "tags": lambda expected, present: expected <= present,
    "tags-any": lambda expected, present: bool(expected & present),
    "not-tags": lambda expected, present: not expected <= present,
    "not-tags-any": lambda expected, present: not expected & present,
}


def list_response(
    request: Request,
    members: str,
    rows: Iterable[dict[str, Any]],
    key: str = "id",
    filters: Collection[str] | None = None,
) -> Response:
    """The answer to a list: `{members: […], members_links: […]}`; rows are objects as the API shows them.

    filters: the fields that the query may compare; None for any.

    They are in the order of their creation, or of their keys if they have no time of creation.

    Raises: ApiError 400 for a wrong filter, limit, marker or order.
    """
    query = request.query
    _check_query(query, filters)
    matching = [row for row in rows if _matches_query(query, row)]
    default = () if any("created_at" in row for row in matching) else ((key, False),)
    found = page(ordered(matching, query, default), query, key=key, missing=_unknown)
    shown = [trimmed(row, query) for row in found.rows]
    return Response({members: shown, f"{members}_links": found.links(request)})


def trimmed(row: dict[str, object], query: Query) -> dict[str, object]:
    """Only the fields that the request asks for; all when it names none."""
    names = [name for value in query.all("fields") for name in value.split(",")]
    return {name: row[name] for name in names if name in row} if names else row


def _unknown(marker: str) -> ApiError:
    return bad_request(f"Supplied pagination marker '{marker}' is not valid.")


def _check_query(query: Query, filters: Collection[str] | None) -> None:
    limit = query.get("limit")
    if limit is not None and not (limit.isascii() and limit.isdigit()):
        raise ApiError(400, f"Supplied pagination limit '{limit}' is not valid.", OUTSIDE)
    known = {*NOT_FILTERS, *TAG_FILTERS, *(filters or ())}
    if filters is not None and any(name not in known for name, _ in query.pairs):
        raise bad_request("One or more arguments are either duplicate or invalid")


def _matches_query(query: Query, row: Mapping[str, Any]) -> bool:
    for name in dict.fromkeys(name for name, _ in query.pairs):
        values = query.all(name)
        if name in TAG_FILTERS:
            tags = {tag for value in values for tag in value.split(",")}
            if not TAG_FILTERS[name](tags, set(row.get("tags") or ())):
                return False
        elif name not in NOT_FILTERS and (field := _field(name, row)) in row and not _matches(row[field], values):
            return False
    return True


def _field(name: str, row: Mapping[str, object]) -> str:
    """The field that a filter compares: `loadbalancer_id` is the ID of one of the `loadbalancers`."""
    parents = f"{name.removesuffix('_id').replace('load_balancer', 'loadbalancer')}s"
    return parents if name not in row and name.endswith("_id") and parents in row else name


def _matches(value: object, expected: Sequence[str]) -> bool:
    if isinstance(value, list):
        return any(isinstance(reference, dict) and reference.get("id") in expected for reference in value)
    if isinstance(value, bool):
        return str(value).lower() in [word.lower() for word in expected]
    return ("" if value is None else str(value)) in expected
