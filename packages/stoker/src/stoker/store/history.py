"""What accumulates about stacks that live on: operations with their plans and definitions, property values, events."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Table,
    and_,
    bindparam,
    delete,
    false,
    func,
    not_,
    or_,
    select,
    union,
)

from stoker.store import purging, queries
from stoker.store.approval_tables import change_requests
from stoker.store.change_sets import IMPORT
from stoker.store.records import COMPLETE, UNFINISHED
from stoker.store.removal import Removal, lines_of
from stoker.store.tables import (
    change_sets,
    events,
    operation_deaths,
    operations,
    property_sets,
    resources,
    snapshots,
    stack_refactors,
    stacks,
)

MOST = 500
"""Records of a kind that one transaction removes."""

_LISTED = (
    operations.c.id,
    operations.c.action,
    operations.c.status,
    operations.c.created_at,
    operations.c.finished_at,
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What is kept of a stack: operations that ended since `since`, of these at most `operations`, and `events`.

    None means no limit: that of events is kept at the end of each operation, unless they are archived.
    """

    since: float | None
    operations: int | None
    events: int | None


def grown_stacks(connection: Connection, since: float, until: float) -> list[str]:
    """Return the stacks on which an operation has ended between two times, `since` excluded."""
    ended = and_(operations.c.finished_at > since, operations.c.finished_at <= until)
    query = select(operations.c.stack_id).where(ended).distinct()
    return list(connection.execute(query.order_by(operations.c.stack_id)).scalars())


def old_operations(connection: Connection, archived: bool, stack_id: str, limits: Limits) -> Removal | None:
    """Find operations of a stack that are beyond its limits, with all that only they used.

    The latest one of each action is kept, and the latest complete one, to which a rollback returns; the first of each
    action, which say when the stack was made, taken over and first changed; and those that change sets have begun. A
    stack without a row has none that can be removed, nor one with an operation in progress.
    """
    last = connection.execute(select(stacks.c.operation).where(stacks.c.id == stack_id)).one_or_none()
    mine = operations.c.stack_id == stack_id
    found = connection.execute(select(*_LISTED).where(mine).order_by(operations.c.created_at, operations.c.id)).all()
    if last is None or any(row.status in UNFINISHED for row in found):
        return None
    of_change_sets = select(change_sets.c.operation).where(change_sets.c.stack_id == stack_id)
    needed = {last.operation, *connection.execute(of_change_sets).scalars()}
    complete = [row for row in found if row.status == COMPLETE]
    for rows in (found, complete, reversed(found)):  # the last of each action, the last complete one, and the first
        needed |= {row.id for row in {row.action: row for row in rows}.values()}
    beyond = set[str]()
    if limits.operations is not None:
        beyond |= {row.id for row in found[: max(0, len(found) - limits.operations)]}
    if limits.since is not None:
        beyond |= {row.id for row in found if row.finished_at is not None and row.finished_at < limits.since}
    gone = [row.id for row in found if row.id in beyond - needed][:MOST]
    if not gone:
        return None
    lines = []
    if archived:
        lines = list(lines_of(connection, operations, operations.c.id, gone))
        lines += purging.lines_of_inputs(connection, _inputs_of(connection, gone))
    return Removal(lines, partial(_forget_operations, stack_id=stack_id, identifiers=gone))


def _inputs_of(connection: Connection, identifiers: Sequence[str]) -> set[str]:
    columns = (operations.c.inputs, operations.c.former_inputs)
    rows = connection.execute(select(*columns).where(operations.c.id.in_(identifiers)))
    return {name for row in rows for name in row if name}


def _forget_operations(connection: Connection, stack_id: str, identifiers: Sequence[str]) -> int:
    if queries.unfinished_of(connection, stack_id):
        return 0
    used = _inputs_of(connection, identifiers)
    connection.execute(delete(operation_deaths).where(operation_deaths.c.operation_id.in_(identifiers)))
    connection.execute(delete(operations).where(operations.c.id.in_(identifiers)))
    mine = [operations.c.inputs, operations.c.former_inputs]
    needed = [select(column).where(operations.c.stack_id == stack_id) for column in mine]
    needed.append(select(snapshots.c.inputs).where(snapshots.c.stack_id == stack_id))
    in_use = set(connection.execute(union(*needed)).scalars())
    purging.forget_inputs(connection, sorted(used - in_use))
    return len(identifiers)


def unused_values(connection: Connection, archived: bool, stack_id: str) -> Removal | None:
    """Find property values of a stack that no resource has any more, and no event shows."""
    gone = list(connection.execute(_unused(stack_id).limit(MOST)).scalars())
    if not gone or queries.unfinished_of(connection, stack_id):
        return None
    lines = list(lines_of(connection, property_sets, property_sets.c.id, gone)) if archived else []
    return Removal(lines, partial(_forget_values, stack_id=stack_id, identifiers=gone))


def _unused(stack_id: str) -> Select[str]:
    used = (
        select(column).where(column.is_not(None), table.c.stack_id == stack_id)
        for table, column in (
            (resources, resources.c.properties),
            (resources, resources.c.former_properties),
            (events, events.c.properties),
        )
    )
    return select(property_sets.c.id).where(
        property_sets.c.stack_id == stack_id, *(property_sets.c.id.not_in(each) for each in used)
    )


def _forget_values(connection: Connection, stack_id: str, identifiers: Sequence[str]) -> int:
    if queries.unfinished_of(connection, stack_id):
        return 0
    still = connection.execute(_unused(stack_id).where(property_sets.c.id.in_(identifiers))).scalars().all()
    return connection.execute(delete(property_sets).where(property_sets.c.id.in_(still))).rowcount


def excess_events(connection: Connection, archived: bool, stack_id: str, limits: Limits) -> Removal | None:
    """Find the oldest events of a stack that has more than its limit."""
    if limits.events is None:
        return None
    mine = events.c.stack_id == stack_id
    excess = connection.execute(select(func.count()).where(mine)).scalar_one() - limits.events
    if excess <= 0:
        return None
    oldest = select(events.c.sequence).where(mine).order_by(events.c.sequence).limit(min(excess, MOST))
    return _events(connection, archived, list(connection.execute(oldest).scalars()))


def old_events(connection: Connection, archived: bool, before: float, most: int = 1000) -> Removal | None:
    """Find events from before a time among the `most` oldest ones.

    Events are recorded in the order of time, so none is left if there are none among these.
    """
    oldest = select(events.c.sequence, events.c.time).order_by(events.c.sequence).limit(most)
    return _events(connection, archived, [row.sequence for row in connection.execute(oldest) if row.time < before])


def _events(connection: Connection, archived: bool, gone: Sequence[int]) -> Removal | None:
    if not gone:
        return None
    among = events.c.sequence.in_(gone)
    lines = []
    if archived:
        lines = [(events.name, dict(row._mapping)) for row in connection.execute(select(events).where(among))]
    return Removal(lines, lambda connection: connection.execute(delete(events).where(among)).rowcount)


def _old(table: Table, needed: ColumnElement[bool]) -> Select[str]:
    """Select requests from `before` a time, without those that are needed `now`, which are parameters."""
    old = select(table.c.id).where(table.c.created_at < bindparam("before"), not_(needed))
    return old.order_by(table.c.created_at).limit(MOST)


_RUNNING = select(operations.c.id).where(operations.c.status.in_(UNFINISHED))
_OLD_REQUESTS = {
    change_sets: _old(
        change_sets,
        or_(
            and_(change_sets.c.operation.is_not(None), change_sets.c.kind == IMPORT),
            and_(change_sets.c.operation.is_not(None), change_sets.c.operation.in_(_RUNNING)),
        ),
    ),
    stack_refactors: _old(stack_refactors, false()),
    change_requests: _old(change_requests, change_requests.c.expires_at > bindparam("now")),
}


def old_requests(connection: Connection, archived: bool, table: Table, before: float, now: float) -> Removal | None:
    """Find change sets, refactorings or requests for approval from before a time.

    Change sets stay while their operation is in progress, and if they have imported objects, which the status of their
    stack tells; requests for approval as long as they can be approved.
    """
    gone = list(connection.execute(_OLD_REQUESTS[table], {"before": before, "now": now}).scalars())
    if not gone:
        return None
    lines = list(lines_of(connection, table, table.c.id, gone)) if archived else []
    removed = delete(table).where(table.c.id.in_(gone))
    return Removal(lines, lambda connection: connection.execute(removed).rowcount)


REQUESTS: Collection[Table] = (change_sets, stack_refactors, change_requests)
"""The tables of `old_requests`."""
