"""Which engine runs which operation: claims, leases, and what a claim's holder has been asked for since.

The rules, whatever messages are lost:

* An engine is alive while it has not said goodbye and reported itself within its lease.
* An operation is begun, or taken over, with the row of its stack locked, and only while no other living engine runs an
  operation on that stack. What a dead one left is closed, or taken, by raising the epoch: its holder writes no more.
* A stack's current operation is the one that its row names; any other that is unfinished has been overtaken.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, delete, func, insert, or_, select, update

from stoker.base.errors import Conflict, EntityNotFound, Fenced
from stoker.base.ids import new_id
from stoker.store import deaths, queries
from stoker.store.records import (
    FAILED,
    IN_PROGRESS,
    PENDING,
    REMOVE_SNAPSHOT,
    RUNNING,
    SET_ASIDE,
    SUPERSEDED,
    UNFINISHED,
    EngineRecord,
    Event,
    Operation,
    Resource,
)
from stoker.store.snapshots import end_snapshot
from stoker.store.tables import engines, operations, resources, stacks

_PAGE = 400

REMEMBERED_SECONDS = 86400.0
"""How long engines that nobody hears of are kept in the record."""


_OVERTAKEN = "superseded by a newer operation"


# -- engines -------------------------------------------------------------------------------------------------


def report(connection: Connection, engine: EngineRecord) -> None:
    """Renew every claim of an engine by saying that it is alive."""
    values = engine.values()
    identifier = values.pop("id")
    if not connection.execute(update(engines).where(engines.c.id == identifier).values(values)).rowcount:
        connection.execute(insert(engines).values(id=identifier, **values))


def stop_others(connection: Connection, engine_id: str, now: float) -> None:
    """Declare all other engines stopped: the caller knows that none can be alive."""
    where = and_(engines.c.id != engine_id, engines.c.stopped_at.is_(None))
    connection.execute(update(engines).where(where).values(stopped_at=now))


def say_goodbye(connection: Connection, engine_id: str, now: float) -> None:
    """Declare an engine stopped."""
    connection.execute(update(engines).where(engines.c.id == engine_id).values(stopped_at=now))


def list_engines(connection: Connection) -> list[EngineRecord]:
    """All engine processes that have not been forgotten, the longest running first."""
    return EngineRecord.all_of(connection.execute(select(engines).order_by(engines.c.started_at)))


def living(connection: Connection, now: float) -> set[str]:
    """Ids of the engines that are alive."""
    return set(connection.execute(select(engines.c.id).where(_alive(now))).scalars())


def forget_engines(connection: Connection, before: float) -> None:
    """Remove the records of engines that nobody has heard of since `before`."""
    connection.execute(delete(engines).where(engines.c.seen_at < before))


def _alive(now: float) -> ColumnElement[bool]:
    return and_(engines.c.stopped_at.is_(None), engines.c.seen_at + engines.c.lease > now)


# -- taking operations on ------------------------------------------------------------------------------------


def begin(connection: Connection, operation: Operation, engine_id: str, now: float) -> str | None:
    """Record a new operation on a stack whose row is locked, as run by this engine.

    Where another living engine still runs one there, the operation waits (PENDING); that engine's id is the answer.
    """
    owner = _settle_others(connection, operation, engine_id, now)
    if owner is None:
        operation.owner, operation.epoch, operation.status, operation.started_at = engine_id, 1, RUNNING, now
        operation.claimed_at = now
    else:
        operation.owner, operation.epoch, operation.status, operation.started_at = None, 0, "PENDING", None
    connection.execute(insert(operations).values(operation.values()))
    return owner


def take(
    connection: Connection, operation_id: str, engine_id: str, now: float, deaths_limit: int = 0
) -> Operation | None:
    """Claim an unfinished operation that no living engine owns; None where there is nothing to be had.

    One that has been overtaken is closed instead. One that `deaths_limit` engines in a row died of has the code
    SET_ASIDE in the answer: it is not to be run (see `deaths`). A limit of 0 is none.
    """
    row = connection.execute(select(operations).where(operations.c.id == operation_id).with_for_update()).one_or_none()
    operation = Operation.of(row) if row else None
    if operation is None or operation.status not in UNFINISHED or operation.owner == engine_id:
        return None
    if operation.owner is not None and operation.owner in living(connection, now):
        return None
    query = select(stacks.c.operation).where(stacks.c.id == operation.stack_id).with_for_update()
    beside = operation.action == REMOVE_SNAPSHOT
    if not beside and connection.execute(query).scalar() != operation.id:
        _close(connection, operation, now)
        return None
    if _settle_others(connection, operation, engine_id, now) is not None:
        return None
    if operation.owner is not None:
        deaths.record_deaths(connection, now, deaths_limit)
    set_aside = deaths.condemned(connection, operation, deaths_limit)
    if set_aside and deaths.has_work_inside(connection, operation):
        return None
    if not set_aside and deaths.must_wait(connection, operation, deaths_limit, living(connection, now)):
        return None
    values: dict[str, Any] = {
        "owner": engine_id,
        "epoch": operation.epoch + 1,
        "status": RUNNING,
        "started_at": operation.started_at or now,
        "claimed_at": now,
    }
    connection.execute(update(operations).where(operations.c.id == operation.id).values(values))
    if set_aside:
        deaths.blame_inside(connection, operation)
    return replace(operation, **values, reason_code=SET_ASIDE if set_aside else None)


def _settle_others(connection: Connection, operation: Operation, engine_id: str, now: float) -> str | None:
    """Close what dead engines left on the operation's stack; the id of another living engine that runs one there."""
    where = and_(
        operations.c.stack_id == operation.stack_id,
        operations.c.id != operation.id,
        operations.c.status.in_(UNFINISHED),
    )
    others = Operation.all_of(connection.execute(select(operations).where(where)))
    foreign = [other for other in others if other.owner != engine_id]
    if not foreign:
        return None
    alive = living(connection, now)
    for other in foreign:
        if other.owner in alive:
            return other.owner
    for other in foreign:
        _close(connection, other, now)
    return None


def _close(connection: Connection, operation: Operation, now: float) -> None:
    """End an overtaken operation; whoever may still hold it writes no more."""
    values = {"status": SUPERSEDED, "reason": _OVERTAKEN, "finished_at": now, "epoch": operation.epoch + 1}
    where = and_(operations.c.id == operation.id, operations.c.epoch == operation.epoch)
    connection.execute(update(operations).where(where).values(values))
    if operation.action == "SNAPSHOT" and operation.snapshot is not None and operation.parent_operation is None:
        end_snapshot(connection, operation.snapshot, FAILED, _OVERTAKEN)


def claimable(
    connection: Connection, engine_id: str, now: float, limit: int, refused: Iterable[str] = ()
) -> list[Operation]:
    """Unfinished operations that no living engine owns, oldest first, `limit` at most, without those `refused`."""
    alive = select(engines.c.id).where(_alive(now))
    columns = operations.c
    where = and_(
        columns.status.in_(UNFINISHED),
        or_(columns.owner.is_(None), and_(columns.owner != engine_id, columns.owner.not_in(alive))),
        columns.id.not_in(list(refused)),
    )
    query = select(operations).where(where).order_by(columns.created_at, columns.id).limit(limit)
    return Operation.all_of(connection.execute(query))


def held(connection: Connection, engine_id: str) -> dict[str, str]:
    """Unfinished operations that an engine owns: what each works on, by its id."""
    where = and_(operations.c.owner == engine_id, operations.c.status.in_(UNFINISHED))
    rows = connection.execute(select(operations.c.id, operations.c.stack_id).where(where))
    return {row.id: row.stack_id for row in rows}


def let_go(connection: Connection, engine_id: str, identifiers: Iterable[str]) -> None:
    """Leave those of these operations that an engine owns, and that are unfinished, to whoever takes them next."""
    wanted = sorted(identifiers)
    for start in range(0, len(wanted), _PAGE):
        where = and_(
            operations.c.id.in_(wanted[start : start + _PAGE]),
            operations.c.owner == engine_id,
            operations.c.status.in_(UNFINISHED),
        )
        connection.execute(update(operations).where(where).values(owner=None))


# -- what has become of those that were taken ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Standing:
    """An operation as its row and that of its stack have it now."""

    operation: str
    owner: str | None
    epoch: int
    status: str
    stack_status: str | None
    current: str | None
    current_action: str | None


def standing(connection: Connection, identifiers: Iterable[str]) -> dict[str, Standing]:
    """How these operations stand, by id."""
    found: dict[str, Standing] = {}
    wanted = list(identifiers)
    following = operations.alias("following")
    joined = operations.outerjoin(stacks, stacks.c.id == operations.c.stack_id).outerjoin(
        following, following.c.id == stacks.c.operation
    )
    columns: tuple[Any, ...] = (
        operations.c.id, operations.c.owner, operations.c.epoch, operations.c.status,
        stacks.c.status, stacks.c.operation, following.c.action,
    )  # fmt: skip
    for start in range(0, len(wanted), _PAGE):
        query = select(*columns).select_from(joined).where(operations.c.id.in_(wanted[start : start + _PAGE]))
        found.update((row[0], Standing(*row)) for row in connection.execute(query))
    return found


def owner_of(connection: Connection, stack_id: str, now: float) -> str | None:
    """The living engine that runs an operation on the stack."""
    where = and_(operations.c.stack_id == stack_id, operations.c.status == RUNNING, _alive(now))
    joined = operations.join(engines, engines.c.id == operations.c.owner)
    return connection.execute(select(engines.c.id).select_from(joined).where(where).limit(1)).scalar()


def waiting_on(connection: Connection, stack_id: str) -> str | None:
    """The stack's current operation, where it is unfinished and nobody owns it."""
    where = and_(stacks.c.id == stack_id, operations.c.status.in_(UNFINISHED), operations.c.owner.is_(None))
    joined = stacks.join(operations, operations.c.id == stacks.c.operation)
    return connection.execute(select(operations.c.id).select_from(joined).where(where)).scalar()


def change_from_outside(connection: Connection, row: Resource, as_read: str | None) -> None:
    """Write a resource that no operation is changing. Raises Fenced where one runs on its stack by now, or the
    resource's state is not what it was when it was read; whoever made the change looks again.
    """
    connection.execute(select(stacks.c.id).where(stacks.c.id == row.stack_id).with_for_update())
    running = and_(operations.c.stack_id == row.stack_id, operations.c.status == RUNNING)
    if connection.execute(select(operations.c.id).where(running).limit(1)).first() is not None:
        raise Fenced("an operation on the stack has begun")
    query = select(resources.c.state).where(resources.c.uuid == row.uuid).with_for_update()
    if connection.execute(query).scalar() != as_read:
        raise Fenced("the resource has been changed meanwhile")
    connection.execute(update(resources).where(resources.c.uuid == row.uuid).values(row.values()))


def unfinished(connection: Connection, statuses: Sequence[str] = UNFINISHED) -> list[tuple[Operation, str, str]]:
    """Operations that are not finished, oldest first, each with its stack's name and project; also those that were
    set aside, for as long as nothing else was done to their stacks.
    """
    set_aside = and_(
        operations.c.reason_code == SET_ASIDE,
        operations.c.status == FAILED,
        stacks.c.operation == operations.c.id,
        stacks.c.deleted_at.is_(None),
    )
    query = (
        select(operations, stacks.c.name.label("stack_name"), stacks.c.project_id.label("stack_project"))
        .join(stacks, stacks.c.id == operations.c.stack_id)
        .where(or_(operations.c.status.in_(statuses), set_aside))
        .order_by(operations.c.created_at, operations.c.id)
    )
    return [(Operation.of(row), row.stack_name, row.stack_project) for row in connection.execute(query)]


def resume(connection: Connection, operation_id: str, now: float) -> Operation:
    """Have an operation that was set aside carried out again, by a new operation that waits for an engine.

    Inside a nested stack that is the one of the outermost stack which failed for it. Raises EntityNotFound, and
    Conflict for an operation that was not set aside, or after which something else was done to the stack.
    """
    found = queries.operation_by_id(connection, operation_id)
    if found is None:
        raise EntityNotFound(f"There is no operation {operation_id}.")
    while found.parent_operation is not None:
        above = queries.operation_by_id(connection, found.parent_operation)
        if above is None:
            break
        found = above
    stack = queries.lock_stack(connection, found.stack_id)
    if found.status in UNFINISHED:
        raise Conflict(f"The operation {found.id} is not finished: wait until it has failed.")
    if found.reason_code != SET_ASIDE:
        raise Conflict(f"The operation {found.id} was not set aside: it is {found.status}.")
    if stack is None or stack.operation != found.id or stack.status != FAILED:
        raise Conflict(f"Something else was done to the stack after the operation {found.id}: update the stack.")
    again = replace(
        found,
        id=new_id(),
        status=PENDING,
        reason="",
        reason_code=None,
        created_at=now,
        started_at=None,
        finished_at=None,
        claimed_at=None,
        deadline=None if found.deadline is None else now + (found.deadline - found.created_at),
        owner=None,
        epoch=0,
        plan=None,
    )
    reason = f"Stack {again.stack_action} resumed by an operator"
    values = {"action": again.stack_action, "status": IN_PROGRESS, "reason": reason, "operation": again.id}
    connection.execute(insert(operations).values(again.values()))
    queries.set_stack(connection, stack.id, values)
    queries.add_events(connection, [Event.of_stack(stack, again.stack_action, IN_PROGRESS, reason, now)])
    return again


def count_unfinished(connection: Connection, now: float) -> dict[str, int]:
    """Unfinished operations: `running`, by a living engine, and `waiting` for one."""
    alive = select(engines.c.id).where(_alive(now))
    owned = and_(operations.c.owner.is_not(None), operations.c.owner.in_(alive))
    total = select(func.count()).select_from(operations).where(operations.c.status.in_(UNFINISHED))
    running = connection.execute(total.where(owned)).scalar_one()
    return {"running": running, "waiting": connection.execute(total).scalar_one() - running}
