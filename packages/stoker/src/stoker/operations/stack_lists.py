"""List stacks: filters, tags, order, pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue, Forbidden
from stoker.contract.stacks import ListedStack, ListStacks, StackPage
from stoker.engine.records.services import EngineServices
from stoker.operations.drift import drift_summaries
from stoker.operations.latest_operations import last_operations
from stoker.operations.views import stack_view
from stoker.store import change_sets, queries, stack_lists
from stoker.store.records import COMPLETE, FAILED, IN_PROGRESS

_COLUMNS = {
    "id": "id",
    "name": "name",
    "stack_name": "name",
    "action": "action",
    "stack_action": "action",
    "tenant": "project_id",
    "project": "project_id",
    "username": "user_name",
    "stack_owner": "user_name",
    "owner_id": "parent_id",
    "parent": "parent_id",
    "stack_status_reason": "reason",
    "disable_rollback": "disable_rollback",
    "timeout_mins": "timeout_minutes",
    "stack_user_project_id": "user_project_id",
}
"""The column of each filter."""

_STATE_FILTERS = ("status", "stack_status")
_PARENT_FILTERS = ("owner_id", "parent")
_SORT_COLUMNS = {
    "stack_name": ("name",),
    "stack_status": ("action", "status"),
    "creation_time": ("created_at",),
    "updated_time": ("updated_at",),
}


async def stack_list(services: EngineServices, context: RequestContext, request: ListStacks) -> StackPage:
    """Return a page of stacks, newest first by default."""
    if request.global_tenant and not context.is_admin:
        raise Forbidden("Only administrators can list the stacks of all projects.")
    filters = request.filters or {}
    columns = [column for key in request.sort_keys or ("creation_time",) for column in _SORT_COLUMNS[key]]
    query = stack_lists.StackQuery(
        project_id=None if request.global_tenant else context.project_id,
        filters=[
            (_COLUMNS[name], [_column_value(name, value) for value in values])
            for name, values in filters.items()
            if name not in _STATE_FILTERS
        ],
        states=[[_state(value) for value in filters[name]] for name in _STATE_FILTERS if name in filters],
        tags=request.tags or (),
        tags_any=request.tags_any or (),
        not_tags=request.not_tags or (),
        not_tags_any=request.not_tags_any or (),
        hidden_tags=() if request.show_hidden else services.settings.hidden_stack_tags,
        show_deleted=request.show_deleted,
        show_nested=request.show_nested or any(name in filters for name in _PARENT_FILTERS),
        limit=request.limit,
        marker=request.marker,
        sort_keys=columns,
        descending=_is_descending(request),
    )
    page = await services.database.read(_page, query, request.with_count)
    if not request.with_latest:
        return page
    stack_ids = [view["id"] for view in page["stacks"]]
    drift = await drift_summaries(services, stack_ids)
    operations = await last_operations(services, stack_ids)
    for view in page["stacks"]:
        view["drift"], view["last_operations"] = drift[view["id"]], operations[view["id"]]
    return page


def _is_descending(request: ListStacks) -> bool:
    """Return whether the last ones come first: by default if no keys are given, since the order is that of creation."""
    if request.sort_dir:
        return request.sort_dir != "asc"
    return not request.sort_keys


def _page(connection: Connection, query: stack_lists.StackQuery, with_count: bool) -> StackPage:
    stacks = stack_lists.list_stacks(connection, query)
    stack_ids = [stack.id for stack in stacks]
    tags = queries.tags_of(connection, stack_ids)
    count = stack_lists.count_listed(connection, query) if with_count else None
    imported = change_sets.importing(connection, stack_ids)
    views = [stack_view(stack, tags.get(stack.id)) for stack in stacks]
    listed: list[ListedStack] = [{**view, "imported": view["id"] in imported} for view in views]  # type: ignore[typeddict-item]
    return {"stacks": listed, "count": count}


def _state(text: str) -> tuple[str | None, str]:
    """Return action (None: any) and status for `COMPLETE` or `CREATE_COMPLETE`."""
    for status in (IN_PROGRESS, COMPLETE, FAILED):
        if text == status:
            return None, status
        if text.endswith(f"_{status}"):
            return text.removesuffix(f"_{status}"), status
    return None, text


def _column_value(name: str, text: str) -> object:
    """Return a filter's value as stored in its column. Raises BadValue."""
    parse = _PARSERS.get(name)
    if parse is None:
        return text
    try:
        return parse(text)
    except (KeyError, ValueError):
        raise BadValue(f"Invalid value {text!r} of the filter {name}.") from None


_PARSERS: Mapping[str, Callable[[str], object]] = {
    "disable_rollback": lambda text: {"true": True, "false": False}[text.lower()],
    "timeout_mins": lambda text: int(text) if len(text) < 10 else -1,
}
