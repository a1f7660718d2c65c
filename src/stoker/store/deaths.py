"""Operations that kill the engines that run them: deaths are recorded, counted, and judged.

An engine vanishes when its lease lapses without a goodbye. Every unfinished operation that it owned gets one row for
that, whose verdict says what it means for the operation:

* `CHARGED`: the operation may have been the reason. `limit` of them in a row, and it is set aside.
* `CLEARED`: it was charged, and has shown since that it was not the reason.
* `BYSTANDER`: another operation is known to be the more likely reason.

Charges are cleared by progress (a resource of the stack was completed while the engine ran the operation), and by a
run that lasts twice as long as the ones that ended in a death. Since an operation could buy itself any number of deaths
with a little progress for each, there is a second limit for all of its deaths together (`MOST`).

An operation that is one death short of the limit is a suspect. Suspects run one tree of stacks at a time, so that the
next death says which one it was, and what else ran beside it is a bystander.

An engine that was only paused, or cut off from the database, removes its rows when it is back: it was not dead.
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
"""How many times the limit an operation may be charged in all, whatever progress it made between."""

LONG_RUN_SECONDS = 600.0
"""An engine that ran an operation for longer than this did not die of it as in a crash loop."""

SHORTEST_TRIAL_SECONDS = 10.0
"""How long a charged operation has to run, at least, before it is cleared."""


@dataclass(frozen=True, slots=True)
class Death:
    """A row of the table; `survived` is for how many seconds the engine had run the operation."""

    operation_id: str
    epoch: int
    stack_id: str
    engine_id: str
    verdict: str
    survived: float
    recorded_at: float


def record_deaths(connection: Connection, now: float, limit: int, *, alone: bool = False) -> None:
    """Judge the engines that have vanished since the last look; `alone` says that no engine can be alive.

    A limit of 0 switches this off.
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
    for row in connection.execute(query):
        operation = Operation.of(row)
        by_engine[operation.owner or ""].append((operation, row.seen_at, row.root_id or operation.stack_id))
    for engine_id, found in by_engine.items():
        _judge(connection, engine_id, found, now, limit)


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
    """Whether a resource of the operation's stack, or of one nested in it, was completed since then."""
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
    """How many deaths in a row each of these operations is charged with; those without any are left out."""
    where = and_(operation_deaths.c.operation_id.in_(list(identifiers)), operation_deaths.c.verdict == CHARGED)
    query = select(operation_deaths.c.operation_id, func.count()).where(where).group_by(operation_deaths.c.operation_id)
    return Counter({row[0]: row[1] for row in connection.execute(query)})


def deaths_of(connection: Connection, operation_id: str) -> list[Death]:
    """The deaths of engines that ran an operation, the oldest first."""
    query = select(operation_deaths).where(operation_deaths.c.operation_id == operation_id)
    rows = connection.execute(query.order_by(operation_deaths.c.epoch)).mappings()
    return [Death(**row) for row in rows]


def forget(connection: Connection, operation_id: str) -> None:
    """Remove the deaths of an operation that has ended, or that an operator resumes."""
    connection.execute(delete(operation_deaths).where(operation_deaths.c.operation_id == operation_id))


def take_back(connection: Connection, engine_id: str) -> None:
    """Remove what was recorded about an engine that is alive after all."""
    connection.execute(delete(operation_deaths).where(operation_deaths.c.engine_id == engine_id))


# -- what may be run -----------------------------------------------------------------------------------------


def condemned(connection: Connection, operation: Operation, limit: int) -> bool:
    """Whether an operation is to be set aside now.

    Of a tree the innermost operations come first. With them the charges of the ones above are cleared, which resume
    and find that something inside has failed.
    """
    if limit <= 0:
        return False
    found = [death for death in deaths_of(connection, operation.id) if death.verdict != BYSTANDER]
    in_a_row = sum(death.verdict == CHARGED for death in found)
    return in_a_row >= limit or len(found) >= limit * MOST


def has_work_inside(connection: Connection, operation: Operation) -> bool:
    """Whether operations of nested stacks, begun by this one, are unfinished."""
    where = and_(operations.c.parent_operation == operation.id, operations.c.status.in_(UNFINISHED))
    return connection.execute(select(operations.c.id).where(where).limit(1)).first() is not None


def blame_inside(connection: Connection, operation: Operation) -> None:
    """Clear the operations above one that is set aside."""
    above = operation.parent_operation
    while above is not None:
        _clear(connection, [above])
        above = connection.execute(select(operations.c.parent_operation).where(operations.c.id == above)).scalar()


def must_wait(connection: Connection, operation: Operation, limit: int, alive: set[str]) -> bool:
    """Whether an operation is a suspect while another tree's suspect is run by a living engine."""
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
    """Clear the operations that an engine has run for twice as long as any engine that died did.

    `heartbeat` is how much later than its last report an engine may have died, in seconds.
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
