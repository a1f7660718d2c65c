"""Operations that an engine may claim, and those that begin again: which, how many, and by whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement, Connection, Integer, and_, bindparam, func, insert, not_, or_, select

from stoker.base.errors import Conflict, EntityNotFound
from stoker.base.ids import new_id
from stoker.store import deaths, queries
from stoker.store.claims import alive
from stoker.store.locks import refuse_locked
from stoker.store.offered import OFFERED_SECONDS, is_offered
from stoker.store.records import (
    FAILED,
    IN_PROGRESS,
    PENDING,
    SECOND_CHANCE,
    SET_ASIDE,
    UNFINISHED,
    Event,
    Operation,
)
from stoker.store.tables import engines, operations, stacks


def _orphaned() -> ColumnElement[bool]:
    """Return the condition for orphans, with the parameters `engine_id`, `now`, and `offered` as for `is_offered`."""
    owner, living = operations.c.owner, select(engines.c.id).where(alive(bindparam("now")))
    return and_(
        operations.c.status.in_(UNFINISHED),
        or_(owner.is_(None), and_(owner != bindparam("engine_id"), owner.not_in(living))),
        not_(is_offered(bindparam("offered"))),
    )


_ORPHANS = (
    select(operations.c.id, operations.c.created_at)
    .where(_orphaned())
    .order_by(operations.c.created_at.desc(), operations.c.id.desc())
    .limit(bindparam("limit", type_=Integer))
)
_COUNT_ORPHANS = select(func.count()).select_from(operations).where(_orphaned())
_SECOND_CHANCES = (
    select(operations.c.id)
    .join(stacks, stacks.c.id == operations.c.stack_id)
    .where(
        operations.c.reason_code == SET_ASIDE,
        operations.c.status == FAILED,
        operations.c.parent_operation.is_(None),
        or_(operations.c.cause.is_(None), operations.c.cause != SECOND_CHANCE),
        operations.c.finished_at <= bindparam("until"),
        stacks.c.operation == operations.c.id,
        stacks.c.status == FAILED,
        stacks.c.deleted_at.is_(None),
    )
    .order_by(operations.c.id)
)


@dataclass(frozen=True, slots=True)
class Orphan:
    """An unfinished operation that no living engine owns."""

    id: str
    created_at: float


def claimable(
    connection: Connection, engine_id: str, now: float, limit: int, after: Orphan | None = None
) -> list[Orphan]:
    """Return at most `limit` unfinished operations that no living engine owns, newest first, from those after `after`.

    What is only offered (see `offered`) is not among them. The newest ones are what users have just requested, and the
    innermost stacks of trees, where the work is.
    """
    columns, query = operations.c, _ORPHANS
    if after is not None:
        same = and_(columns.created_at == after.created_at, columns.id < after.id)
        query = query.where(or_(columns.created_at < after.created_at, same))
    values = {"engine_id": engine_id, "now": now, "offered": now - OFFERED_SECONDS, "limit": limit}
    rows = connection.execute(query, values)
    return [Orphan(row.id, row.created_at) for row in rows]


def count_claimable(connection: Connection, engine_id: str, now: float) -> int:
    """Return how many unfinished operations no living engine owns."""
    values = {"engine_id": engine_id, "now": now, "offered": now - OFFERED_SECONDS}
    return int(connection.execute(_COUNT_ORPHANS, values).scalar_one())


def unfinished(connection: Connection, statuses: Sequence[str] = UNFINISHED) -> list[tuple[Operation, str, str]]:
    """Return the unfinished operations, oldest first, each with its stack's name and project.

    Operations that were set aside are included as long as nothing else was done to their stacks.
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


def resume(connection: Connection, operation_id: str, now: float, cause: str | None = None) -> Operation:
    """Retry an operation that was set aside, with a new operation that waits for an engine; `cause` as in `Operation`.

    For a nested stack this is the operation of the outermost stack that failed because of it. Raises EntityNotFound,
    and Conflict when the operation was not set aside, something else was done to the stack since, or it is locked.
    """
    found = queries.operation_by_id(connection, operation_id)
    if found is None:
        raise EntityNotFound(f"The operation {operation_id} does not exist.")
    while found.parent_operation is not None:
        above = queries.operation_by_id(connection, found.parent_operation)
        if above is None:
            break
        found = above
    stack = queries.lock_stack(connection, found.stack_id)
    if found.status in UNFINISHED:
        raise Conflict(f"The operation {found.id} is not finished; wait until it has failed.")
    if found.reason_code != SET_ASIDE:
        raise Conflict(f"The operation {found.id} was not set aside; its status is {found.status}.")
    if stack is None or stack.operation != found.id or stack.status != FAILED:
        raise Conflict(f"The stack was changed after the operation {found.id}; update the stack instead.")
    refuse_locked(connection, stack)
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
        cause=cause or (None if found.cause == SECOND_CHANCE else found.cause),
        failure=None,
        waiting_epoch=None,
    )
    who = "by itself, once, after a time without deaths of engines" if cause == SECOND_CHANCE else "by an operator"
    reason = f"Stack {again.stack_action} resumed {who}"
    values = {"action": again.stack_action, "status": IN_PROGRESS, "reason": reason, "operation": again.id}
    connection.execute(insert(operations).values(again.values()))
    queries.set_stack(connection, stack.id, values)
    queries.add_events(connection, [Event.of_stack(stack, again.stack_action, IN_PROGRESS, reason, now)])
    return again


def second_chances(connection: Connection, now: float, quiet: float) -> list[str]:
    """Return the operations that were set aside and may resume by themselves: once, after `quiet` seconds.

    In that time, no engine may have died while it ran an operation.
    """
    if deaths.latest(connection) > now - quiet:
        return []
    return list(connection.execute(_SECOND_CHANCES, {"until": now - quiet}).scalars())


def count_unfinished(connection: Connection, now: float) -> dict[str, int]:
    """Count the unfinished operations: `running` on a living engine, and `waiting` for one."""
    living = select(engines.c.id).where(alive(now))
    owned = and_(operations.c.owner.is_not(None), operations.c.owner.in_(living))
    total = select(func.count()).select_from(operations).where(operations.c.status.in_(UNFINISHED))
    running = connection.execute(total.where(owned)).scalar_one()
    return {"running": running, "waiting": connection.execute(total).scalar_one() - running}
