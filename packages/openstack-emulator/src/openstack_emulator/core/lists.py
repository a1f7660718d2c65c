"""Answers to requests for lists, as Cinder and Manila give them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.filters import Filter
from openstack_emulator.core.http import Query, Request, Response, Version
from openstack_emulator.core.paging import Order, page, ranked, unknown_marker
from openstack_emulator.core.store import R


def check_numbers(query: Query, names: Collection[str]) -> None:
    """Refuse parameters that are no integers, or negative. Raises ApiError 400."""
    for name in names:
        value = query.get(name)
        if value is not None and not value.removeprefix("-").isdecimal():
            raise bad_request(f"{name} param must be an integer")
        if value is not None and int(value) < 0:
            raise bad_request(f"{name} param must be positive")


def matching(rows: Iterable[R], filters: Mapping[str, Filter], query: Query) -> list[R]:
    """The rows that all filters accept that the query has values for."""
    tests = [(test, value) for name, test in filters.items() if (value := query.get(name)) is not None]
    return [row for row in rows if all(test(row, value) for test, value in tests)]


def page_response(
    request: Request,
    plural: str,
    rows: Sequence[R],
    order: Order,
    view: Callable[[R], dict[str, object]],
    counted: Version,
    linked: bool = False,
    missing: Callable[[str], ApiError] = unknown_marker,
) -> Response:
    """One page of the rows, in an order, under their name in the plural.

    counted: the first microversion with the number of all rows, for requests that ask for it. linked: whether there is
    a link to the next page. missing: makes the error for a marker that is not in the list.
    """
    query = request.query
    shown = page(ranked(rows, order)[query.integer("offset") or 0 :], query, missing=missing)
    body: dict[str, Any] = {plural: [view(row) for row in shown.rows]}
    if linked and shown.next_marker is not None:
        body[f"{plural}_links"] = shown.links(request)
    if request.version >= counted and query.boolean("with_count"):
        body["count"] = len(rows)
    return Response(body)
