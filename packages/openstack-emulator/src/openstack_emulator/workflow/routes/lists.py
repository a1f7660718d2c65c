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
from openstack_emulator.workflow.records import TimestampedRecord
from openstack_emulator.workflow.rules.composition import Workflows

R = TypeVar("R")
D = TypeVar("D", bound=TimestampedRecord)
_RESERVED = frozenset({
    "limit", "marker", "sort_keys", "sort_dirs", "fields", "all_projects", "include_output", "nulls",
})  # fmt: skip
_COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
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


def includes_other_projects(request: Request) -> bool:
    """Whether a list includes the objects of other projects; for administrators, a filter by project does it too."""
    filtered = request.context.is_admin and "project_id" in request.query
    return filtered or request.query.boolean("all_projects") is True


def listed(service: Workflows, request: Request, rows: Sequence[D]) -> list[D]:
    """Return those of the rows that a list shows. Raises ApiError 403."""
    return service.sharing.listed(rows, request.context, includes_other_projects(request))


def list_response(
    request: Request,
    rows: Sequence[R],
    view: Callable[[R], dict[str, object]],
    plural: str,
    hidden: Collection[str] = (),
) -> Response:
    """Return the rows that a request asks for under `plural`, with a link `next` when more follow.

    hidden: fields that are shown only if they are asked for by `fields` or `include_output`.

    Raises: ApiError 400 for a wrong parameter, 404 for a marker that is not in the list.
    """
    query = request.query
    views = [view(row) for row in rows]
    known = views[0].keys() if views else None
    sortable = {*_stored(rows[0]), *views[0]} if views else None
    matching = _filtered(views, query, known)
    keys, directions = _order(query, sortable)
    for field, direction in reversed(list(zip(keys, directions, strict=True))):
        matching.sort(key=lambda item: str(item.get(field) or ""), reverse=direction == "desc")
    limit, start = _limit(query.get("limit")), _start(matching, query.get("marker"), plural)
    page = matching[start : start + limit] if limit else matching[start:]
    body: dict[str, Any] = {}
    if limit and start + limit < len(matching):
        body["next"] = _next_link(request, page[-1], keys, directions)
    fields = _fields(query, known)
    hidden = () if query.boolean("include_output") else hidden
    body[plural] = [_shown_fields(item, fields, hidden) for item in page]
    return Response(body)


def _filtered(
    views: Sequence[dict[str, object]], query: Query, known: Collection[str] | None
) -> list[dict[str, object]]:
    """Return the objects that all filters of a query select. Raises ApiError 400.

    known: the fields of the objects; None if there is no object, and any filter is accepted.
    """
    found = list(views)
    for name, value in query.pairs:
        if name not in _RESERVED:
            if known is not None and name not in known:
                raise bad_request(f'Unknown argument: "{name}"')
            found = [item for item in found if _matches(value, item.get(name))]
    for name in filter(None, (query.get("nulls") or "").split(",")):
        found = [item for item in found if item.get(name) is None]
    return found


def _next_link(request: Request, last: Mapping[str, object], keys: Sequence[str], directions: Sequence[str]) -> str:
    """Return the URL of the page after the object `last`, in the same order and with the same filters."""
    order = {"marker": last["id"], "sort_keys": ",".join(keys), "sort_dirs": ",".join(directions)}
    parameters = [(name, value) for name, value in request.query.pairs if name not in order]
    return f"{request.url}?{urlencode([*parameters, *order.items()], safe=',')}"


def _stored(row: object) -> Collection[str]:
    """Return the names of what is stored of a row, by which lists can be sorted too."""
    return stored_names(type(row)) if isinstance(row, TypedRecord) else ()


def _matches(value: str, shown: object) -> bool:
    """Return whether a field that is `shown` has the value of a filter: `value`, or `<operator>:value`."""
    have = "" if shown is None else str(shown)
    prefix, _, rest = value.partition(":")
    if prefix in _COMPARISONS:
        return bool(_COMPARISONS[prefix](have, rest))
    if prefix in ("in", "nin"):
        return (have in rest.split(",")) is (prefix == "in")
    if prefix == "has":
        return rest in have
    return have == value


def _order(query: Query, sortable: Collection[str] | None) -> tuple[list[str], list[str]]:
    """Return the fields to sort by, of which `id` is always one, and their directions. Raises ApiError 400.

    sortable: the fields that objects have; None if there is no object, and any field is accepted.
    """
    keys = list(dict.fromkeys((query.get("sort_keys") or "created_at").split(",")))
    directions = (query.get("sort_dirs") or "asc").split(",")
    if any(direction not in ("asc", "desc") for direction in directions):
        raise bad_request("Unknown sort direction, must be 'desc' or 'asc'.")
    if len(directions) > len(keys):
        raise bad_request("Length of sort_keys must be equal or greater than sort_dirs.")
    if sortable is not None and (unknown := [name for name in keys if name not in sortable]):
        raise bad_request(f"Sort key supplied is invalid: {unknown[0]}")
    directions += ["asc"] * (len(keys) - len(directions))
    return (keys, directions) if "id" in keys else ([*keys, "id"], [*directions, "asc"])


def _fields(query: Query, known: Collection[str] | None) -> list[str]:
    """Return the fields that a query names; none if it names none. Raises ApiError 400 for those that are unknown."""
    fields = [name for name in (query.get("fields") or "").split(",") if name]
    if known is not None and (unknown := [name for name in fields if name not in known]):
        raise bad_request(f"Field(s) {', '.join(unknown)} are invalid.")
    return fields


def _limit(value: str | None) -> int:
    """Return the size of a page; 0 without one. Raises ApiError 400."""
    limit = as_integer(value or 0)
    if limit is None:
        problem = f"unable to convert to int. Error: invalid literal for int() with base 10: '{value}'"
        raise bad_request(f"Invalid input for field/attribute limit. Value: '{value}'. {problem}")
    if limit < 0:
        raise bad_request("Limit must be positive.")
    return limit


def _start(items: Sequence[Mapping[str, object]], marker: str | None, plural: str) -> int:
    """Return the index of the first object after the one with the ID `marker`. Raises ApiError 404."""
    if not marker:
        return 0
    for index, item in enumerate(items):
        if item["id"] == marker:
            return index + 1
    raise not_found(_NO_MARKER.get(plural, "The marker {} could not be found.").format(marker))


def _shown_fields(item: dict[str, object], field_names: Sequence[str], hidden: Collection[str]) -> dict[str, object]:
    """Return the requested fields of an object and its ID, or if none are requested, all that are not hidden."""
    if field_names:
        shown = {"id", *field_names, *(other for name, other in _TOGETHER.items() if name in field_names)}
        return {name: value for name, value in item.items() if name in shown}
    return {name: value for name, value in item.items() if name not in hidden}
