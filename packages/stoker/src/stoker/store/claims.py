"""Which engine runs which operation: claims, leases, and requests to the holders of claims.

These rules hold even if messages between engines are lost:

* An engine is alive if it has not deregistered and has reported itself within its lease.
* An operation is started, or taken over, with the row of its stack locked, and only while no other living engine runs
  an operation on that stack. Operations of dead engines are closed, or taken over, by raising the epoch, after which
  the former owner can no longer write.
* A stack's current operation is the one that its row names; any other unfinished operation is superseded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    delete,
    not_,
    or_,
    select,
    update,
)

from stoker.base.errors import Fenced
from stoker.store import deaths, queries, statements
from stoker.store.bulk import insert_records
from stoker.store.records import (
    FAILED,
    IN_PROGRESS,
    PENDING,
    REMOVE_SNAPSHOT,
    RUNNING,
    SET_ASIDE,
    SUPERSEDED,
    UNFINISHED,
    Announcement,
    EngineRecord,
    Event,
    Operation,
    Resource,
)
from stoker.store.snapshots import end_snapshot
from stoker.store.tables import announcements, engines, events, operations, resources, stacks

_OTHERS = statements.where(operations, "stack_id").where(
    operations.c.id != bindparam("besides"), operations.c.status.in_(UNFINISHED)
)
_NAMED = statements.where_among(stacks, "id").with_only_columns(stacks.c.id, stacks.c.operation)

REMEMBERED_SECONDS = 86400.0
"""How long the records of engines that no longer report themselves are kept, in seconds."""


def alive(now: float | BindParameter[float]) -> ColumnElement[bool]:
    return and_(engines.c.stopped_at.is_(None), engines.c.seen_at + engines.c.lease > now)


_LIVING = select(engines.c.id, engines.c.host).where(alive(bindparam("now"))).order_by(engines.c.id)
_HELD = select(operations.c.id, operations.c.stack_id).where(
    operations.c.owner == bindparam("engine_id"), operations.c.status.in_(UNFINISHED)
)

_OVERTAKEN = "superseded by a newer operation"


# -- engines -------------------------------------------------------------------------------------------------


def report(connection: Connection, engine: EngineRecord) -> None:
    """Record that an engine is alive, which renews all of its claims."""
    values = engine.values()
    key = {"id": values.pop("id")}
    change = statements.change(engines, ("id",), tuple(values))
    if not connection.execute(change, statements.assigned(key, values)).rowcount:
        connection.execute(statements.into(engines), key | values)


def stop_others(connection: Connection, engine_id: str, now: float) -> None:
    """Record all other engines as stopped. The caller must know that none of them can be alive."""
    where = and_(engines.c.id != engine_id, engines.c.stopped_at.is_(None))
    connection.execute(update(engines).where(where).values(stopped_at=now))


def deregister(connection: Connection, engine_id: str, now: float) -> None:
    """Record an engine as stopped."""
    connection.execute(update(engines).where(engines.c.id == engine_id).values(stopped_at=now))


def list_engines(connection: Connection) -> list[EngineRecord]:
    """Return all recorded engine processes, the longest running first."""
    return EngineRecord.all_of(connection.execute(select(engines).order_by(engines.c.started_at)))


def living_hosts(connection: Connection, now: float) -> dict[str, str]:
    """Return the hosts of the engines that are alive, by the engines' IDs."""
    return {row.id: row.host for row in connection.execute(_LIVING, {"now": now})}


def living(connection: Connection, now: float) -> set[str]:
    """Return the IDs of the engines that are alive."""
    return {row.id for row in connection.execute(_LIVING, {"now": now})}


def forget_engines(connection: Connection, before: float) -> None:
    """Delete the records of engines that have not reported themselves since `before`."""
    connection.execute(delete(engines).where(engines.c.seen_at < before))


def forget_dead_engines(connection: Connection, now: float) -> int:
    """Delete the records of engines that are not alive and own no unfinished operation; return how many."""
    owners = select(operations.c.owner).where(operations.c.status.in_(UNFINISHED), operations.c.owner.is_not(None))
    where = and_(not_(alive(now)), engines.c.id.not_in(owners))
    return connection.execute(delete(engines).where(where)).rowcount


# -- claiming operations -------------------------------------------------------------------------------------


def begin(
    connection: Connection, operation: Operation, engine_id: str, now: float, *, is_offered: bool = False
) -> str | None:
    """Record a new operation on a stack whose row is locked, owned by this engine.

    If another living engine still runs an operation on the stack, the new one waits (PENDING), and that engine's ID is
    returned. One that `is_offered` to all engines waits, too, unless this engine runs an operation on the stack.
    """
    others = _others_on(connection, operation)
    busy = _settle(connection, others, engine_id, now)
    if busy is not None or (is_offered and all(other.owner != engine_id for other in others)):
        operation.owner, operation.epoch, operation.status, operation.started_at = None, 0, PENDING, None
    else:
        operation.owner, operation.epoch, operation.status, operation.started_at = engine_id, 1, RUNNING, now
        operation.claimed_at = now
    insert_records(connection, operations, [operation])
    return busy


@dataclass(slots=True)
class StackEnd:
    """What the end of an operation changes on its stack: `lasting` columns in any case; the `values`, the events, the
    notifications and the next operation only if the operation `is_current`, which is set when the end is recorded.
    """

    operation: str
    stack_id: str
    values: Mapping[str, object]
    lasting: Mapping[str, object]
    events: Sequence[Event]
    notifications: Sequence[Announcement]
    next: Operation | None
    is_current: bool = False


def record_ends(connection: Connection, ends: Sequence[StackEnd]) -> None:
    """Record the effects of ended operations on their stacks (a joint statement of the journal).

    The rows of the stacks are locked by it. An operation is current if its stack's row names it.
    """
    rows = [({"id": end.stack_id, "operation": end.operation}, {**end.values, **end.lasting}) for end in ends]
    changed = queries.set_stacks(connection, rows)
    named = _named_operations(connection, [end.stack_id for end in ends]) if changed < len(ends) else None
    for end in ends:
        end.is_current = named is None or named.get(end.stack_id) == end.values.get("operation", end.operation)
    late = [({"id": end.stack_id}, end.lasting) for end in ends if end.lasting and not end.is_current]
    queries.set_stacks(connection, late)
    for table, records in (
        (events, [row for end in ends if end.is_current for row in end.events]),
        (announcements, [row for end in ends if end.is_current for row in end.notifications]),
        (operations, [end.next for end in ends if end.is_current and end.next is not None]),
    ):
        insert_records(connection, table, records)


def _named_operations(connection: Connection, stack_ids: Sequence[str]) -> dict[str, str | None]:
    """Return the operations that the rows of stacks name."""
    found = dict[str, str | None]()
    for page in statements.pages(stack_ids):
        rows = connection.execute(_NAMED, {"values": page})
        found.update((row.id, row.operation) for row in rows)
    return found


@dataclass(frozen=True, slots=True)
class Claimant:
    """The engine that claims operations, at the time `now`.

    An operation that `deaths_limit` engines in a row died of is set aside; 0 means no limit. An engine that `isolates`
    leaves suspects to an engine of their own, whose `trial` is the root stack of their tree: that one claims only them.
    """

    engine_id: str
    now: float
    deaths_limit: int = 0
    isolates: bool = False
    trial: str | None = None


@dataclass(slots=True)
class ClaimedOperations:
    """The operations that were claimed, each with its former owner, and the trees whose suspects need an engine."""

    claimed: list[tuple[Operation, str | None]] = field(default_factory=list)
    to_isolate: set[str] = field(default_factory=set)


def take(connection: Connection, identifiers: Iterable[str], claimant: Claimant) -> ClaimedOperations:
    """Claim those of these operations that are unfinished and that no living engine owns.

    Superseded operations are closed instead. Operations that engines died of (see `deaths`) are returned with the code
    SET_ASIDE, and must not be run.
    """
    query = select(operations).where(operations.c.id.in_(list(identifiers))).order_by(operations.c.id)
    found = Operation.all_of(connection.execute(query.with_for_update()))
    alive = living(connection, claimant.now)
    orphans = [
        operation
        for operation in found
        if operation.status in UNFINISHED and operation.owner != claimant.engine_id and operation.owner not in alive
    ]
    if any(operation.owner is not None for operation in orphans):
        deaths.record_deaths(connection, claimant.now, claimant.deaths_limit)
    taken, reports = ClaimedOperations(), _last_reports(connection, {operation.owner for operation in orphans})
    for operation in orphans:
        idle_since = reports.get(operation.owner) if operation.owner is not None else operation.claimed_at
        claimed = _claim(connection, operation, claimant, alive, taken.to_isolate)
        if claimed is not None:
            _extend(connection, claimed, idle_since, claimant.now)
            taken.claimed.append((claimed, operation.owner))
    return taken


def _last_reports(connection: Connection, owners: set[str | None]) -> dict[str | None, float]:
    """Return when engines have reported themselves for the last time, by their IDs."""
    if owners <= {None}:
        return {}
    return {row.id: row.seen_at for row in connection.execute(select(engines.c.id, engines.c.seen_at))}


def _extend(connection: Connection, operation: Operation, idle_since: float | None, now: float) -> None:
    """Postpone the deadline of an operation, and the beginnings of the actions in progress on its resources, by the
    time in which no engine ran it, as the clock shows it.

    So neither an operation nor a resource times out because nothing could be done for it, nor because the clock was set
    meanwhile.
    """
    if idle_since is None:
        return
    idle = now - idle_since
    if operation.deadline is not None:
        operation.deadline += idle
        where = operations.c.id == operation.id
        connection.execute(update(operations).where(where).values(deadline=operation.deadline))
    acting = and_(resources.c.stack_id == operation.stack_id, resources.c.status == IN_PROGRESS)
    connection.execute(update(resources).where(acting).values(started_at=resources.c.started_at + idle))


@dataclass(frozen=True, slots=True)
class ActionStart:
    """When the action in progress on a resource began: as recorded, and after the clock was set."""

    uuid: str
    recorded: float
    corrected: float


def follow_clock(connection: Connection, engine_id: str, seconds: float, begun: Iterable[ActionStart]) -> None:
    """Change the deadlines of an engine's operations, and when actions on their resources began, because the clock was
    set. What has been recorded about a resource since then is already corrected.
    """
    # SQLAlchemy refuses `in_` in a statement with several sets of parameters.
    unfinished = or_(*(operations.c.status == status for status in UNFINISHED))
    own = and_(operations.c.owner == engine_id, unfinished)
    connection.execute(update(operations).where(own).values(deadline=operations.c.deadline + seconds))
    where = and_(
        resources.c.uuid == bindparam("resource"),
        resources.c.started_at == bindparam("recorded"),
        resources.c.stack_id.in_(select(operations.c.stack_id).where(own)),
    )
    values = [{"resource": start.uuid, "recorded": start.recorded, "corrected": start.corrected} for start in begun]
    if values:
        connection.execute(update(resources).where(where).values(started_at=bindparam("corrected")), values)


def _claim(
    connection: Connection, operation: Operation, claimant: Claimant, alive: set[str], to_isolate: set[str]
) -> Operation | None:
    """Claim an operation whose row is locked; None if that is not possible now."""
    engine_id, now, limit = claimant.engine_id, claimant.now, claimant.deaths_limit
    query = select(stacks.c.operation).where(stacks.c.id == operation.stack_id).with_for_update()
    beside = operation.action == REMOVE_SNAPSHOT
    if not beside and connection.execute(query).scalar() != operation.id:
        _close(connection, operation, now)
        return None
    if _settle(connection, _others_on(connection, operation), engine_id, now) is not None:
        return None
    set_aside = deaths.exceeds_crash_limit(connection, operation, limit)
    if set_aside and deaths.has_unfinished_nested_operations(connection, operation):
        return None
    root = None if set_aside else deaths.suspected(connection, operation, limit)
    if claimant.trial is not None and claimant.trial != root:
        return None
    if root is not None and deaths.must_wait(connection, root, limit, alive):
        return None
    if root is not None and claimant.isolates:
        to_isolate.add(root)
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
        deaths.clear_ancestors(connection, operation)
    return replace(operation, **values, reason_code=SET_ASIDE if set_aside else None)


def _others_on(connection: Connection, operation: Operation) -> list[Operation]:
    """Return the other unfinished operations on the stack of an operation."""
    values = {"stack_id": operation.stack_id, "besides": operation.id}
    return Operation.all_of(connection.execute(_OTHERS, values))


def _settle(connection: Connection, others: Iterable[Operation], engine_id: str, now: float) -> str | None:
    """Close those of these operations on a stack that dead engines ran; return the ID of another living engine that
    runs one of them.
    """
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
    """End a superseded operation; a former owner can no longer write for it."""
    values = {"status": SUPERSEDED, "reason": _OVERTAKEN, "finished_at": now, "epoch": operation.epoch + 1}
    where = and_(operations.c.id == operation.id, operations.c.epoch == operation.epoch)
    connection.execute(update(operations).where(where).values(values))
    if operation.action == "SNAPSHOT" and operation.snapshot is not None and operation.parent_operation is None:
        end_snapshot(connection, operation.snapshot, FAILED, _OVERTAKEN)


def note_activity(connection: Connection, engine_id: str, waiting: Iterable[str], working: Iterable[str]) -> None:
    """Record which of an engine's operations only wait now, and which do not any more."""
    for identifiers, epoch in ((sorted(waiting), operations.c.epoch), (sorted(working), None)):
        for page in statements.pages(identifiers):
            mine = and_(operations.c.id.in_(page), operations.c.owner == engine_id)
            connection.execute(update(operations).where(mine).values(waiting_epoch=epoch))


def record_planned_kills(connection: Connection, processes: Iterable[int], host: str, now: float) -> None:
    """Record that these processes of a host were ended on purpose: that of an engine is no death."""
    where = and_(engines.c.process.in_(list(processes)), engines.c.host == host, engines.c.stopped_at.is_(None))
    connection.execute(update(engines).where(where).values(leaving_at=now))


def held(connection: Connection, engine_id: str) -> dict[str, str]:
    """Return the unfinished operations that an engine owns: the target of each, by operation ID."""
    return {row.id: row.stack_id for row in connection.execute(_HELD, {"engine_id": engine_id})}


def release(connection: Connection, engine_id: str, identifiers: Iterable[str]) -> None:
    """Release those of these operations that an engine owns and that are unfinished, so that others can claim them."""
    for page in statements.pages(sorted(identifiers)):
        where = and_(
            operations.c.id.in_(page),
            operations.c.owner == engine_id,
            operations.c.status.in_(UNFINISHED),
        )
        connection.execute(update(operations).where(where).values(owner=None, claimed_at=None))


# -- the state of claimed operations -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OperationState:
    """The current state of an operation, from its row and that of its stack."""

    operation: str
    owner: str | None
    epoch: int
    status: str
    stack_status: str | None
    current: str | None
    current_action: str | None


@cache
def _states() -> Select[tuple[Any, ...]]:
    following = operations.alias("following")
    joined = operations.outerjoin(stacks, stacks.c.id == operations.c.stack_id).outerjoin(
        following, following.c.id == stacks.c.operation
    )
    columns = (
        operations.c.id, operations.c.owner, operations.c.epoch, operations.c.status,
        stacks.c.status, stacks.c.operation, following.c.action,
    )  # fmt: skip
    among = operations.c.id.in_(bindparam("operation_ids", expanding=True))
    return select(*columns).select_from(joined).where(among)


def current_states(connection: Connection, identifiers: Iterable[str]) -> dict[str, OperationState]:
    """Return the current state of these operations, by ID."""
    found: dict[str, OperationState] = {}
    for page in statements.pages(identifiers):
        rows = connection.execute(_states(), {"operation_ids": page})
        found.update((row[0], OperationState(*row)) for row in rows)
    return found


def owner_of(connection: Connection, stack_id: str, now: float) -> str | None:
    """Return the living engine that runs an operation on the stack."""
    where = and_(operations.c.stack_id == stack_id, operations.c.status == RUNNING, alive(now))
    joined = operations.join(engines, engines.c.id == operations.c.owner)
    return connection.execute(select(engines.c.id).select_from(joined).where(where).limit(1)).scalar()


def runner_of(connection: Connection, operation_id: str) -> str | None:
    """Return the engine that an unfinished operation belongs to, dead or alive; None if there is none."""
    where = and_(operations.c.id == operation_id, operations.c.status.in_(UNFINISHED))
    return connection.execute(select(operations.c.owner).where(where)).scalar()


def current_of(connection: Connection, stack_id: str) -> str | None:
    """Return the stack's current operation if it is unfinished."""
    where = and_(stacks.c.id == stack_id, operations.c.status.in_(UNFINISHED))
    joined = stacks.join(operations, operations.c.id == stacks.c.operation)
    return connection.execute(select(operations.c.id).select_from(joined).where(where)).scalar()


def waiting_on(connection: Connection, stack_id: str) -> str | None:
    """Return the stack's current operation if it is unfinished and has no owner."""
    where = and_(stacks.c.id == stack_id, operations.c.status.in_(UNFINISHED), operations.c.owner.is_(None))
    joined = stacks.join(operations, operations.c.id == stacks.c.operation)
    return connection.execute(select(operations.c.id).select_from(joined).where(where)).scalar()


def change_from_outside(connection: Connection, row: Resource, as_read: str | None) -> None:
    """Write a resource that no operation is changing.

    Raises Fenced when an operation has started on its stack, or the resource's state has changed since it was read; the
    caller then reads the resource again.
    """
    connection.execute(select(stacks.c.id).where(stacks.c.id == row.stack_id).with_for_update())
    running = and_(operations.c.stack_id == row.stack_id, operations.c.status == RUNNING)
    if connection.execute(select(operations.c.id).where(running).limit(1)).first() is not None:
        raise Fenced("an operation on the stack has started")
    query = select(resources.c.state).where(resources.c.uuid == row.uuid).with_for_update()
    if connection.execute(query).scalar() != as_read:
        raise Fenced("the resource has been changed meanwhile")
    connection.execute(update(resources).where(resources.c.uuid == row.uuid).values(row.values()))
