"""Lists: filters, order, pages and fields of answers, as all collections of Mistral have them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urlencode

from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.http import Query, Request, Response
from openstack_emulator.core.typed import TypedRecord, stored_names
from openstack_emulator.core.validation.conversions import as_integer
from openstack_emulator.workflow.records import Dated
from openstack_emulator.workflow.rules.composition import Workflows

R = TypeVar("R")
D = TypeVar("D", bound=Dated)
_RESERVED = frozenset({
    "limit", "marker", "sort_keys", "sort_dirs", "fields", "all_projects", "include_output", "nulls",
})  # fmt: skip
_ORDERS: Mapping[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq, "neq": operator.ne, "gt": operator.gt, "gte": operator.ge, "lt": operator.lt, "lte": operator.le,
}  # fmt: skip

_NO_MARKER = {
    "workflows": "Workflow not found [workflow_id={}]",
    "executions": "WorkflowExecution not found [id={}]",
    "tasks": "Task execution not found [id={}]",
    "action_executions": "ActionExecution not found [id={}]",
}
"""The messages about a marker that is the ID of no object, by collection."""
_TOGETHER = {"input": "interface"}
"""Fields with which another one is shown, since both come from the definition."""


def key(request: Request) -> str:
    """Return the ID or the name that the path of a request has."""
    return request.vars["id"]


def everywhere(request: Request) -> bool:
    """Whether a list includes the objects of other projects; for administrators, a filter by project does it too."""
    filtered = request.context.is_admin and "project_id" in request.query
    return filtered or request.query.boolean("all_projects") is True


def listed(service: Workflows, request: Request, rows: Sequence[D]) -> list[D]:
    """Return those of the rows that a list shows. Raises ApiError 403."""
    return service.sharing.listed(rows, request.context, everywhere(request))


def listing(
    request: Request,
    rows: Sequence[R],
    view: Callable[[R], dict[str, object]],
    plural: str,
    hidden: Collection[str] = (),
) -> Response:
    """Return the rows that a request asks for under `plural`, with a link `next` when more follow.

    hidden: fields that are shown only if they are asked for by `fields` or `include_output`.
    """
    query = request.query
    known = view(rows[0]).keys() if rows else None
    found = [view(row) for row in rows]
    for name, value in query.pairs:
        if name not in _RESERVED:
            if known is not None and name not in known:
                raise bad_request(f'Unknown argument: "{name}"')
            found = [one for one in found if _matches(value, one.get(name))]
    for name in filter(None, (query.get("nulls") or "").split(",")):
        found = [one for one in found if one.get(name) is None]
    keys, directions = _order(query)
    if rows and (unknown := [key for key in keys if key not in {*_stored(rows[0]), *view(rows[0])}]):
        raise bad_request(f"Sort key supplied is invalid: {unknown[0]}")
    if "id" not in keys:
        keys, directions = [*keys, "id"], [*directions, "asc"]
    for key, direction in reversed(list(zip(keys, directions, strict=True))):
        found.sort(key=lambda one: str(one.get(key) or ""), reverse=direction == "desc")
    limit, start = _limit(query.get("limit")), _start(found, query.get("marker"), plural)
    shown = found[start : start + limit] if limit else found[start:]
    body: dict[str, Any] = {}
    if limit and start + limit < len(found):
        order = {"marker": shown[-1]["id"], "sort_keys": ",".join(keys), "sort_dirs": ",".join(directions)}
        kept = [(name, value) for name, value in query.pairs if name not in order]
        body["next"] = f"{request.url}?{urlencode([*kept, *order.items()], safe=',')}"
    wanted = [name for name in (query.get("fields") or "").split(",") if name]
    if known is not None and (unknown := [name for name in wanted if name not in known]):
        raise bad_request(f"Field(s) {', '.join(unknown)} are invalid.")
    body[plural] = [_selected(one, wanted, () if query.boolean("include_output") else hidden) for one in shown]
    return Response(body)


def _stored(row: object) -> Collection[str]:
    """Return the names of what is stored of a row, by which lists can be sorted too."""
    return stored_names(type(row)) if isinstance(row, TypedRecord) else ()


def _matches(value: str, shown: object) -> bool:
    """Return whether a field that is `shown` has the value of a filter: `value`, or `<operator>:value`."""
    have = "" if shown is None else str(shown)
    prefix, _, rest = value.partition(":")
    if prefix in _ORDERS:
        return bool(_ORDERS[prefix](have, rest))
    if prefix in ("in", "nin"):
        return (have in rest.split(",")) is (prefix == "in")
    if prefix == "has":
        return rest in have
    return have == value


def _order(query: Query) -> tuple[list[str], list[str]]:
    """Return the fields to sort by, and their directions. Raises ApiError 400."""
    keys = list(dict.fromkeys((query.get("sort_keys") or "created_at").split(",")))
    directions = (query.get("sort_dirs") or "asc").split(",")
    if any(one not in ("asc", "desc") for one in directions):
        raise bad_request("Unknown sort direction, must be 'desc' or 'asc'.")
    if len(directions) > len(keys):
        raise bad_request("Length of sort_keys must be equal or greater than sort_dirs.")
    return keys, directions + ["asc"] * (len(keys) - len(directions))


def _limit(value: str | None) -> int:
    """Return the size of a page; 0 without one. Raises ApiError 400."""
    limit = as_integer(value or 0)
    if limit is None:
        problem = f"unable to convert to int. Error: invalid literal for int() with base 10: '{value}'"
        raise bad_request(f"Invalid input for field/attribute limit. Value: '{value}'. {problem}")
    if limit < 0:
        raise bad_request("Limit must be positive.")
    return limit


def _start(found: Sequence[Mapping[str, object]], marker: str | None, plural: str) -> int:
    if not marker:
        return 0
    for at, one in enumerate(found):
        if one["id"] == marker:
            return at + 1
    raise not_found(_NO_MARKER.get(plural, "The marker {} could not be found.").format(marker))


def _selected(one: dict[str, object], wanted: Sequence[str], hidden: Collection[str]) -> dict[str, object]:
    if wanted:
        shown = {"id", *wanted, *(other for name, other in _TOGETHER.items() if name in wanted)}
        return {name: value for name, value in one.items() if name in shown}
    return {name: value for name, value in one.items() if name not in hidden}
