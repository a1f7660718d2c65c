"""What is known of a database outside of it, by which a database that was restored from a backup is recognized.

A mark names the engine that has reported itself last, when it did, and the stacks of that time. A later state of the
same database has a later report. In an earlier one, the engine's report is earlier, or the engine is unknown and all
reports are earlier.

No service is asked: what is said about objects follows from the two records.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from sqlalchemy import Connection, func, select

from stoker.store.mark_records import Difference, Finding, Item, Mark, MarkedStack, ShownId
from stoker.store.tables import engines, events, operations, resources, stacks


def current(connection: Connection, shown: ShownId) -> Mark | None:
    """Return the mark of the database as it is now; None while no engine has reported itself."""
    query = select(engines.c.id, engines.c.seen_at).order_by(engines.c.seen_at.desc(), engines.c.id).limit(1)
    last = connection.execute(query).one_or_none()
    return Mark(last.id, last.seen_at, last_event(connection), _stacks(connection, shown)) if last else None


def last_event(connection: Connection) -> int:
    """Return the sequence number of the last event; 0 if there is none."""
    return connection.execute(select(func.max(events.c.sequence))).scalar() or 0


def has(connection: Connection, engine: str, seen_at: float) -> bool:
    """Return whether the database contains the report of an engine at a time, or a later one of it."""
    return (_reported(connection, engine) or 0.0) >= seen_at


def is_older(connection: Connection, mark: Mark) -> bool:
    """Return whether the database is in a state from before the mark."""
    reported = _reported(connection, mark.engine)
    if reported is None:  # from before that engine, unless its record was removed, which happens to old ones only
        reported = latest(connection)
    return reported is None or reported < mark.seen_at


def latest(connection: Connection) -> float | None:
    """Return when an engine has last reported itself; None if the database has no engine."""
    return connection.execute(select(func.max(engines.c.seen_at))).scalar()


def differences(connection: Connection, mark: Mark, shown: ShownId) -> list[Difference]:
    """Return what the stacks of an older database lack compared with a mark, by name."""
    recorded = _stacks(connection, shown)
    found = [*_of_marked(mark.stacks, recorded)]
    found += [
        Difference(Finding.DELETED, key, stack.name, stack.project_id, None, stack.changed_at, (), _sorted(stack.items))
        for key, stack in recorded.items()
        if key not in mark.stacks
    ]
    return sorted(found, key=lambda each: (each.name, each.stack_id))


def _of_marked(marked: Mapping[str, MarkedStack], recorded: Mapping[str, MarkedStack]) -> Iterator[Difference]:
    for key, stack in marked.items():
        own = recorded.get(key)
        if own is None:
            orphaned = _sorted(stack.items)
            yield Difference(Finding.MISSING, key, stack.name, stack.project_id, stack.changed_at, None, orphaned)
        elif own.changed_at < stack.changed_at or own.items != stack.items:
            orphaned, lost = _sorted(stack.items - own.items), _sorted(own.items - stack.items)
            moments = stack.changed_at, own.changed_at
            yield Difference(Finding.CHANGED, key, stack.name, stack.project_id, *moments, orphaned, lost)


def _sorted(items: Iterable[Item]) -> tuple[Item, ...]:
    return tuple(sorted(items))


def _reported(connection: Connection, engine: str) -> float | None:
    return connection.execute(select(engines.c.seen_at).where(engines.c.id == engine)).scalar()


def _stacks(connection: Connection, shown: ShownId) -> dict[str, MarkedStack]:
    last = func.max(func.coalesce(operations.c.finished_at, operations.c.started_at, operations.c.created_at))
    of_trees = (
        select(stacks.c.root_id, last.label("changed_at"))
        .join(operations, operations.c.stack_id == stacks.c.id)
        .group_by(stacks.c.root_id)
    )
    changed = {row.root_id: row.changed_at for row in connection.execute(of_trees)}
    items = _items(connection, shown)
    live = select(stacks.c.id, stacks.c.name, stacks.c.project_id, stacks.c.created_at).where(
        stacks.c.parent_id.is_(None), stacks.c.deleted_at.is_(None)
    )
    return {
        row.id: MarkedStack(row.name, row.project_id, changed.get(row.id, row.created_at), frozenset(items[row.id]))
        for row in connection.execute(live)
    }


def _items(connection: Connection, shown: ShownId) -> dict[str, set[Item]]:
    """Return the objects of live stacks by root, without nested stacks, whose IDs are those of stacks."""
    live = select(stacks.c.id, stacks.c.root_id).where(stacks.c.deleted_at.is_(None))
    roots = {row.id: row.root_id for row in connection.execute(live)}
    columns = resources.c.stack_id, resources.c.type, resources.c.name, resources.c.physical_id, resources.c.uuid
    found = defaultdict[str, set[Item]](set)
    for row in connection.execute(select(*columns).where(resources.c.physical_id.is_not(None))):
        if row.stack_id in roots and row.physical_id not in roots:
            found[roots[row.stack_id]].add(Item(row.type, row.name, shown(row.type, row.uuid, row.physical_id)))
    return found
