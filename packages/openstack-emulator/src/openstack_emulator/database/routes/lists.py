"""Answers to requests for lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.paging import page
from openstack_emulator.core.store import R

LARGEST_PAGE = 20


def list_response(
    request: Request, name: str, rows: Sequence[R], view: Callable[[R], Any], key: str = "id"
) -> Response:
    """A page of records: `limit` (at most 20) after the row whose `key` is `marker`, with a link to the next."""
    marker = request.query.get("marker")
    if not any(
        row.get(key) == marker for row in rows
    ):  # Trove begins with the first row for a marker that is not there
        request.query.pairs[:] = [pair for pair in request.query.pairs if pair[0] != "marker"]
    found = page(rows, request.query, LARGEST_PAGE, key)
    body: dict[str, Any] = {name: [view(row) for row in found.rows]}
    if found.truncated and found.next_marker is not None:
        body["links"] = [{"rel": "next", "href": request.next_url(found.next_marker)}]
    return Response(body)
