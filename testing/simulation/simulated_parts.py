"""The parts of an engine's process that touch the world, each on the simulated loop: journal, transport, logins, peers.

They replace threads and sockets, and nothing else: requests are answered by the emulator's own dispatch, rows are
written to a real database by the real journal.
"""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from openstack_emulator.core.cloud import Cloud
from openstack_emulator.core.dispatch import dispatch
from openstack_emulator.core.faults import Fault
from openstack_emulator.core.http import Request as CloudRequest
from openstack_emulator.core.http import Response
from stoker.base.context import RequestContext
from stoker.cloud.settings import CloudSettings
from stoker.cloud.transport import Request
from stoker.contract import request as contract
from stoker.engine.ownership.peers import NoPeers, PeerUnavailable
from stoker.engine.running.stop import LOST, never
from stoker.operations import OPERATIONS
from stoker.store import claims, records
from stoker.store.database import Database
from stoker.store.journal import RETRY_SECONDS, TABLES, Batch
from stoker.store.ownership import ObjectAlreadyOwned
from stoker.store.tables import events, resources
from stoker.testing.connections import LoopJournal, LoopTransport
from stoker.testing.simulated_loop import READING, Process, ProcessClock, SimulatedLoop, settle

_OWNER = "SELECT owner, epoch FROM operations WHERE id = ?"
_LEASE = "SELECT stopped_at, seen_at + lease FROM engines WHERE id = ?"

LOOKS = frozenset({"GET", "HEAD", "OPTIONS"})
LONGEST_TRIP = 1.0
"""Seconds that a request or an answer is on its way at most."""
SLOW_TRIP = (10.0, 50.0)
"""The same for those that are slow: they may outlast a lease, and their sender."""

FAULTS = ("fail", "succeed_but_fail", "rate_limit", "drop", "act_and_drop")


class FaultInjector:
    """Decides faults and delays at random, and records what has happened. Everything random comes from one seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.violations: list[str] = []
        self.fault_rate = self.refusal_rate = 0.0
        """Parts of all calls of the cloud that go wrong, or are refused."""
        self.loss_rate = 0.0
        """The part of all messages between engines that is lost."""
        self.cut_rate = 0.0
        """The part of all commits in which the connection breaks."""
        self.slow_rate = 0.0
        """The part of all creations that are on their way for longer than a lease, there or back."""
        self.spoil_rate = 0.0
        """The part of all ends of operations that cannot be written, for a reason that no retry resolves."""
        self.trace: list[str] = []
        self.now: Callable[[], float] = lambda: 0.0
        self.after_write: Callable[[], None] = lambda: None
        self.on_answer: Callable[[CloudRequest, Response | None, bool], None] = lambda sent, response, reading: None
        """Called with every request that the cloud gets, its answer, and whether it is a reader's."""
        self.made_late: Callable[[], int] = lambda: 0
        self.looked_for: Callable[[CloudRequest], bool] = lambda sent: False
        """Whether engines look for what a request creates after its sender has died."""
        self.on_their_way = 0
        """Slow requests that have not arrived."""
        self.late_objects: set[str] = set()
        """What was created for senders that had died."""
        self._away_until = 0.0

    def stop_troubles(self) -> None:
        """Nothing goes wrong any more."""
        self.spoil_rate = self.slow_rate = 0.0
        self.fault_rate = self.refusal_rate = self.loss_rate = self.cut_rate = self._away_until = 0.0

    def interrupt_database(self, seconds: float) -> None:
        """The database cannot be reached for a while."""
        self.counts["databases away"] += 1
        self._away_until = self.now() + seconds

    @property
    def is_database_down(self) -> bool:
        """Whether the database cannot be reached."""
        return self.now() < self._away_until

    def happens(self, rate: float) -> bool:
        """Whether something happens that happens at that rate."""
        return rate > 0 and self.chance.random() < rate

    def latency(self) -> float:
        """Seconds that a message is on its way: mostly little, now and then long."""
        return self.chance.random() ** 4 * LONGEST_TRIP

    def slow_latency(self, request: Request) -> tuple[float, float]:
        """Seconds that a request and its answer are on their way, where not both are quick: 0 otherwise.

        Nobody looks for users that are created late (a known flaw), so their requests are quick.
        """
        if request.method != "POST" or not self.happens(self.slow_rate) or request.url.endswith("/users"):
            return 0.0, 0.0
        self.counts["slow creations"] += 1
        seconds = self.chance.uniform(*SLOW_TRIP)
        return (seconds, 0.0) if self.chance.random() < 0.5 else (0.0, seconds)

    def fault(self, request: CloudRequest) -> Fault | None:
        """What goes wrong with a request."""
        if request.method not in LOOKS and self.happens(self.refusal_rate):
            self.counts["fault refuse"] += 1
            return Fault(on="* *", do="fail", status=self.chance.choice((400, 403, 409)))
        if not self.happens(self.fault_rate):
            return None
        kinds = [*FAULTS, "error_state"] if creates_fallible_object(request) else FAULTS
        kind = self.chance.choice(kinds)
        self.counts[f"fault {kind}"] += 1
        if request.path.endswith("/OS-TRUST/trusts") and kind in ("succeed_but_fail", "act_and_drop"):
            self.counts["trusts that were said to have failed"] += 1
        status = self.chance.choice((500, 502, 503, 504)) if kind in ("fail", "succeed_but_fail") else None
        return Fault(on="* *", do=kind, status=status, seconds=self.chance.choice((0.0, 1.0, 5.0)))

    def violate(self, kind: str, text: str) -> None:
        """Report once that something has happened that must not."""
        if f"{kind}: {text}" not in self.violations:
            self.violations.append(f"{kind}: {text}")
            self.trace.append(f"{self.now():.3f} VIOLATION {kind}: {text}")


def creates_fallible_object(request: CloudRequest) -> bool:
    """Whether a request makes an object that has an error state."""
    return request.method == "POST" and request.path.rstrip("/").rsplit("/", 1)[-1] in ("servers", "volumes")


class SimulatedJournal(LoopJournal):
    """Writes on the loop, and looks at whether whoever writes under a claim is the claim's owner."""

    def __init__(
        self, database: SimulatedDatabase, loop: SimulatedLoop, injector: FaultInjector, owner: Callable[[], str]
    ) -> None:
        self._observe = database.observe
        self._injector = injector
        self._owner = owner
        super().__init__(database, loop)

    def submit(self, batch: Any, answer: Any) -> None:
        if batch.claim is None and LOST.get() is not never and _changes_resources(batch):
            self._injector.violate("fencing", f"{self._owner()} writes for a step without a claim: {batch}")
        if _ends_operation(batch) and self._injector.happens(self._injector.spoil_rate):
            self._injector.counts["ends spoiled"] += 1
            self._loop.call_later(0.0, lambda: answer(RuntimeError("the disk made a noise")))
            return
        super().submit(batch, answer)

    def _delay(self) -> float:
        return self._injector.latency() / 20

    def _turn(self) -> None:
        if self._injector.is_database_down:
            self._loop.call_later(RETRY_SECONDS, self._turn)
            return
        super()._turn()

    def write_group(self, group: Any) -> Any:
        if self._injector.happens(self._injector.cut_rate):
            self._injector.counts["commits cut off"] += 1
            if self._injector.chance.random() < 0.5:
                raise _connection_error()
            number = self.groups + 1
            refused = self._write_and_check(group)
            self.groups, self._unsure = number - 1, (number, refused)
            raise _connection_error()
        return self._write_and_check(group)

    def _write_and_check(self, group: Any) -> Any:
        claimed = {batch.claim.operation for batch in group if batch.claim is not None}
        before = self._current_owners(claimed) if claimed else {}
        stale = [batch for batch in group if self._is_stale(batch, before)]
        others = {key for batch in group if batch not in stale for key in _keys(batch)}
        theirs = sorted({key for batch in stale for key in _keys(batch)} - others)
        earlier = self._rows(theirs)
        try:
            refused = super().write_group(group)
        except ObjectAlreadyOwned:
            self._injector.counts["objects refused"] += 1
            raise
        if self._rows(theirs) != earlier:
            self._injector.violate("fencing", f"{self._owner()} wrote although it had lost its claim: {theirs}")
        self._injector.counts["groups committed"] += 1
        self._injector.counts["writes refused"] += len(refused)
        for batch in stale:
            if batch.claim not in refused:
                owner = before.get(batch.claim.operation, "nobody")
                self._injector.violate("fencing", f"{self._owner()} wrote under a claim of {owner}")
        if not all(_is_heartbeat(batch) for batch in group):
            self._injector.after_write()
        return refused

    def _current_owners(self, identifiers: set[str]) -> Mapping[str, tuple[str | None, int]]:
        """The owner and epoch of each operation."""
        return {key: row for key in identifiers for row in self._observe(_OWNER, key)}

    def _is_stale(self, batch: Any, standing: Mapping[str, tuple[str | None, int]]) -> bool:
        """Whether a batch is written under a claim that this engine does not have any more."""
        claim = batch.claim
        return claim is not None and standing.get(claim.operation) != (self._owner(), claim.epoch)

    def _rows(self, keys: Sequence[tuple[str, str]]) -> list[Any]:
        """What is recorded under keys."""
        if not keys:
            return []
        with self._database.engine.connect() as connection:
            queries = [select(*_columns(table)).where(_GUARDED[table].c[_KEY[table]] == key) for table, key in keys]
            return [connection.execute(query).one_or_none() for query in queries]


_GUARDED = {"resources": resources, "events": events}
_KEY = {"resources": "uuid", "events": "id"}


def _columns(table: str) -> list[Any]:
    """The columns of a guarded table but `started_at`: who takes an operation over, without a claim yet, sets it."""
    return [column for column in _GUARDED[table].c if column.name != "started_at"]


def _keys(batch: Any) -> Iterator[tuple[str, str]]:
    """The table and key of the resources and events that a batch writes."""
    for kind, cells in (*batch.added, *batch.changed):
        if (name := TABLES[kind].name) in _GUARDED:
            yield name, cells[0]


def _changes_resources(batch: Batch) -> bool:
    """Whether a batch writes what belongs to a stack, and not only what an engine notes about itself."""
    rows = (*batch.added, *batch.changed, *batch.removed)
    kinds = (records.Resource, records.SoftwareDeployment, records.SoftwareConfig)
    removing = any("deployment" in (getattr(step, "__module__", None) or _module(step)) for step in batch.steps)
    return removing or any(isinstance(row, kinds) for row in rows)


def _module(step: Any) -> str:
    return str(getattr(getattr(step, "func", None), "__module__", ""))


def _ends_operation(batch: Batch) -> bool:
    return any(isinstance(row, records.Operation) and row.finished_at is not None for row in batch.changed)


def _is_heartbeat(batch: Batch) -> bool:
    """Whether a batch only says that its engine lives: most do, and they change nothing that one might look at."""
    rows = batch.added or batch.changed or batch.removed
    return not rows and [getattr(step, "func", None) for step in batch.steps] == [claims.report]


class SharedDatabase(Database):
    """The file of all processes, and a connection to it for those who check what engines do.

    They look at it with each write and each request of an engine: SQLAlchemy takes many times as long as SQLite.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(f"sqlite:///{path}")
        self._observer = sqlite3.connect(path, isolation_level=None)

    def observe(self, query: str, *parameters: object) -> list[Any]:
        """Return the rows that are committed."""
        return self._observer.execute(query, parameters).fetchall()


class SimulatedDatabase(Database):
    """Cannot be read while it is away. All processes share the statements that SQLAlchemy has compiled."""

    def __init__(self, shared: SharedDatabase, injector: FaultInjector) -> None:
        super().__init__(shared.url.render_as_string(hide_password=False))
        self.engine, self._reading = shared.engine, shared._reading
        self.observe = shared.observe
        self._injector = injector

    def read_now(self, query: Callable[..., Any], *arguments: Any) -> Any:
        if self._injector.is_database_down:
            raise _connection_error()
        return super().read_now(query, *arguments)


def _connection_error() -> OperationalError:
    return OperationalError("a statement", None, OSError("the connection broke"), connection_invalidated=True)


class SimulatedTransport(LoopTransport):
    """Requests travel to the emulator, and answers back, whatever becomes of the sender meanwhile."""

    def __init__(
        self, settings: CloudSettings, process: Process, clock: ProcessClock, cloud: Cloud, injector: FaultInjector
    ) -> None:
        super().__init__(settings, clock)
        self._process = process
        self._loop = process.loop
        self._cloud = cloud
        self._injector = injector
        self.check_lease: Callable[[Request], None] = lambda request: None

    async def _answered(self, request: Request, sent: CloudRequest) -> Response | None:
        if request.method not in LOOKS:
            self.check_lease(request)
        future: asyncio.Future[Response | None] = self._loop.create_future()
        there, back = self._injector.slow_latency(request)
        self._injector.on_their_way += there > 0
        if there and not self._injector.looked_for(sent):
            self._process.survive()
        if there:
            self._loop.outside.copy().run(
                self._loop.call_later, self._injector.chance.uniform(0.0, 5.0), self._disturb_sender
            )
        self._loop.outside.copy().run(
            self._loop.call_later,
            self._injector.latency() + there,
            self._arrive,
            sent,
            future,
            READING.get(),
            there,
            back,
        )
        return await future

    def _disturb_sender(self) -> None:
        """Let something happen to the sender of a slow request: it dies, or is paused until it has lost its claim."""
        fate = self._injector.chance.random()
        if fate < 0.4 and not self._process.spared:
            self._process.kill()
        elif fate < 0.8:
            self._injector.counts["pauses"] += 1
            self._process.pause(self._injector.chance.uniform(20.0, 60.0))

    def _arrive(
        self, sent: CloudRequest, future: asyncio.Future[Response | None], reading: bool, there: float, back: float
    ) -> None:
        """Answer a request. A slow one whose sender has died ends with it, unless an engine will look for its result.

        A sender that lives looks for it itself, at once, and nobody else does in time: it is spared.
        """
        self._injector.on_their_way -= there > 0
        late = there > 0 and self._process.dead
        if late and not self._injector.looked_for(sent):
            return
        if there and not late:
            self._process.survive()
        self._injector.counts["cloud calls"] += 1
        fault = self._injector.fault(sent)
        if self._process.dead:
            self._injector.counts["calls that outlived their sender"] += 1
        response = dispatch(self._cloud, sent, fault)
        self._injector.on_answer(sent, response, reading)
        if late:
            self._injector.counts["late requests"] += 1
            self._injector.late_objects.update(_made_by(response))
        self._injector.trace.append(
            f"{self._loop.time():.3f} {self._process.name} {sent.method} {sent.path} "
            f"{response.status if response else None} {fault.do if fault else ''}"
        )
        self._loop.call_later(self._injector.latency() + back, _deliver, response, future)


def _made_by(response: Response | None) -> Iterator[str]:
    """The IDs of the objects in an answer."""
    for value in response.body.values() if response is not None and isinstance(response.body, dict) else ():
        if isinstance(value, dict) and isinstance(value.get("id"), str):
            yield value["id"]


def _deliver(response: Response | None, future: asyncio.Future[Response | None]) -> None:
    if not future.done():
        future.set_result(response)


def lease_check(
    database: SimulatedDatabase, engine_id: str, process: Process, injector: FaultInjector
) -> Callable[[Request], None]:
    """Sees to it that no engine changes the cloud whose lease has passed."""

    def check(request: Request) -> None:
        now = process.loop.time()
        if not any(stopped is None and until > now for stopped, until in database.observe(_LEASE, engine_id)):
            injector.violate("fencing", f"{process.name} sends {request.method} {request.url} without a lease")

    return check


class SimulatedPeers(NoPeers):
    """Messages between the engines of `members`, of which some are lost and all take a while."""

    def __init__(self, process: Process, members: Callable[[], list[Any]], injector: FaultInjector) -> None:
        self._process = process
        self._members = members
        self._injector = injector

    def _send(self, member: Any, make: Callable[[Any], Any]) -> None:
        if self._injector.happens(self._injector.loss_rate):
            self._injector.counts["messages lost"] += 1
            return
        process, loop = member.process, self._process.loop
        loop.outside.copy().run(
            loop.call_later,
            self._injector.latency(),
            lambda: process.call(lambda: member.engine.services.background.spawn(make(member.engine.membership))),
        )

    def offer(self, operation_id: str, engine_id: str | None = None) -> None:
        members = [each for each in self._members() if engine_id in (None, each.engine.services.id)]
        if members:
            self._send(self._injector.chance.choice(members), lambda membership: membership.offered(operation_id))

    def alert(self, engine_id: str) -> None:
        for member in self._members():
            if member.engine.services.id == engine_id:
                self._send(member, lambda membership: membership.alerted())

    def finished(self, operation_id: str, engine_id: str) -> None:
        for member in self._members():
            if member.engine.services.id == engine_id:
                self._send(member, lambda membership: membership.ended(operation_id))

    async def forward(
        self, engine_id: str, context: RequestContext, request: contract.Request[contract.Answer], seconds: float
    ) -> contract.Answer:
        loop = self._process.loop
        answer: asyncio.Future[contract.Answer] = loop.create_future()
        timer = loop.call_later(seconds, _expire, answer, engine_id)
        lost = self._injector.happens(self._injector.loss_rate)
        for member in () if lost else self._members():
            if member.engine.services.id == engine_id:
                work = OPERATIONS[request.method](member.engine, context, request.arguments())
                task = member.process.start(work)
                task.add_done_callback(lambda done: settle(answer, done))
        try:
            return await answer
        finally:
            timer.cancel()


def _expire(answer: asyncio.Future[Any], engine_id: str) -> None:
    if not answer.done():
        answer.set_exception(PeerUnavailable(f"the engine {engine_id} does not answer"))
