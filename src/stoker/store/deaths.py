"""Operations that crash the engines that run them: deaths of engines are recorded, counted and attributed.

An engine is presumed dead when its lease expires without deregistration. Each unfinished operation that it owned gets
a row for this death, with a verdict:

* `CHARGED`: the operation may have been the cause. After `limit` of these in a row it is set aside.
* `CLEARED`: the operation was charged, but has shown since that it was not the cause.
* `BYSTANDER`: another operation is more likely to have been the cause.

Charges are cleared by progress (a resource of the stack was completed while the engine ran the operation), and by a
run that lasts twice as long as those that ended with a death. Since an operation with a little progress between deaths
could crash any number of engines, a second limit applies to the total of its deaths (`MOST`).

An operation that is one death short of the limit is a suspect. Only the suspects of one tree of stacks run at a time,
so that the next death identifies the cause, and other operations on that engine are bystanders.

An engine that was only paused, or disconnected from the database, removes its rows when it returns.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, and_, delete, exists, func, insert, select, update

from stoker.store.records import COMPLETE, STACK_TYPE, UNFINISHED, Operation
from stoker.store.tables import engines, events, operation_deaths, operations, stacks

CHARGED = "CHARGED"
CLEARED = "CLEARED"
BYSTANDER = "BYSTANDER"

MOST = 10
"""Multiple of the limit up to which an operation may be charged in total, whatever progress it made in between."""

LONG_RUN_SECONDS = 600.0
"""If an engine ran an operation for longer than this before it died, this was not part of a crash loop."""

SHORTEST_TRIAL_SECONDS = 10.0
"""The minimum time that a charged operation has to run before it is cleared."""

_PAGE = 400


@dataclass(frozen=True, slots=True)
class Death:
    """A row of the table; `survived` is how long the engine had run the operation before it died, in seconds."""

    operation_id: str
    epoch: int
    stack_id: str
    engine_id: str
    verdict: str
    survived: float
    recorded_at: float


def record_deaths(connection: Connection, now: float, limit: int, *, alone: bool = False) -> None:
    """Record the deaths of engines since the last call; `alone` means that no other engine can be alive.

    A limit of 0 disables this.
    """
    if limit <= 0:
        return
    gone: ColumnElement[bool] = engines.c.stopped_at.is_(None)
    if not alone:
        gone = and_(gone, engines.c.seen_at + engines.c.lease <= now)
    judged = exists().where(
        operation_deaths.c.operation_id == operations.c.id, operation_deaths.c.epoch == operations.c.epoch
    )
    query = (
        select(operations, engines.c.seen_at.label("seen_at"), stacks.c.root_id.label("root_id"))
        .join(engines, engines.c.id == operations.c.owner)
        .outerjoin(stacks, stacks.c.id == operations.c.stack_id)
        .where(operations.c.status.in_(UNFINISHED), gone, ~judged)
        .order_by(operations.c.id)
        .with_for_update(of=operations)
    )
    by_engine: dict[str, list[tuple[Operation, float, str]]] = defaultdict(list)
    found = connection.execute(query).all()
    recorded = _judged(connection, [row.id for row in found])  # by another engine while this one waited for the locks
    for row in found:
        operation = Operation.of(row)
        if (operation.id, operation.epoch) in recorded:
            continue
        by_engine[operation.owner or ""].append((operation, row.seen_at, row.root_id or operation.stack_id))
    for engine_id, owned in by_engine.items():
        _judge(connection, engine_id, owned, now, limit)


def _judged(connection: Connection, identifiers: list[str]) -> set[tuple[str, int]]:
    """Return the operations and epochs for which a death is recorded."""
    query = select(operation_deaths.c.operation_id, operation_deaths.c.epoch)
    return {
        (row.operation_id, row.epoch)
        for start in range(0, len(identifiers), _PAGE)
        for row in connection.execute(
            query.where(operation_deaths.c.operation_id.in_(identifiers[start : start + _PAGE]))
        )
    }


def _judge(
    connection: Connection, engine_id: str, found: list[tuple[Operation, float, str]], now: float, limit: int
) -> None:
    charged = charges(connection, [operation.id for operation, _, _ in found])
    suspects = {root for operation, _, root in found if charged[operation.id] >= limit - 1} if limit > 1 else set()
    rows = []
    for operation, seen_at, root in found:
        began = operation.claimed_at or operation.started_at or operation.created_at
        survived = max(seen_at - began, 0.0)
        if _progressed(connection, operation, began):
            _clear(connection, [operation.id])
        verdict = CHARGED
        if survived > LONG_RUN_SECONDS:
            _clear(connection, [operation.id])
            verdict = CLEARED
        elif suspects and root not in suspects:
            verdict = BYSTANDER
        death = Death(operation.id, operation.epoch, operation.stack_id, engine_id, verdict, survived, now)
        rows.append({name: getattr(death, name) for name in Death.__slots__})
    connection.execute(insert(operation_deaths), rows)


def _progressed(connection: Connection, operation: Operation, since: float) -> bool:
    """Return whether a resource of the operation's stack, or of one nested in it, was completed since `since`."""
    stack = connection.execute(
        select(stacks.c.root_id, stacks.c.depth).where(stacks.c.id == operation.stack_id)
    ).first()
    inside: ColumnElement[bool] = events.c.stack_id == operation.stack_id
    if stack is not None and stack.depth == 0:
        inside = events.c.stack_id.in_(select(stacks.c.id).where(stacks.c.root_id == stack.root_id))
    of_resources = events.c.resource_type != STACK_TYPE
    query = select(events.c.id).where(inside, of_resources, events.c.status == COMPLETE, events.c.time >= since)
    return connection.execute(query.limit(1)).first() is not None


def _clear(connection: Connection, identifiers: Iterable[str]) -> None:
    where = and_(operation_deaths.c.operation_id.in_(list(identifiers)), operation_deaths.c.verdict == CHARGED)
    connection.execute(update(operation_deaths).where(where).values(verdict=CLEARED))


def charges(connection: Connection, identifiers: Iterable[str]) -> Counter[str]:
    """Return how many deaths in a row each of these operations is charged with, without those that have none."""
    where = and_(operation_deaths.c.operation_id.in_(list(identifiers)), operation_deaths.c.verdict == CHARGED)
    query = select(operation_deaths.c.operation_id, func.count()).where(where).group_by(operation_deaths.c.operation_id)
    return Counter({row[0]: row[1] for row in connection.execute(query)})


def deaths_of(connection: Connection, operation_id: str) -> list[Death]:
    """Return the deaths of engines that ran an operation, oldest first."""
    query = select(operation_deaths).where(operation_deaths.c.operation_id == operation_id)
    rows = connection.execute(query.order_by(operation_deaths.c.epoch)).mappings()
    return [Death(**row) for row in rows]


def forget(connection: Connection, operation_id: str) -> None:
    """Delete the deaths of an operation that has ended, or that an operator resumes."""
    connection.execute(delete(operation_deaths).where(operation_deaths.c.operation_id == operation_id))


def forget_deaths_of(connection: Connection, engine_id: str) -> None:
    """Delete the deaths of an engine that has turned out to be alive."""
    connection.execute(delete(operation_deaths).where(operation_deaths.c.engine_id == engine_id))


# -- what may be run -----------------------------------------------------------------------------------------


def condemned(connection: Connection, operation: Operation, limit: int) -> bool:
    """Return whether an operation must be set aside now.

    In a tree the innermost operations are set aside first. This clears the charges of the operations above, which then
    resume and find that an operation inside has failed.
    """
    if limit <= 0:
        return False
    found = [death for death in deaths_of(connection, operation.id) if death.verdict != BYSTANDER]
    in_a_row = sum(death.verdict == CHARGED for death in found)
    return in_a_row >= limit or len(found) >= limit * MOST


def has_work_inside(connection: Connection, operation: Operation) -> bool:
    """Return whether operations of nested stacks that this one started are unfinished."""
    where = and_(operations.c.parent_operation == operation.id, operations.c.status.in_(UNFINISHED))
    return connection.execute(select(operations.c.id).where(where).limit(1)).first() is not None


def blame_inside(connection: Connection, operation: Operation) -> None:
    """Clear the charges of the operations above one that is set aside."""
    above = operation.parent_operation
    while above is not None:
        _clear(connection, [above])
        above = connection.execute(select(operations.c.parent_operation).where(operations.c.id == above)).scalar()


def must_wait(connection: Connection, operation: Operation, limit: int, alive: set[str]) -> bool:
    """Return whether an operation is a suspect while a living engine runs a suspect of another tree."""
    if limit <= 1 or charges(connection, [operation.id])[operation.id] < limit - 1:
        return False
    root = connection.execute(select(stacks.c.root_id).where(stacks.c.id == operation.stack_id)).scalar()
    suspects = (
        select(operation_deaths.c.operation_id)
        .where(operation_deaths.c.verdict == CHARGED)
        .group_by(operation_deaths.c.operation_id)
        .having(func.count() >= limit - 1)
    )
    query = (
        select(operations.c.id)
        .join(stacks, stacks.c.id == operations.c.stack_id)
        .where(
            operations.c.id.in_(suspects),
            operations.c.owner.in_(alive),
            operations.c.status.in_(UNFINISHED),
            stacks.c.root_id != root,
        )
    )
    return connection.execute(query.limit(1)).first() is not None


def clear_survivors(connection: Connection, engine_id: str, now: float, heartbeat: float) -> None:
    """Clear the operations that an engine has run for twice as long as any engine that died.

    `heartbeat` is the maximum time between an engine's last report and its death, in seconds.
    """
    longest = func.max(operation_deaths.c.survived).label("longest")
    query = (
        select(operations.c.id, operations.c.claimed_at, longest)
        .join(operation_deaths, operation_deaths.c.operation_id == operations.c.id)
        .where(
            operations.c.owner == engine_id,
            operations.c.status.in_(UNFINISHED),
            operation_deaths.c.verdict == CHARGED,
        )
        .group_by(operations.c.id, operations.c.claimed_at)
    )
    cleared = [
        row.id
        for row in connection.execute(query)
        if row.claimed_at is not None
        and now - row.claimed_at > max(SHORTEST_TRIAL_SECONDS, 2 * (row.longest + heartbeat))
    ]
    if cleared:
        _clear(connection, cleared)
