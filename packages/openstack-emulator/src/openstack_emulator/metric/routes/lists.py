"""Answers to requests for lists."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from urllib.parse import urlencode

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.paging import ordered, page
from openstack_emulator.core.store import R
from openstack_emulator.core.validation.sentences import VOLUPTUOUS, sentence
from openstack_emulator.metric.rules.validation import integer, refusal


def list_response(
    request: Request, rows: Sequence[R], fields: Collection[str], view: Callable[[R], dict[str, object]]
) -> Response:
    """The page of a list that the query asks for, with a link to the next one.

    fields: those by which the list can be sorted.
    """
    query = request.query
    if (limit := query.get("limit")) and (problem := integer(1)(limit)) is not None:
        reason = f"{sentence(problem, VOLUPTUOUS)} for dictionary value @ data['limit']"
        raise refusal("Argument value error", reason=reason)
    keys = [part for part in (query.get("sort") or "").split(",") if part]
    for name in (part.partition(":")[0] for part in keys):
        if name not in fields:
            raise bad_request(f"Invalid pagination: `Sort key supplied is invalid: {name}'")
    found = page(ordered(rows, query), query, missing=_no_marker)
    headers = {}
    if limit and found.next_marker is not None:
        following = urlencode([("limit", limit), ("marker", found.next_marker), *(("sort", part) for part in keys)])
        headers["Link"] = f'<{request.base}{request.path.removeprefix("/metric")}?{following}>; rel="next"'
    return Response([view(row) for row in found.rows], 200, headers)


def _no_marker(marker: str) -> ApiError:
    return bad_request(f"Invalid pagination: `Invalid marker: `{marker}''")
