"""Lists: order and pages, as most services have them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Query, Request
from openstack_emulator.core.store import R
from openstack_emulator.core.typed import plain

LARGEST_PAGE = 1000
Order = Sequence[tuple[str, bool]]
"""Fields, the most significant one first, each with whether it is descending."""


@dataclass(frozen=True)
class Page(Generic[R]):
    """Rows of one answer; `next_marker` is what the next page starts after, None when there is none.

    A full page has a next one even if that turns out empty: most services do not look beyond the page.
    `truncated` says whether more rows follow, for those that do.
    """

    rows: list[R]
    next_marker: str | None
    truncated: bool

    def links(self, request: Request) -> list[dict[str, str]]:
        """The value of `<plural>_links` as Nova, Cinder, Neutron and Octavia write it."""
        if self.next_marker is None:
            return []
        return [{"rel": "next", "href": request.next_url(self.next_marker)}]

    def body(self, request: Request, plural: str, view: Callable[[R], object]) -> dict[str, object]:
        """The views of the rows, with `<plural>_links` if there is a next page."""
        body: dict[str, object] = {plural: [view(row) for row in self.rows]}
        return body if self.next_marker is None else {**body, f"{plural}_links": self.links(request)}


def unknown_marker(marker: str) -> ApiError:
    """The 400 for a marker that is the ID of no object in the list."""
    return bad_request(f"The marker {marker} could not be found.")


def page(
    rows: Sequence[R],
    query: Query,
    largest: int = LARGEST_PAGE,
    key: str = "id",
    missing: Callable[[str], ApiError] = unknown_marker,
) -> Page[R]:
    """What follows `marker` (a value of the field `key`), at most `limit` and never more than `largest` rows.

    missing: makes the error for a marker that is not in the list.

    Raises: ApiError, that one, or 400 for a limit that is not a number.
    """
    start, marker = 0, query.get("marker")
    if marker:
        found = next((index for index, row in enumerate(rows) if row.get(key) == marker), None)
        if found is None:
            raise missing(marker)
        start = found + 1
    limit = query.integer("limit")
    size = largest if limit is None else min(limit, largest)
    shown = list(rows[start : start + size])
    full = bool(shown) and len(shown) == size
    return Page(shown, str(shown[-1].get(key)) if full else None, start + size < len(rows))


def ordered(rows: Sequence[R], query: Query, default: Order = ()) -> list[R]:
    """The rows in the order asked for: `sort=name:asc,size:desc`, or `sort_key` and `sort_dir`, repeated.

    Rows without a value come first. Ties stay as they are.
    """
    return ranked(rows, order_of(query) or default)


def ranked(rows: Sequence[R], order: Order) -> list[R]:
    """The rows in an order. Those without a value come first. Ties stay as they are."""
    result = list(rows)
    for field, descending in reversed(order):
        result.sort(key=lambda row: _rank(row.get(field)), reverse=descending)
    return result


def order_of(query: Query) -> Order:
    """The order that a query asks for. Raises ApiError 400 for an unknown direction."""
    if (combined := query.get("sort")) is not None:
        parts = [part.partition(":") for part in combined.split(",") if part]
        return [(field, _descending(direction)) for field, _, direction in parts]
    directions = query.all("sort_dir")
    return [
        (field, _descending(directions[index] if index < len(directions) else ""))
        for index, field in enumerate(query.all("sort_key"))
    ]


def _descending(direction: str) -> bool:
    if direction not in ("", "asc", "desc"):
        raise bad_request(f"Unknown sort direction '{direction}': it must be asc or desc.")
    return direction == "desc"


def _rank(value: object) -> tuple[int, object]:
    """A key that compares values of any type: None, then numbers, then strings."""
    if value is None:
        return (0, 0)
    return (1, value) if isinstance(value, int | float) else (2, str(plain(value)))
