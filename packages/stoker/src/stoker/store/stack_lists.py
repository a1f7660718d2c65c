"""Lists of stacks: which of them match, sorted, and page by page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
    func,
    or_,
    select,
)

from stoker.store import statements, tables
from stoker.store.records import (
    Stack,
)


@dataclass(slots=True)
class StackQuery:
    """Which stacks to list; an empty field selects all. `filters` maps columns to accepted values.

    `states` are sequences of alternatives, each an action (None: any) and a status; a stack must match one of each.
    """

    project_id: str | None = None
    filters: Sequence[tuple[str, Sequence[object]]] = ()
    states: Sequence[Sequence[tuple[str | None, str]]] = ()
    tags: Sequence[str] = ()
    tags_any: Sequence[str] = ()
    not_tags: Sequence[str] = ()
    not_tags_any: Sequence[str] = ()
    hidden_tags: Sequence[str] = ()
    show_deleted: bool = False
    show_nested: bool = False
    limit: int | None = None
    marker: str | None = None
    sort_keys: Sequence[str] = ("created_at",)
    descending: bool = True


def list_stacks(connection: Connection, wanted: StackQuery) -> list[Stack]:
    """Return the stacks that match, sorted and paged."""
    query = _stack_filter(select(tables.stacks), wanted)
    keys = [_sortable(tables.stacks.c[name]) for name in dict.fromkeys([*wanted.sort_keys, "created_at", "id"])]
    if wanted.marker:
        row = connection.execute(select(*keys).where(tables.stacks.c.id == wanted.marker)).one_or_none()
        if row is not None:
            query = query.where(statements.after_marker(keys, tuple(row), wanted.descending))
    query = query.order_by(*(key.desc() if wanted.descending else key.asc() for key in keys))
    if wanted.limit is not None:
        query = query.limit(wanted.limit)
    return Stack.all_of(connection.execute(query))


def _in_state(action: str | None, status: str) -> ColumnElement[bool]:
    in_status = tables.stacks.c.status == status
    return in_status if action is None else and_(tables.stacks.c.action == action, in_status)


def _sortable(column: ColumnElement[object]) -> ColumnElement[object]:
    """Return a column that pages can continue by after a marker: null (a time not reached yet) sorts first."""
    return func.coalesce(column, 0) if column is tables.stacks.c.updated_at else column


def count_listed(connection: Connection, wanted: StackQuery) -> int:
    """Count the stacks that match, without paging."""
    counted = connection.execute(_stack_filter(select(func.count()).select_from(tables.stacks), wanted))
    return int(counted.scalar_one())


_FINDING = ("id", "parent_id")
"""Columns by which a few stacks are found: a database that does not know this may read all of the project instead, so
that it must not find them by the project's index."""


def _stack_filter(query: Select[object], wanted: StackQuery) -> Select[Any]:
    columns = tables.stacks.c
    if wanted.project_id is not None:
        found_otherwise = any(name in _FINDING for name, _ in wanted.filters)
        project_id = func.coalesce(columns.project_id, "") if found_otherwise else columns.project_id
        query = query.where(project_id == wanted.project_id)
    if not wanted.show_deleted:
        query = query.where(columns.deleted_at.is_(None))
    if not wanted.show_nested:
        query = query.where(columns.parent_id.is_(None))
    for name, values in wanted.filters:
        query = query.where(columns[name].in_(list(values)))
    for states in wanted.states:
        query = query.where(or_(*(_in_state(action, status) for action, status in states)))
    tagged = select(tables.stack_tags.c.stack_id)
    for tag in wanted.tags:
        query = query.where(columns.id.in_(tagged.where(tables.stack_tags.c.tag == tag)))
    if wanted.tags_any:
        query = query.where(columns.id.in_(tagged.where(tables.stack_tags.c.tag.in_(list(wanted.tags_any)))))
    if wanted.not_tags:
        every = [columns.id.in_(tagged.where(tables.stack_tags.c.tag == tag)) for tag in wanted.not_tags]
        query = query.where(~and_(*every))
    excluded = [*wanted.not_tags_any, *wanted.hidden_tags]
    if excluded:
        query = query.where(columns.id.not_in(tagged.where(tables.stack_tags.c.tag.in_(excluded))))
    return query
