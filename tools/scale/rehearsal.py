"""One rehearsal from the first engine to the takeover, and what was seen of it."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import func, select

from openstack_emulator.services import new_cloud
from stoker.store.database import Database
from stoker.store.records import COMPLETE, STACK_TYPE, UNFINISHED
from stoker.store.tables import events, operations
from stoker.testing.connections import CLOUD_URL
from stoker.testing.sandbox import empty_database
from stoker_foundation.clock import ManualClock
from testing.simulation.simulated_parts import FaultInjector
from tools.scale import estate
from tools.scale.cluster import ScaledCluster
from tools.scale.latencies import Latencies, Samples
from tools.scale.processes import ScaledLoop
from tools.scale.scans import Scan, scans
from tools.scale.servers import DatabaseServer
from tools.scale.statements import Recorder
from tools.scale.work import RESOURCES, SHAPES, Users, body, projects

LOOK_SECONDS = 0.25
"""Between two looks at who owns what after a zone has died."""

ORIGINALS_SECONDS = 600
"""Seconds in which the first stack of each shape is created."""

LOADED_SECONDS = 6.0
"""How long requests go on after a zone has died."""


@dataclass(frozen=True, slots=True)
class Size:
    """What is rehearsed; rates are per second. `resources` are recorded before anything is requested."""

    seed: int = 1
    engines: int = 50
    apis: int = 20
    resources: int = 1_000_000
    rate: float = 1000.0
    reads: float = 100.0
    projects: int = 50
    waiting: int = 1000
    warming: float = 12.0
    measured: float = 12.0
    after: float = 32.0
    call_seconds: float = 0.1
    fault_rate: float = 0.01
    loss_rate: float = 0.01
    database_processors: int = 16


@dataclass(slots=True)
class Takeover:
    """The takeover of the operations of a zone. Seconds count from its death; None: not within the rehearsal."""

    engines: int = 0
    operations: int = 0
    first: float | None = None
    last: float | None = None
    left: int = 0


@dataclass(slots=True)
class Found:
    """What a rehearsal has shown; `users`, `cluster` and the models of servers have the rest."""

    size: Size
    latencies: Latencies
    cluster: ScaledCluster
    users: Users
    recorder: Recorder
    recorded: tuple[int, int] = (0, 0)
    seconds: float = 0.0
    completed: int = 0
    backlog: tuple[int, int] = (0, 0)
    takeover: Takeover = field(default_factory=Takeover)
    at_end: dict[str, Any] = field(default_factory=dict)
    scans: list[Scan] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)


class LatencyInjector(FaultInjector):
    """Injects only the latency of calls to the cloud, and keeps no history."""

    def __init__(self, seed: int, call_seconds: float) -> None:
        super().__init__(seed)
        self._call_seconds = call_seconds
        self.trace = _Nowhere()

    def latency(self) -> float:
        """Half of a call: mostly less than the mean, now and then much more."""
        return self._call_seconds / 2 * min(self.chance.expovariate(1.0), 10.0)


class _Nowhere(list[str]):
    def append(self, _line: str) -> None:
        """Forget it."""


class Rehearsal:
    """`run` does it all; `database` is a file that the caller removes."""

    def __init__(
        self,
        size: Size,
        latencies: Latencies,
        database: Database,
        recorder: Recorder,
        samples: Samples | None = None,
    ) -> None:
        self._size = size
        self._recorder = recorder
        clock = ManualClock()
        self._injector = LatencyInjector(size.seed, size.call_seconds)
        self._server = DatabaseServer(latencies, size.database_processors)
        self._loop = ScaledLoop(clock, latencies, self._server, recorder, samples)
        self._injector.now = self._loop.time
        self._cloud = new_cloud(clock=clock, endpoint=CLOUD_URL)
        self._database = database
        self._filled = 0
        self._cluster = ScaledCluster(
            self._loop,
            self._cloud,
            self._injector,
            database,
            self._server,
            recorder,
            engines=size.engines,
            apis=size.apis,
        )
        operations = size.rate / (sum(RESOURCES.values()) / len(RESOURCES))
        self.contexts = projects(self._cloud, size.projects)
        self._users = Users(self._cluster, self.contexts, operations, size.reads)
        self.found = Found(size, latencies, self._cluster, self._users, recorder)

    def run(self) -> Found:
        """Rehearse, and return what was found."""
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._history())
        return self.found

    async def _history(self) -> None:
        size, found, injector = self._size, self.found, self._injector
        self._cloud.start()
        await self._cluster.start()
        await self._make_originals()
        with self._recorder.not_recording():
            estate.fill(self._database, size.resources)
            found.recorded = estate.counted(self._database)
        self._filled = self._scalar(select(func.max(events.c.sequence)))
        injector.fault_rate, injector.loss_rate = size.fault_rate, size.loss_rate
        await self._users.begin_waiting(size.waiting)
        working = asyncio.ensure_future(self._users.work(size.warming + size.measured + LOADED_SECONDS))
        await asyncio.sleep(size.warming)
        await self._measure()
        await self._take_over()
        await working
        found.faults = Counter({name: number for name, number in injector.counts.items() if "fault" in name})
        self._users.stopped = True

    async def _make_originals(self) -> None:
        """One stack of each shape, of which the estate has copies."""
        cluster, context = self._cluster, self.contexts[0]
        for shape in SHAPES:
            await cluster.call(context, "stack_create", name=f"original-{shape}", **body(shape, 1))
        for _ in range(ORIGINALS_SECONDS):
            if not self._unfinished():
                return
            await asyncio.sleep(1.0)
        raise RuntimeError("the first stacks are not created in time")

    async def _measure(self) -> None:
        """Count what is done in a while."""
        before, began = self._sums(), self._loop.time()
        backlog = self._unfinished()
        done = self._completed()
        await asyncio.sleep(self._size.measured)
        self.found.seconds = self._loop.time() - began
        self.found.completed = self._completed() - done
        self.found.backlog = backlog, self._unfinished()
        after = self._sums()
        self.found.at_end = {name: after[name] - before.get(name, 0.0) for name in after}

    def _sums(self) -> dict[str, float]:
        """What grows in the course of time."""
        cluster, server = self._cluster, self._server
        sums = {
            "statements": float(server.statements),
            "commits": float(server.commits),
            "messages": float(cluster.broker.messages.total()),
            "requests": float(self._users.seen.counts["requests"]),
            "database processors": server.processors.busy,
            "log of the database": server.log.busy,
            "broker": cluster.broker.use.busy,
        }
        for number, member in enumerate(cluster.members):
            sums[f"engine {number}"] = member.process.processor.busy
            sums[f"journal {number}"] = member.journal.use.busy
        for number, api in enumerate(cluster.apis):
            sums[f"api {number}"] = api.processor.busy
        for kind, number in self._recorder.counts.items():
            sums[f"statement {kind}"] = float(number)
        for kind, number in cluster.broker.messages.items():
            sums[f"message {kind}"] = float(number)
        return sums

    async def _take_over(self) -> None:
        """Let a zone die, and look until living engines own what its engines owned."""
        takeover, died_at = self.found.takeover, self._loop.time()
        gone = self._cluster.fail_zone(0)
        takeover.engines = len(gone)
        takeover.operations = takeover.left = self._owned_by(gone)
        end = died_at + self._size.after
        while self._loop.time() < end:
            await asyncio.sleep(LOOK_SECONDS)
            left, passed = self._owned_by(gone), self._loop.time() - died_at
            if left < takeover.operations and takeover.first is None:
                takeover.first = passed
            if not left and takeover.last is None:
                takeover.last = passed
            takeover.left = left

    # -- looks at the record, which take no time --------------------------------------------------------------------

    def _scalar(self, query: Any) -> int:
        with self._recorder.not_recording(), self._database.engine.connect() as connection:
            return int(connection.execute(query).scalar_one() or 0)

    def _completed(self) -> int:
        """How many actions on resources have been completed, by their events."""
        done = events.c.status == COMPLETE, events.c.resource_type != STACK_TYPE, events.c.sequence > self._filled
        return self._scalar(select(func.count()).select_from(events).where(*done))

    def _unfinished(self) -> int:
        return self._scalar(select(func.count()).select_from(operations).where(operations.c.status.in_(UNFINISHED)))

    def _owned_by(self, engines: list[str]) -> int:
        where = operations.c.status.in_(UNFINISHED), operations.c.owner.in_(engines)
        return self._scalar(select(func.count()).select_from(operations).where(*where))


def rehearse(size: Size, latencies: Latencies, samples: Samples | None = None) -> Found:
    """Rehearse on a database of its own, and look at how its statements find their rows."""
    recorder, empty = Recorder(), empty_database()
    with estate.place() as directory, recorder.attached():
        path: Path = directory / "stoker.db"
        path.write_bytes(empty)
        database = estate.opened(path)
        try:
            found = Rehearsal(size, latencies, database, recorder, samples).run()
            with recorder.not_recording():
                found.scans = scans(database, recorder.examples)
            return found
        finally:
            database.close()
