"""Operations that crash the engines that run them: deaths of engines are recorded, counted and attributed.

An engine is presumed dead when its lease expires although it was not asked to stop. Each unfinished operation that it
owned gets a row for this death, with a verdict:

* `CHARGED`: the operation may have been the cause: it was working. After `limit` of these in a row it is set aside.
* `CLEARED`: the operation was charged, but has shown since that it was not the cause.
* `WAITING`: the operation only waited, for example for a server to become active; this clears its charges.
* `BYSTANDER`: another operation is more likely to have been the cause, or several engines died at the same time.

Charges are also cleared by progress (a resource of the stack was completed while the engine ran the operation), and by
a run that lasts twice as long as those that ended with a death. Since an operation with a little progress between
deaths could crash any number of engines, a second limit applies to the total of its deaths (`MOST`).

An operation that is one death short of the limit is a suspect. It is given to an engine of its own, in a process of its
own, where there is a way to start one; only the suspects of one tree of stacks run at a time. So the next death
identifies the cause, and other operations are bystanders.

An engine that was only paused, or disconnected from the database, removes its rows when it returns.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, Select, and_, delete, exists, func, insert, or_, select, update

from stoker.store import statements
from stoker.store.records import COMPLETE, SECOND_CHANCE, STACK_TYPE, UNFINISHED, Operation
from stoker.store.tables import engines, events, operation_deaths, operations, stacks

CHARGED = "CHARGED"
CLEARED = "CLEARED"
WAITING = "WAITING"
BYSTANDER = "BYSTANDER"

MOST = 10
"""Multiple of the limit up to which an operation may be charged in total, whatever progress it made in between."""

LONG_RUN_SECONDS = 600.0
"""If an engine ran an operation for longer than this before it died, this was not part of a crash loop."""

SHORTEST_TRIAL_SECONDS = 10.0
"""The minimum time that a charged operation has to run before it is cleared."""

TOGETHER_SECONDS = 5.0
"""Engines that died within this time of each other died of something else than an operation."""


@dataclass(frozen=True, slots=True)
class EngineDeath:
    """A row of the table; `survived` is how long the engine had run the operation before it died, in seconds."""

    operation_id: str
    epoch: int
    stack_id: str
    engine_id: str
    verdict: str
    survived: float
    recorded_at: float


_OF_GONE_ENGINES = (
    select(
        operations.c.id, operations.c.epoch, operations.c.stack_id, operations.c.owner, operations.c.waiting_epoch,
        func.coalesce(operations.c.claimed_at, operations.c.started_at, operations.c.created_at).label("began"),
        engines.c.seen_at, stacks.c.root_id, stacks.c.depth,
    )
    .join(engines, engines.c.id == operations.c.owner)
    .outerjoin(stacks, stacks.c.id == operations.c.stack_id)
    .where(
        operations.c.status.in_(UNFINISHED),
        engines.c.stopped_at.is_(None),
        engines.c.leaving_at.is_(None),
        ~exists().where(
            operation_deaths.c.operation_id == operations.c.id, operation_deaths.c.epoch == operations.c.epoch
        ),
    )
    .order_by(operations.c.id)
    .with_for_update(of=operations)
)  # fmt: skip
"""What engines have left unfinished that are not known to have stopped, without what has a verdict."""


def record_deaths(connection: Connection, now: float, limit: int, *, alone: bool = False) -> None:
    """Record the deaths of engines since the last call; `alone` means that no other engine can be alive.

    A limit of 0 disables this.
    """
    if limit <= 0:
        return
    query = _OF_GONE_ENGINES if alone else _OF_GONE_ENGINES.where(engines.c.seen_at + engines.c.lease <= now)
    by_engine: dict[str, list[_Owned]] = defaultdict(list)
    found = connection.execute(query).all()
    recorded = _recorded(connection, [row.id for row in found])  # by another engine while this one waited for the locks
    for row in found:
        if (row.id, row.epoch) not in recorded:
            by_engine[row.owner].append(
                _Owned(
                    row.id,
                    row.epoch,
                    row.stack_id,
                    row.root_id or row.stack_id,
                    whole_tree=row.depth == 0,
                    waiting=row.waiting_epoch == row.epoch,
                    began=row.began,
                    died=row.seen_at,
                )
            )
    died = {engine_id: owned[0].died for engine_id, owned in by_engine.items()}
    for engine_id, owned in by_engine.items():
        others = [time for other, time in died.items() if other != engine_id]
        together = any(abs(time - died[engine_id]) <= TOGETHER_SECONDS for time in others)
        verdicts = _verdicts(connection, owned, limit, together=together)
        rows = [
            EngineDeath(each.id, each.epoch, each.stack_id, engine_id, verdict, each.survived, now)
            for each, verdict in zip(owned, verdicts, strict=True)
        ]
        connection.execute(
            insert(operation_deaths), [{name: getattr(row, name) for name in EngineDeath.__slots__} for row in rows]
        )


@dataclass(frozen=True, slots=True)
class _Owned:
    """An operation that an engine owned when it `died`; it had run it since it `began`."""

    id: str
    epoch: int
    stack_id: str
    root_id: str
    whole_tree: bool
    waiting: bool
    began: float
    died: float

    @property
    def survived(self) -> float:
        """The seconds for which the engine had run it."""
        return max(self.died - self.began, 0.0)


def _recorded(connection: Connection, identifiers: list[str]) -> set[tuple[str, int]]:
    """Return the operations and epochs for which a death is recorded."""
    query = select(operation_deaths.c.operation_id, operation_deaths.c.epoch)
    return {
        (row.operation_id, row.epoch)
        for page in statements.pages(identifiers)
        for row in connection.execute(query.where(operation_deaths.c.operation_id.in_(page)))
    }


def _verdicts(connection: Connection, owned: list[_Owned], limit: int, *, together: bool) -> list[str]:
    """Return the verdicts about the operations of an engine, and clear the charges of those that were not the cause.

    `together` means that several engines died at the same time, for which no operation is the cause.
    """
    charged = charges(connection, [each.id for each in owned])
    suspects = {each.root_id for each in owned if not each.waiting and charged[each.id] >= limit - 1 > 0}
    progressed = _progressed(connection, [each for each in owned if not each.waiting])
    innocent = {each.id for each in owned if each.waiting or each.survived > LONG_RUN_SECONDS} | progressed
    _clear(connection, innocent & charged.keys())

    def verdict(each: _Owned) -> str:
        if each.waiting:
            return WAITING
        if each.survived > LONG_RUN_SECONDS:
            return CLEARED
        return BYSTANDER if together or (suspects and each.root_id not in suspects) else CHARGED

    return [verdict(each) for each in owned]


def _progressed(connection: Connection, owned: list[_Owned]) -> set[str]:
    """Return the operations during whose last run a resource of the stack, or in the tree of a root, was completed."""
    done = and_(events.c.resource_type != STACK_TYPE, events.c.status == COMPLETE)
    single = select(events.c.stack_id, func.max(events.c.time)).where(done).group_by(events.c.stack_id)
    whole = select(stacks.c.root_id, func.max(events.c.time)).join(stacks, stacks.c.id == events.c.stack_id)
    whole = whole.where(done).group_by(stacks.c.root_id)
    found: set[str] = set()
    for of_trees, query, key in ((False, single, events.c.stack_id), (True, whole, stacks.c.root_id)):
        some = [each for each in owned if each.whole_tree is of_trees]
        for page in statements.pages(some):
            times = connection.execute(query.where(key.in_([each.stack_id for each in page])))
            last: dict[str, float] = {row[0]: row[1] for row in times}
            found.update(each.id for each in page if last.get(each.stack_id, 0.0) >= each.began)
    return found


def _clear(connection: Connection, identifiers: Iterable[str]) -> None:
    for page in statements.pages(sorted(identifiers)):
        some = operation_deaths.c.operation_id.in_(page)
        charged = and_(some, operation_deaths.c.verdict == CHARGED)
        connection.execute(update(operation_deaths).where(charged).values(verdict=CLEARED))


def charges(connection: Connection, identifiers: Iterable[str]) -> Counter[str]:
    """Return how many deaths in a row each of these operations is charged with, without those that have none."""
    operation_ids, found = list(identifiers), Counter[str]()
    query = select(operation_deaths.c.operation_id, func.count()).group_by(operation_deaths.c.operation_id)
    query = query.where(operation_deaths.c.verdict == CHARGED)
    for page in statements.pages(operation_ids):
        some = query.where(operation_deaths.c.operation_id.in_(page))
        found.update({row[0]: row[1] for row in connection.execute(some)})
    return found


def deaths_of(connection: Connection, operation_id: str) -> list[EngineDeath]:
    """Return the deaths of engines that ran an operation, oldest first."""
    query = select(operation_deaths).where(operation_deaths.c.operation_id == operation_id)
    rows = connection.execute(query.order_by(operation_deaths.c.epoch)).mappings()
    return [EngineDeath(**row) for row in rows]


def forget(connection: Connection, operation_id: str) -> None:
    """Delete the deaths of an operation that has ended, or that an operator resumes."""
    connection.execute(delete(operation_deaths).where(operation_deaths.c.operation_id == operation_id))


def forget_deaths_of(connection: Connection, engine_id: str) -> None:
    """Delete the deaths of an engine that has turned out to be alive."""
    connection.execute(delete(operation_deaths).where(operation_deaths.c.engine_id == engine_id))


# -- claimable operations ------------------------------------------------------------------------------------


def exceeds_crash_limit(connection: Connection, operation: Operation, limit: int) -> bool:
    """Return whether an operation must be set aside now.

    In a tree the innermost operations are set aside first. This clears the charges of the operations above, which then
    resume and find that an operation inside has failed.
    """
    if limit <= 0:
        return False
    found = [death for death in deaths_of(connection, operation.id) if death.verdict in (CHARGED, CLEARED)]
    in_a_row = sum(death.verdict == CHARGED for death in found)
    bound = 1 if operation.cause == SECOND_CHANCE and operation.epoch <= 1 else limit
    return in_a_row >= bound or len(found) >= limit * MOST


def has_unfinished_nested_operations(connection: Connection, operation: Operation) -> bool:
    """Return whether operations of nested stacks that this one started are unfinished."""
    where = and_(operations.c.parent_operation == operation.id, operations.c.status.in_(UNFINISHED))
    return connection.execute(select(operations.c.id).where(where).limit(1)).first() is not None


def clear_ancestors(connection: Connection, operation: Operation) -> None:
    """Clear the charges of the operations above one that is set aside."""
    above = operation.parent_operation
    while above is not None:
        _clear(connection, [above])
        above = connection.execute(select(operations.c.parent_operation).where(operations.c.id == above)).scalar()


def suspected(connection: Connection, operation: Operation, limit: int) -> str | None:
    """Return the root of the operation's tree of stacks if the operation is a suspect, otherwise None.

    A second chance is a suspect until it has been run once.
    """
    chance = operation.cause == SECOND_CHANCE and operation.epoch == 0
    if limit <= 1 or not (chance or charges(connection, [operation.id])[operation.id] >= limit - 1):
        return None
    root = connection.execute(select(stacks.c.root_id).where(stacks.c.id == operation.stack_id)).scalar()
    return root or operation.stack_id


def must_wait(connection: Connection, root_id: str, limit: int, alive: set[str]) -> bool:
    """Return whether suspects of a tree wait, since a living engine runs suspects of another tree."""
    query = (
        select(operations.c.id)
        .join(stacks, stacks.c.id == operations.c.stack_id)
        .where(
            operations.c.id.in_(_suspects(limit)),
            operations.c.owner.in_(alive),
            operations.c.status.in_(UNFINISHED),
            stacks.c.root_id != root_id,
        )
    )
    return connection.execute(query.limit(1)).first() is not None


def _suspects(limit: int) -> Select[tuple[str]]:
    return (
        select(operation_deaths.c.operation_id)
        .where(operation_deaths.c.verdict == CHARGED)
        .group_by(operation_deaths.c.operation_id)
        .having(func.count() >= limit - 1)
    )


def on_trial(connection: Connection, root_id: str, limit: int, since: float) -> bool:
    """Return whether a tree has unfinished suspects, or second chances that were claimed after `since` or never."""
    chance = and_(
        operations.c.cause == SECOND_CHANCE, or_(operations.c.claimed_at.is_(None), operations.c.claimed_at > since)
    )
    query = (
        select(operations.c.id)
        .join(stacks, stacks.c.id == operations.c.stack_id)
        .where(
            or_(operations.c.id.in_(_suspects(limit)), and_(chance, operations.c.epoch <= 1)),
            operations.c.status.in_(UNFINISHED),
            stacks.c.root_id == root_id,
        )
    )
    return connection.execute(query.limit(1)).first() is not None


def latest(connection: Connection) -> float:
    """Return when the death of an engine was last recorded; 0 if none is recorded."""
    return float(connection.execute(select(func.max(operation_deaths.c.recorded_at))).scalar() or 0.0)


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
