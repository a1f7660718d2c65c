"""Lists of the events of stacks, page by page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import (
    Connection,
    select,
)

from stoker.store import statements, tables
from stoker.store.records import (
    Event,
)


@dataclass(slots=True)
class EventQuery:
    """Which events to list. `filters` maps columns to accepted values; `since` and `until` are times in seconds, both
    included.
    """

    stack_ids: Sequence[str] = ()
    filters: Mapping[str, Sequence[str]] = field(default_factory=dict)
    limit: int | None = None
    marker: str | None = None
    sort_keys: Sequence[str] = ()
    descending: bool = False
    since: float | None = None
    until: float | None = None


def list_events(connection: Connection, criteria: EventQuery) -> list[Event]:
    """Return the events that match, oldest first by default."""
    columns = tables.events.c
    query = select(*(columns[name] for name in Event.columns)).where(columns.stack_id.in_(list(criteria.stack_ids)))
    for name, values in criteria.filters.items():
        query = query.where(columns[name].in_(list(values)))
    if criteria.since is not None:
        query = query.where(columns.time >= criteria.since)
    if criteria.until is not None:
        query = query.where(columns.time <= criteria.until)
    keys = [columns[name] for name in dict.fromkeys([*criteria.sort_keys, "sequence"])]
    if criteria.marker:
        row = connection.execute(select(*keys).where(columns.id == criteria.marker)).one_or_none()
        if row is not None:
            query = query.where(statements.after_marker(keys, tuple(row), criteria.descending))
    query = query.order_by(*(key.desc() if criteria.descending else key.asc() for key in keys))
    if criteria.limit is not None:
        query = query.limit(criteria.limit)
    return Event.all_of(connection.execute(query))


def event_by_id(connection: Connection, stack_id: str, event_id: str) -> Event | None:
    """Return an event of a stack by ID."""
    query = statements.where(tables.events, "stack_id", "id")
    row = connection.execute(query, {"stack_id": stack_id, "id": event_id}).one_or_none()
    return Event.of(row) if row else None
