"""Lists as Zun has them."""

from __future__ import annotations

from collections.abc import Sequence

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.objects import LISTED_BY, View, missing, page_response
from openstack_emulator.core.store import R


def list_response(
    request: Request, members: str, title: str, rows: Sequence[R], view: View[R], filters: Sequence[str] = ()
) -> Response:
    """Return a page of a list: `{members: […], next: url or null}`. Raises ApiError 400, and 404 for a marker."""
    unknown = [name for name, _ in request.query.pairs if name not in LISTED_BY.union(filters)]
    if unknown:
        raise bad_request(f"Unknown parameters: {', '.join(unknown)}")
    limit = request.query.get("limit", "1")
    if limit is None or not limit.isdecimal() or int(limit) == 0:
        raise bad_request("Limit must be positive integer")
    found = page_response(request, members, rows, view, filters, missing(title))
    return Response({"next": None, **found.body})
