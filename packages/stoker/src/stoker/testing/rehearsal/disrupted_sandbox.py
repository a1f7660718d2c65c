"""A sandbox in which requests go wrong, and whose engine can die: another one takes its stacks over."""

from __future__ import annotations

import asyncio
import atexit
import os
import shutil
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from sqlalchemy import Connection, select

from openstack_emulator.core.http import Request as CloudRequest
from openstack_emulator.core.http import Response
from stoker.engine.running.stop import RESOURCE
from stoker.store import tables
from stoker.store.database import Database
from stoker.store.journal import Claim
from stoker.store.records import UNFINISHED
from stoker.testing.connections import LoopJournal
from stoker.testing.emulated_cloud import EmulatedCloud
from stoker.testing.rehearsal.contents import Contents
from stoker.testing.rehearsal.disruptions import SLOW_SECONDS, DisruptionKind, Script, fault_of
from stoker.testing.rehearsal.durations import seconds_of
from stoker.testing.rehearsal.timings import Timings
from stoker.testing.rehearsal.timings import seconds_of as recorded_seconds
from stoker.testing.rehearsal.visibility import Visibility, cut
from stoker.testing.sandbox import Sandbox, empty_database, unsynchronized_database
from stoker.testing.simulated_loop import Process, ProcessClock, SimulatedLoop, settle
from stoker_foundation.clock import ManualClock, sleep

Result = TypeVar("Result")

RESTART_SECONDS = 10.0
"""Seconds from the death of an engine until the next one is there."""
_ACTIONS = {"POST": "CREATE", "DELETE": "DELETE"}
"""The actions that requests begin."""
_START = 1_700_000_000.0


class EngineDied(Exception):
    """The engine that had been asked died before it answered."""


class DisruptedSandbox(Sandbox):
    """A sandbox with a script of what goes wrong. All runs begin at the same time of day.

    `timings` are how long resources take, as far as this is known; others take as long as usually. `engines` is the
    number of engines so far, `contents` reads what they have done.
    """

    _settings = replace(
        Sandbox._settings,
        engine_deaths_limit=0,  # no operation is to blame for the deaths
        evaluation_seconds_at_once=Sandbox._settings.evaluation_seconds,  # processor time changes no order of requests
    )

    def __enter__(self) -> DisruptedSandbox:
        return self

    def __init__(self, script: Script, timings: Timings = MappingProxyType({})) -> None:
        self.script = script
        self.timings = timings
        self.engines = 0
        self._there = asyncio.Event()
        super().__init__(ManualClock(_START))
        self.contents = Contents(self._database, self.cloud)

    # -- the engine, a process that can be killed ----------------------------------------------------------------

    def _new_loop(self) -> SimulatedLoop:
        return SimulatedLoop(self.clock, lambda: 0.0)

    def _new_database(self) -> Database:
        _write(empty_database())
        return _database()[1]

    def _new_cloud(self) -> EmulatedCloud:
        return RehearsedCloud(self.clock, self)

    async def _start_engine(self) -> None:
        assert isinstance(self._loop, SimulatedLoop)
        self.engines += 1
        self._process = Process(self._loop, f"engine-{self.engines}")

        def died() -> None:
            self._loop.call_later(RESTART_SECONDS, lambda: self._loop.create_task(self._start_engine()))

        self._process.on_death.append(died)
        await self._process.start(self._boot(self._process))

    async def _boot(self, process: Process) -> None:
        journal = _CountedJournal(self._database, self._loop, self)
        self._assemble(ProcessClock(process, self.clock), journal)
        await self.engine.start(alone=True)
        await self.engine.take_over()
        self._there.set()

    def kill(self) -> None:
        """`kill -9` for the engine."""
        self._there.clear()
        self._process.kill()

    def perform(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine until its end, on the loop of the engine."""
        return self._run(work)

    async def read(self, method: str, **arguments: object) -> Any:
        """Run an operation of the engine that changes nothing; repeat it with the next engine if this one dies."""
        while True:
            try:
                return await self._called(method, **arguments)
            except EngineDied:
                continue

    async def request(self, method: str, **arguments: object) -> Any:
        """Run an operation of the engine. Raises EngineDied if the engine dies before it answers."""
        return await self._called(method, **arguments)

    @property
    def busy(self) -> bool:
        """Whether an operation is unfinished, on any stack; the engine that runs it may be dead."""
        if not self._there.is_set() or self.engine.runs:
            return True
        return bool(self._database.read_now(_has_unfinished))  # there is no need to ask for it while something runs

    async def _called(self, method: str, **arguments: object) -> Any:
        """Ask the engine. Raises EngineDied if it dies before it answers."""
        await self._there.wait()
        process, answer = self._process, self._loop.create_future()
        process.start(super()._called(method, **arguments)).add_done_callback(lambda done: settle(answer, done))

        def died() -> None:
            if not answer.done():
                answer.set_exception(EngineDied())

        process.on_death.append(died)
        try:
            return await answer
        finally:
            if died in process.on_death:
                process.on_death.remove(died)

    def _runs(self, stack_id: str) -> bool:
        return self.busy

    def save(self) -> DatabaseCopy:
        """Return the database for forks of this process, which have the rest."""
        self._database.dispose()  # all of it is in the file then, and no connection is shared
        return DatabaseCopy(_database()[0].read_bytes())


@dataclass(frozen=True)
class DatabaseCopy:
    """A copy of the content of the database, from which forks of the process continue."""

    content: bytes

    def restore(self) -> None:
        """Write the copy to the database, which another fork may have changed."""
        _write(self.content)


@cache
def _database() -> tuple[Path, Database]:
    """Return the database of this process, one for all sandboxes, which share compiled statements."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108  the directory is created there
    path = Path(tempfile.mkdtemp(prefix="stoker-rehearsal-", dir=memory)) / "stoker.db"
    atexit.register(shutil.rmtree, path.parent, ignore_errors=True)
    return path, unsynchronized_database(f"sqlite:///{path}")


def _write(content: bytes) -> None:
    """Write the database of this process, which has no connection, without what a fork may have left of its own."""
    path, _ = _database()
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    path.write_bytes(content)


_ANY_UNFINISHED = select(tables.operations.c.id).where(tables.operations.c.status.in_(UNFINISHED)).limit(1)


def _has_unfinished(connection: Connection) -> bool:
    return connection.execute(_ANY_UNFINISHED).first() is not None


class RehearsedCloud(EmulatedCloud):
    """An emulated cloud in which objects take as long as usually, and requests go wrong as the script says."""

    def __init__(self, clock: ManualClock, sandbox: DisruptedSandbox) -> None:
        super().__init__(clock)
        self._sandbox = sandbox
        self._visibility = Visibility(clock)
        self._prefixes: dict[str, str] = {}
        self._taken: set[tuple[str, str, str]] = set()
        self.inner.open_all()
        self._warm_up()

    def _warm_up(self) -> None:
        """Have services make what they make once for a project or a network, before anything is counted."""
        listed = self.request("GET", "/network/v2.0/networks?name=private", user="demo")["networks"]
        for network in listed:
            port = {"port": {"network_id": network["id"]}}
            made = self.request("POST", "/network/v2.0/ports", port, user="demo")["port"]
            self.request("DELETE", f"/network/v2.0/ports/{made['id']}", user="demo")

    def _seconds(self, sent: CloudRequest, resource: tuple[str, str] | None) -> float:
        """Return how long a request takes: the first one of a recorded action takes as long as all of it did."""
        action = _ACTIONS.get(sent.method)
        if not self._sandbox.timings or resource is None or action is None:
            return seconds_of(sent.method, sent.path)
        stack_id, name = resource
        if stack_id not in self._prefixes:
            self._prefixes = self._sandbox.contents.prefixes()
        recorded = recorded_seconds(self._sandbox.timings, f"{self._prefixes.get(stack_id, '')}{name}", action)
        if recorded is None:
            return seconds_of(sent.method, sent.path)
        once = (self._sandbox.script.phase, f"{stack_id} {name}", action)
        if once in self._taken:
            return 0.0
        self._taken.add(once)
        return recorded

    async def answered(self, sent: CloudRequest) -> Response | None:
        script = self._sandbox.script
        answers, number = script.answers, len(script.requests)
        kind = script.next_call(sent, RESOURCE.get())
        seconds = self._seconds(sent, RESOURCE.get()) + (SLOW_SECONDS if kind is DisruptionKind.SLOW else 0.0)
        fault = self._visibility.fault(sent) or (None if kind is None else fault_of(kind, sent))
        if seconds and (fault is None or fault.do in ("act_and_drop", "error_state")):
            await sleep(self.clock, seconds)
        response = await self.served(sent, fault)
        response = self._visibility.shown(sent, cut(response) if kind is DisruptionKind.PARTIAL_LIST else response)
        self.calls.record(self.clock.now(), sent, response, RESOURCE.get())
        call = self.calls[-1]
        answers[number] = (call.listed, call.made_id)
        if kind is DisruptionKind.EVENTUAL_CONSISTENCY:
            self._visibility.hide(call.made_id)
        if kind is DisruptionKind.ENGINE_DEATH:
            self._sandbox.kill()
            await asyncio.get_running_loop().create_future()  # nobody is there any more
        return response


class _CountedJournal(LoopJournal):
    """A journal after whose commits the engine may die."""

    def __init__(self, database: Database, loop: asyncio.AbstractEventLoop, sandbox: DisruptedSandbox) -> None:
        super().__init__(database, loop)
        self._sandbox = sandbox

    def write_group(self, group: list[Any]) -> set[Claim]:
        lost = super().write_group(group)
        if self._sandbox.script.next_commit():
            self._sandbox.kill()
        return lost
