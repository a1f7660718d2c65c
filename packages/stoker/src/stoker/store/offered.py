"""Operations of nested stacks that are offered to all engines: the one that is free first claims them.

An engine that begins more operations of nested stacks than it gets under way at once records the others as PENDING,
without an owner. Nothing has been done for such an operation, so that a claim needs none of the checks of a takeover
(`stoker.store.claims.take`): neither can engines have died of it, nor does its time count yet.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Integer,
    Select,
    and_,
    bindparam,
    exists,
    or_,
    select,
    update,
)

from stoker.store.records import PENDING, RUNNING, SECOND_CHANCE, UNFINISHED, Operation, Stack
from stoker.store.tables import operations, stacks

OFFERED_SECONDS = 60.0
"""For how long operations are only offered. After that they are taken over as those of engines that died."""


def is_offered(since: BindParameter[float]) -> ColumnElement[bool]:
    """Whether an operation is one that engines claim when they are free, for which no takeover is needed yet.

    `since` is the time `OFFERED_SECONDS` ago.
    """
    return and_(_offered(), operations.c.created_at > since)


def _offered() -> ColumnElement[bool]:
    columns = operations.c
    return and_(
        columns.status == PENDING,
        columns.owner.is_(None),
        columns.epoch == 0,
        columns.parent_operation.is_not(None),
        or_(columns.cause.is_(None), columns.cause != SECOND_CHANCE),
    )


def claim_offered(
    connection: Connection, engine_id: str, now: float, limit: int, besides: Collection[str] = ()
) -> list[tuple[Operation, Stack]]:
    """Claim at most `limit` operations that are offered, and return each with its stack as it is.

    Those of the projects `besides` are left to others. Those that another engine is about to claim are passed over; so
    are superseded ones, and those whose stack has another unfinished operation: the end of that one, or a takeover,
    decides about them.
    """
    free = _free().where(stacks.c.project_id.not_in(sorted(besides))) if besides else _free()
    rows = connection.execute(free, {"limit": limit})
    found = {operation.id: operation for operation in Operation.all_of(rows)}
    if not found:
        return []
    values = {"owner": engine_id, "epoch": 1, "status": RUNNING, "started_at": now, "claimed_at": now}
    connection.execute(update(operations).where(operations.c.id.in_(list(found))).values(values))
    for operation in found.values():
        for name, value in values.items():
            setattr(operation, name, value)
    of_found = stacks.c.id.in_([operation.stack_id for operation in found.values()])
    theirs = {stack.id: stack for stack in Stack.all_of(connection.execute(select(stacks).where(of_found)))}
    return [(operation, theirs[operation.stack_id]) for operation in found.values()]


@cache
def _free() -> Select[tuple[object, ...]]:
    """The offered operations that may begin, at most `limit` of them, locked.

    They are not sorted: MariaDB locks everything that it has to sort.
    """
    other = operations.alias("other")
    is_busy = exists().where(
        other.c.stack_id == operations.c.stack_id, other.c.id != operations.c.id, other.c.status.in_(UNFINISHED)
    )
    joined = operations.join(stacks, stacks.c.id == operations.c.stack_id)
    is_current = stacks.c.operation == operations.c.id
    return (
        select(*operations.c)
        .select_from(joined)
        .where(_offered(), is_current, ~is_busy)
        .limit(bindparam("limit", type_=Integer))
        .with_for_update(skip_locked=True)
    )
