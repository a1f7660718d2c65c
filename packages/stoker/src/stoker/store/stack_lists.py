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
    true,
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


def list_stacks(connection: Connection, criteria: StackQuery) -> list[Stack]:
    """Return the stacks that match, sorted and paged."""
    query = _stack_filter(connection, select(tables.stacks), criteria)
    parts, after = _after_marker(connection, _parts(criteria), criteria.marker)
    found: list[Stack] = []
    for part in parts:
        page = query.where(part.condition)
        if after is not None:
            page = page.where(statements.after_marker(part.keys, after, criteria.descending))
            after = None
        page = page.order_by(*(key.desc() if criteria.descending else key.asc() for key in part.keys))
        if criteria.limit is not None:
            page = page.limit(criteria.limit - len(found))
        found += Stack.all_of(connection.execute(page))
        if len(found) == criteria.limit:
            break
    return found


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a sorted list: the stacks with a `condition`, in the order of the sort `keys`."""

    condition: ColumnElement[bool]
    keys: Sequence[ColumnElement[Any]]


def _parts(criteria: StackQuery) -> list[_Part]:
    """Return the parts of a list, one after another.

    Stacks that have not been updated yet come before the others. Databases disagree where a column without a value is
    sorted, and find no index for an expression that gives it one, so that these stacks are a part of their own.
    """
    columns = tables.stacks.c
    names = list(dict.fromkeys([*criteria.sort_keys, "created_at", "id"]))
    if names[0] != "updated_at":
        return [_Part(true(), [_sortable(columns[name]) for name in names])]
    updated_at, others = columns.updated_at, [columns[name] for name in names[1:]]
    parts = [
        _Part(updated_at.is_(None), others),
        _Part(updated_at.is_not(None), [updated_at, *others]),
    ]
    return parts[::-1] if criteria.descending else parts


def _after_marker(
    connection: Connection, parts: list[_Part], marker: str | None
) -> tuple[list[_Part], tuple[Any, ...] | None]:
    """Return the parts from the one with the marker on, and the marker's values of its keys; all if it is gone."""
    for number, part in enumerate(parts if marker else ()):
        query = select(*part.keys).where(tables.stacks.c.id == marker, part.condition)
        if (row := connection.execute(query).one_or_none()) is not None:
            return parts[number:], tuple(row)
    return parts, None


def _in_state(action: str | None, status: str) -> ColumnElement[bool]:
    in_status = tables.stacks.c.status == status
    return in_status if action is None else and_(tables.stacks.c.action == action, in_status)


def _sortable(column: ColumnElement[object]) -> ColumnElement[object]:
    """Return a column that pages can continue by after a marker: null (a time not reached yet) sorts first."""
    return func.coalesce(column, 0) if column is tables.stacks.c.updated_at else column


def count_listed(connection: Connection, criteria: StackQuery) -> int:
    """Count the stacks that match, without paging."""
    counted = _stack_filter(connection, select(func.count()).select_from(tables.stacks), criteria)
    return int(connection.execute(counted).scalar_one())


_FINDING = ("id", "parent_id")
"""Columns by which a few stacks are found: a database that does not know this may read all of the project instead, so
that it must not find them by the project's index."""


_FEW = 100
"""So many stacks with a tag are read one by one. If there are more, a page is found sooner in the order of the list."""


def _few_tagged(connection: Connection, criteria: StackQuery) -> list[str] | None:
    """Return the IDs of the stacks with one of the requested tags if they are few; None if there are many, or no tag is
    wanted.
    """
    tags = tables.stack_tags.c
    choices = [tags.tag == tag for tag in criteria.tags]
    if criteria.tags_any:
        choices.append(tags.tag.in_(list(criteria.tags_any)))
    for choice in choices:
        found = connection.execute(select(tags.stack_id).where(choice).limit(_FEW + 1)).scalars().all()
        if len(found) <= _FEW:
            return sorted(set(found))
    return None


def _stack_filter(connection: Connection, query: Select[object], criteria: StackQuery) -> Select[Any]:
    columns = tables.stacks.c
    few = _few_tagged(connection, criteria)
    if few is not None:
        query = query.where(columns.id.in_(few))
    if criteria.project_id is not None:
        found_otherwise = few is not None or any(name in _FINDING for name, _ in criteria.filters)
        project_id = func.coalesce(columns.project_id, "") if found_otherwise else columns.project_id
        query = query.where(project_id == criteria.project_id)
    if not criteria.show_deleted:
        query = query.where(columns.deleted_at.is_(None))
    if not criteria.show_nested:
        query = query.where(columns.parent_id.is_(None))
    for name, values in criteria.filters:
        query = query.where(columns[name].in_(list(values)))
    for states in criteria.states:
        query = query.where(or_(*(_in_state(action, status) for action, status in states)))
    tagged = select(tables.stack_tags.c.stack_id)
    for tag in criteria.tags:
        query = query.where(columns.id.in_(tagged.where(tables.stack_tags.c.tag == tag)))
    if criteria.tags_any:
        query = query.where(columns.id.in_(tagged.where(tables.stack_tags.c.tag.in_(list(criteria.tags_any)))))
    if criteria.not_tags:
        every = [columns.id.in_(tagged.where(tables.stack_tags.c.tag == tag)) for tag in criteria.not_tags]
        query = query.where(~and_(*every))
    excluded = [*criteria.not_tags_any, *criteria.hidden_tags]
    if excluded:
        query = query.where(columns.id.not_in(tagged.where(tables.stack_tags.c.tag.in_(excluded))))
    return query
