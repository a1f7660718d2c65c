"""The single writer of a process: group commit, with fencing by epoch.

Callers submit a `Batch` and await its commit. A thread takes all waiting batches, drops those whose operation is no
longer owned at the batch's epoch, writes the others in one transaction, and reports the results. Rows are written as a
whole, so that only the last version of a row in a group is sent.

While the database is unreachable the group waits. While it cannot store anything, for example because its disk is full,
only the batches of operations wait; the others fail with the error, so that requests fail and operations pause.

When a connection breaks during a commit, its outcome is unknown: each transaction increments a counter in the writer's
own row, from which the next connection learns the outcome.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import Protocol, TypeAlias

from sqlalchemy import Connection, Table, delete, select
from sqlalchemy.exc import DBAPIError, IntegrityError

from stoker.base.errors import Bug, Fenced
from stoker.base.ids import new_id
from stoker.store import records, statements, survey_records
from stoker.store.answers import Answers
from stoker.store.approval_tables import change_requests
from stoker.store.bulk import Cells, delete_rows, insert_rows, update_rows
from stoker.store.database import EXPIRY, Database, Expiry, Outage, RequestExpired
from stoker.store.failures import passes, unusable
from stoker.store.ownership import Found, Owned, claim, count_group, keep_writers_out, refuse_taken
from stoker.store.search import Terms, replace_terms
from stoker.store.statements import Given, JointStatement
from stoker.store.tables import (
    announcements,
    change_sets,
    drift_detections,
    engines,
    events,
    generated_templates,
    inputs,
    operations,
    property_sets,
    resource_scans,
    resources,
    snapshots,
    software_configs,
    software_deployments,
    stack_refactors,
    stacks,
    writers,
)

GROUP = 2000
"""Maximum number of batches in one transaction."""

_EPOCHS = (
    statements.where_among(operations, "id")
    .with_only_columns(operations.c.id, operations.c.epoch)  # the plan of an operation can be megabytes large
    .order_by(operations.c.id)
    .with_for_update()
)

_ENOUGH = 64
"""Batches with which a group waits for no more: it costs as much as ten rows besides its rows."""
_COLLECTING_SECONDS = 0.005
_LONGEST_COLLECTING = 10
"""How long, and how often at most, a group waits for more while coroutines can continue."""
_CONCURRENT = 4
_COLLECTING_WHEN_IDLE = 3
"""Number of batches that more are likely to follow when no coroutine can continue; how often it waits for these."""

RETRY_SECONDS = 0.5
"""Pause before a group is written again after the database could not be reached."""

waits_for_space: ContextVar[bool] = ContextVar("waits_for_space", default=False)
"""Set where an operation runs: what it commits waits while the database cannot store anything, claim or not."""

TABLES: Mapping[type[records.Record], Table] = {
    records.Inputs: inputs,
    records.Stack: stacks,
    records.Resource: resources,
    records.Event: events,
    records.Operation: operations,
    records.EngineRecord: engines,
    records.SoftwareConfig: software_configs,
    records.StackSnapshot: snapshots,
    survey_records.ChangeSet: change_sets,
    records.SoftwareDeployment: software_deployments,
    records.Announcement: announcements,
    survey_records.DriftDetection: drift_detections,
    survey_records.ResourceScan: resource_scans,
    survey_records.GeneratedTemplate: generated_templates,
    survey_records.StackRefactor: stack_refactors,
    survey_records.ChangeRequest: change_requests,
}
"""The table of each kind of record; the first field of a record is the key of its table."""


Statement: TypeAlias = Callable[[Connection], object]
"""What is executed in the transaction of a batch; its result is ignored."""


@dataclass(frozen=True, slots=True)
class Claim:
    """An engine's claim on an operation; writes with it are refused when the operation's epoch has changed."""

    operation: str
    epoch: int


@dataclass(slots=True)
class Batch:
    """Changes that are committed together: all of them, or none.

    `claims` are objects that resources acquire in it, and that no other resource may have; so are those in `found`,
    which they have searched for. `terms` replace the search terms of resources, by UUID. After the rows are written,
    the `joint` statements of all batches are run, and then the `steps` of each, further statements (tags, deletions …),
    in order.
    """

    claim: Claim | None = None
    added: list[records.Record] = field(default_factory=list)
    changed: list[records.Record] = field(default_factory=list)
    removed: list[records.Record] = field(default_factory=list)
    claims: list[Owned] = field(default_factory=list)
    found: list[Found] = field(default_factory=list)
    property_sets: list[dict[str, str]] = field(default_factory=list)
    terms: dict[str, Terms] = field(default_factory=dict)
    joint: list[tuple[JointStatement, object]] = field(default_factory=list)
    steps: list[Statement] = field(default_factory=list)

    def add(self, *rows: records.Record) -> Batch:
        """Insert new rows."""
        self.added.extend(rows)
        return self

    def change(self, *rows: records.Record) -> Batch:
        """Update existing rows, with all columns."""
        self.changed.extend(rows)
        return self

    def remove(self, *rows: records.Record) -> Batch:
        """Delete rows."""
        self.removed.extend(rows)
        return self

    def precede_with(self, first: Batch) -> Batch:
        """Make the rows of another batch come first, so that later versions of the same rows are kept."""
        self.added[:0], self.changed[:0], self.property_sets[:0] = first.added, first.changed, first.property_sets
        self.terms = first.terms | self.terms
        self.joint.extend(first.joint)
        self.steps.extend(first.steps)
        return self

    def jointly(self, statement: Callable[[Connection, Sequence[Given]], object], argument: Given) -> Batch:
        """Run a statement once for all batches of the transaction that name it, with what each of them has given."""
        self.joint.append((statement, argument))
        return self

    def then(self, step: Statement) -> Batch:
        """Run a statement in the same transaction."""
        self.steps.append(step)
        return self


@dataclass(slots=True)
class _Frozen:
    """A copy of a batch at the time of submission: its rows may change while it waits."""

    claim: Claim | None
    added: Sequence[tuple[type[records.Record], Cells]]
    changed: Sequence[tuple[type[records.Record], Cells]]
    removed: Sequence[tuple[type[records.Record], str]]
    claims: Sequence[Owned]
    found: Sequence[Found]
    property_sets: Sequence[dict[str, str]]
    terms: Mapping[str, Terms]
    joint: Sequence[tuple[JointStatement, object]]
    steps: Sequence[Statement]
    answer: Callable[[BaseException | None], None]
    waits: bool
    expiry: Expiry | None

    @property
    def expired(self) -> bool:
        """Whether the request that the batch belongs to has expired."""
        return self.expiry is not None and self.expiry.expired


class _Late(Exception):
    """Requests of a group have expired before its commit, which is therefore rolled back."""


class Writer(Protocol):
    """Commits batches: a journal, or what a run has of it."""

    async def commit(self, batch: Batch) -> None:
        """Return when the batch has been committed. Raises the errors of `Journal.commit`."""


class ClaimedWriter:
    """What a run of an operation has of the journal: every batch carries the run's claim, whatever wrote it."""

    def __init__(self, journal: Journal, claim: Claim) -> None:
        self._journal = journal
        self._claim = claim

    async def commit(self, batch: Batch) -> None:
        """Commit a batch under the claim. Raises Fenced when it has been lost, and the errors of `Journal.commit`."""
        batch.claim = self._claim
        await self._journal.commit(batch)


class NoWriter:
    """Used where nothing is recorded, such as the examination of an object that belongs to no stack yet."""

    async def commit(self, batch: Batch) -> None:
        """Raise Bug."""
        raise Bug("a resource type records something although it is only examined")


class Journal:
    """The writer of one process, with a thread of its own, which asks `expects_more` whether more batches follow."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: queue.SimpleQueue[_Frozen | None] = queue.SimpleQueue()
        self._stopped = False
        self._id = new_id()
        self._unsure: tuple[int, set[Claim]] | None = None
        self._outage = Outage("written")
        self._answers: Answers | None = None
        self._last_size = 0
        self.groups = 0
        self.observe: Callable[[int, float], None] = lambda batches, seconds: None
        self.expects_more: Callable[[], bool] = lambda: False
        self._thread: threading.Thread | None = None
        self.begin()

    def begin(self) -> None:
        """Start the writer thread."""
        self._thread = threading.Thread(target=self._run, name="store-journal", daemon=True)
        self._thread.start()

    async def commit(self, batch: Batch) -> None:
        """Return when the batch has been committed.

        Raises Fenced when its claim has been lost, ObjectAlreadyOwned when another resource has an object that it
        claims or found, and the database's IntegrityError when a row already exists. Raises RequestExpired when the
        sender of the request that the task carries out has stopped waiting; a batch with a claim belongs to no request.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        if self._answers is None or self._answers.loop is not loop:
            self._answers = Answers(loop)
        self.submit(batch, partial(self._answers.deliver, future))
        await future

    def submit(self, batch: Batch, answer: Callable[[BaseException | None], None]) -> None:
        """Write a batch, as it is now, with the next group; `answer` is called with the error, or None."""
        if self._stopped:
            raise Bug("the journal is closed")
        self._waiting.put(
            _Frozen(
                batch.claim,
                tuple([(type(row), row.cells()) for row in batch.added]),
                tuple([(type(row), row.cells()) for row in batch.changed]),
                tuple([(type(row), row.cells()[0]) for row in batch.removed]),
                tuple(batch.claims),
                tuple(batch.found),
                tuple(batch.property_sets),
                dict(batch.terms),
                tuple(batch.joint),
                tuple(batch.steps),
                answer,
                batch.claim is not None or waits_for_space.get(),
                EXPIRY.get() if batch.claim is None else None,
            )
        )

    @property
    def waiting(self) -> int:
        """The number of batches that wait to be written."""
        return self._waiting.qsize()

    def close(self) -> None:
        """Write the waiting batches, those that the database takes at once, and stop."""
        self._stopped = True
        self._waiting.put(None)
        if self._thread is not None:
            self._thread.join()

    # -- the writer thread -----------------------------------------------------------------------------------

    def _run(self) -> None:
        while self.write_next():
            pass
        if self.groups:
            with contextlib.suppress(DBAPIError), self._database.writing() as connection:
                connection.execute(delete(writers).where(writers.c.id == self._id))

    def write_next(self) -> bool:
        """Write the waiting batches as one group, or wait for one; return False once the journal is closed."""
        group = self._next_group()
        if group:
            self._write(group)
        return group is not None

    def _next_group(self) -> list[_Frozen] | None:
        first = self._waiting.get()
        if first is None:
            return None
        group = [first]
        self._gather(group)
        arrived = max(len(group), self._last_size)
        for times in range(_LONGEST_COLLECTING):
            follow = self.expects_more() or (arrived >= _CONCURRENT and times < _COLLECTING_WHEN_IDLE)
            if len(group) >= _ENOUGH or not follow:
                break
            before = len(group)
            self.collect()
            self._gather(group)
            arrived = len(group) - before
        self._last_size = len(group)
        return group

    def _gather(self, group: list[_Frozen]) -> None:
        """Add to the group what has been submitted meanwhile."""
        while len(group) < GROUP and not self._waiting.empty():
            batch = self._waiting.get()
            if batch is None:
                self._waiting.put(None)
                break
            group.append(batch)

    def _write(self, group: list[_Frozen], *, again: bool = False) -> None:
        began = time.monotonic()
        try:
            fenced = self._written(group)
        except Exception as error:
            if isinstance(error, IntegrityError) and any(batch.claims for batch in group) and not again:
                # Perhaps another engine has claimed an object at the same moment; now its claim can be read.
                self._write(group, again=True)
                return
            self._write_singly(group, error)
            return
        self.observe(len(group), time.monotonic() - began)
        for batch in group:
            batch.answer(Fenced("another engine owns the operation") if batch.claim in fenced else None)

    def _written(self, group: list[_Frozen]) -> set[Claim]:
        """Write the group, with retries while the database is unreachable; return the claims that were lost.

        While the database cannot store anything, the batches that do not wait are answered and left out, and batches
        that arrive are added. Raises errors that a retry does not resolve.
        """
        while group:
            settled = False
            if self._unsure is None:
                _leave_out(group, lambda batch: batch.expired, RequestExpired("The sender stopped waiting."))
            try:
                committed = self._committed_after_all()
                settled = True
                fenced = self.write_group(group) if committed is None else committed
            except _Late:
                continue
            except DBAPIError as error:
                lasts = not passes(error)
                if self._stopped or not unusable(error):
                    raise
                self._outage.failed(error.orig)
                if lasts and settled:  # the database has answered: nothing of the group is in
                    self._unsure = None
                    _leave_out(group, lambda batch: not batch.waits, error)
                    self._gather(group)
            else:
                self._outage.succeeded()
                return fenced
            if group:
                self.pause()
        return set()

    def pause(self) -> None:
        """Wait before the next attempt to reach the database."""
        time.sleep(RETRY_SECONDS)

    def collect(self) -> None:
        """Let more batches arrive, while as many as before do."""
        time.sleep(_COLLECTING_SECONDS)

    def _committed_after_all(self) -> set[Claim] | None:
        """Return the lost claims of a group that was committed although the connection broke; None if it was not."""
        if self._unsure is None:
            return None
        number, fenced = self._unsure
        with self._database.engine.connect() as connection:
            counted = connection.execute(select(writers.c.groups).where(writers.c.id == self._id)).scalar()
        self._unsure = None
        if counted != number:
            return None
        self.groups = number
        return fenced

    def _write_singly(self, group: list[_Frozen], error: Exception) -> None:
        """Write the batches of a failed group one by one, so that only the faulty one fails. A closed journal does not
        try a database that cannot be used once more for each.
        """
        if len(group) == 1 or (self._stopped and isinstance(error, DBAPIError) and unusable(error)):
            _leave_out(group, lambda batch: True, error)
            return
        for batch in group:
            self._write([batch])

    def write_group(self, group: list[_Frozen]) -> set[Claim]:
        """Write the group in one transaction; return the claims that were lost, whose batches were not written."""
        number = self.groups + 1
        with self._database.writing() as connection:
            if any(batch.found for batch in group):
                keep_writers_out(connection)
            count_group(connection, self._id, number)
            fenced = _lost_claims(connection, {batch.claim for batch in group if batch.claim is not None})
            remaining = [batch for batch in group if batch.claim is None or batch.claim not in fenced]
            claim(connection, chain.from_iterable(batch.claims for batch in remaining))
            _write_rows(connection, remaining)
            replace_terms(connection, (batch.terms for batch in remaining))
            refuse_taken(connection, chain.from_iterable(batch.found for batch in remaining))
            statements.run_joint(connection, chain.from_iterable(batch.joint for batch in remaining))
            for batch in remaining:
                for step in batch.steps:
                    step(connection)
            if [batch for batch in remaining if batch.expiry is not None and not batch.expiry.may_commit()]:
                raise _Late
            self._unsure = number, fenced
        self._unsure = None
        self.groups = number
        return fenced


def _leave_out(group: list[_Frozen], leaves: Callable[[_Frozen], bool], error: Exception) -> None:
    """Answer some batches of the group with the error, and remove them from it."""
    remaining = []
    for batch in group:
        if leaves(batch):
            batch.answer(error)
        else:
            remaining.append(batch)
    group[:] = remaining


def _lost_claims(connection: Connection, claims: Iterable[Claim]) -> set[Claim]:
    distinct = set(claims)
    if not distinct:
        return set()
    identifiers = sorted(claim.operation for claim in distinct)  # a fixed order avoids deadlocks between writers
    rows: dict[str, int] = {row.id: row.epoch for row in statements.rows_among(connection, _EPOCHS, identifiers)}
    return {claim for claim in distinct if rows.get(claim.operation, -1) != claim.epoch}


def _write_rows(connection: Connection, batches: list[_Frozen]) -> None:
    """Write the rows of batches: of each row the last version, and none of one that is added and removed."""
    added: dict[type[records.Record], dict[str, Cells]] = {}
    changed: dict[type[records.Record], dict[str, Cells]] = {}
    removed: dict[type[records.Record], dict[str, None]] = {}
    for batch in batches:
        for kind, cells in batch.added:
            added.setdefault(kind, {})[cells[0]] = cells
        for kind, cells in batch.changed:
            rows = added if cells[0] in added.get(kind, ()) else changed
            rows.setdefault(kind, {})[cells[0]] = cells
        for kind, key in batch.removed:
            changed.get(kind, {}).pop(key, None)
            if added.get(kind, {}).pop(key, None) is None:
                removed.setdefault(kind, {})[key] = None
    sets = [_PROPERTY_SET(row) for batch in batches for row in batch.property_sets]
    if sets:
        insert_rows(connection, property_sets, _PROPERTY_SET_COLUMNS, sets)
    for kind, rows_by_key in added.items():
        if rows_by_key:
            insert_rows(connection, TABLES[kind], kind.columns, rows_by_key.values())
    for kind, rows_by_key in changed.items():
        if rows_by_key:
            update_rows(connection, TABLES[kind], kind.columns[:1], kind.columns[1:], rows_by_key.values())
    for kind, keys in removed.items():
        delete_rows(connection, TABLES[kind], kind.columns[0], keys)


_PROPERTY_SET_COLUMNS = ("id", "stack_id", "body")
_PROPERTY_SET = itemgetter(*_PROPERTY_SET_COLUMNS)
