"""The list of stacks, and the record of one stack."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from urllib.parse import urlencode

import falcon

from stoker.console.exchange import Exchange
from stoker.console.gateway import Answer, segment, stack_path
from stoker.console.permissions import ADOPT, CREATE

_PAGE = 50
_SEARCHED = 200
"""Stacks in one request to the API while it is searched for a part of a name."""

DELETED = "DELETE_COMPLETE"
"""The state of a stack whose record is kept, but whose resources and snapshots are gone."""

STATUSES = ("IN_PROGRESS", "COMPLETE", "FAILED")
SORTS = {"name": "stack_name", "state": "stack_status", "created": "creation_time", "updated": "updated_time"}
"""The columns by which the list can be sorted, with the API's names."""


def index(exchange: Exchange) -> None:
    """Show the stacks of the project, page by page."""
    name, status, marker = exchange.query("name").strip(), exchange.query("status"), exchange.query("marker")
    status = status if status in STATUSES else ""
    sort = exchange.query("sort") if exchange.query("sort").removeprefix("-") in SORTS else ""
    query = {"status": status or None, "sort_keys": SORTS.get(sort.removeprefix("-")), "sort_dir": None}
    if sort:
        query["sort_dir"] = "desc" if sort.startswith("-") else "asc"
    count = None
    if name:
        page = list(islice(_named(exchange, name, query, marker), _PAGE))
    else:
        answer = exchange.api.get(
            "/stacks", {**query, "limit": _PAGE, "marker": marker or None, "with_count": "true"}
        )  # fmt: skip
        page, count = answer["stacks"], answer["count"]
    filters = {"name": name, "status": status, "sort": sort}
    following = {**filters, "marker": page[-1]["id"]} if len(page) == _PAGE else {}
    exchange.show(
        "stacks.html",
        stacks=page,
        count=count,
        following=_query(following),
        first=_query(filters),
        sorts={column: _query({**filters, "sort": f"-{column}" if sort == column else column}) for column in SORTS},
        sort=sort,
        name=name,
        status=status,
        statuses=STATUSES,
        marker=marker,
        create_refusal=exchange.permissions.refusal(*CREATE),
        adopt_refusal=exchange.permissions.refusal(*ADOPT),
    )


def _query(values: dict[str, str]) -> str:
    return urlencode({key: value for key, value in values.items() if value})


def _named(exchange: Exchange, part: str, query: Answer, marker: str) -> Iterator[Answer]:
    """Yield the stacks whose name contains `part`, or whose ID begins with it; upper and lower case are the same."""
    folded = part.casefold()
    while True:
        more = {**query, "limit": _SEARCHED, "marker": marker or None}
        stacks = exchange.api.get("/stacks", more)["stacks"]
        yield from (
            stack for stack in stacks if folded in stack["stack_name"].casefold() or stack["id"].startswith(folded)
        )
        if len(stacks) < _SEARCHED:
            return
        marker = stacks[-1]["id"]


def find(exchange: Exchange) -> None:
    """Continue with the page of the stack whose name or ID is in the URL; nested stacks are found by their ID."""
    name_or_id = exchange.path["stack_name"]
    for query in ({"id": name_or_id, "show_nested": "true"}, {"name": name_or_id}):
        for stack in exchange.api.get("/stacks", {**query, "limit": 1})["stacks"]:
            exchange.redirect(f"/stacks/{segment(stack['stack_name'])}/{segment(stack['id'])}")
            return
    raise falcon.HTTPNotFound(description=f"There is no stack {name_or_id} in this project.")


def ancestors(exchange: Exchange, stack: Answer) -> list[Answer]:
    """Return the stacks around a nested stack, the outermost first."""
    ancestry: list[Answer] = []
    parent = stack["parent"]
    while parent:
        stacks = exchange.api.get("/stacks", {"id": parent, "show_nested": "true", "limit": 1})["stacks"]
        ancestry[:0] = stacks
        parent = stacks[0]["parent"] if stacks else None
    return ancestry


def show_stack(exchange: Exchange) -> Answer:
    """Return the stack in the URL, without its outputs."""
    return _shown(exchange, "false")


def present_stack(exchange: Exchange) -> Answer:
    """Return the stack in the URL, which is to change. Raises falcon.HTTPGone if it is deleted."""
    stack = show_stack(exchange)
    if stack["stack_status"] == DELETED:
        raise falcon.HTTPGone(description=f"The stack {stack['stack_name']} is deleted.")
    return stack


def show_stack_with_outputs(exchange: Exchange) -> Answer:
    """Return the stack in the URL; its outputs are evaluated for this."""
    return _shown(exchange, "true")


def _shown(exchange: Exchange, resolve_outputs: str) -> Answer:
    path = stack_path(exchange.path["stack_name"], exchange.path["stack_id"])
    stack: Answer = exchange.api.get(path, {"resolve_outputs": resolve_outputs})["stack"]
    return stack
