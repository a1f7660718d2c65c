"""The cluster: real engines on one real database, between modelled servers, and API processes that pass requests on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import orjson

from openstack_emulator.core.cloud import Cloud
from openstack_emulator.core.dispatch import dispatch
from stoker.base.context import RequestContext
from stoker.contract import request as contract
from stoker.engine.core import Engine
from stoker.engine.memory import FreedMemory
from stoker.engine.ownership.peers import NoPeers, PeerUnavailable
from stoker.engine.settings import EngineSettings
from stoker.operations import OPERATIONS
from stoker.plugins.registry import Registry
from stoker.store.database import Database
from stoker.store.journal import GROUP, Batch
from stoker.store.sealing import Sealer
from stoker.testing.connections import CLOUD_URL, LoopJournal, LoopPool, settings_of
from stoker.testing.simulated_loop import ProcessClock, settle
from testing.simulation.simulated_parts import FaultInjector, SimulatedTransport
from tools.scale.processes import ScaledLoop, ScaledProcess, SharedDatabase
from tools.scale.servers import Broker, DatabaseServer, Use
from tools.scale.statements import Recorder

KEY = "k" * 32
CLOUD = settings_of(CLOUD_URL)
ZONES = 5
ANSWER_SECONDS = 60.0
"""How long an API process waits for an engine (`rpc_response_timeout`)."""


class NoAnswer(Exception):
    """The engine that had the request did not answer in time."""


class ScaledJournal(LoopJournal):
    """Writes one group after the other; each is committed when the modelled database says so."""

    def __init__(
        self,
        database: Database,
        process: ScaledProcess,
        server: DatabaseServer,
        recorder: Recorder,
        injector: FaultInjector,
    ) -> None:
        self._process = process
        self._server = server
        self._recorder = recorder
        self._injector = injector
        self._done_at = 0.0
        self.use = Use()
        super().__init__(database, process.loop)

    def submit(self, batch: Batch, answer: Callable[[BaseException | None], None]) -> None:
        """Write a batch with the next group."""
        super().submit(batch, lambda error: self._answer_later(answer, error))

    def _answer_later(self, answer: Callable[[BaseException | None], None], error: BaseException | None) -> None:
        self._loop.call_at(max(self._done_at, self._loop.time()), answer, error)

    def _delay(self) -> float:
        return max(self._done_at - self._loop.time(), 0.0)

    def _turn(self) -> None:
        super()._turn()
        if self.waiting and not self._due:
            self._due = True
            self._loop.call_later(self._delay(), self._turn)

    def write_group(self, group: Any) -> Any:
        """Write a group now, and have its answers come later."""
        self._recorder.take()
        found = super().write_group(group)
        now = self._loop.time()
        self._done_at = self._server.write(now, self._recorder.take())
        self.use.note(self._done_at - now, 0.0)
        self._injector.counts["batches"] += len(group)
        self._injector.counts["full groups"] += len(group) == GROUP
        return found


class ScaledPeers(NoPeers):
    """Messages between engines, over the broker; some are lost."""

    def __init__(self, cluster: ScaledCluster, process: ScaledProcess) -> None:
        self._cluster = cluster
        self._process = process

    def _send(self, kind: str, members: list[Member], make: Callable[[Any], Any]) -> None:
        cluster = self._cluster
        arrival = cluster.broker.sent(cluster.loop.time(), kind, max(len(members), 1))
        for member in members:
            if cluster.injector.happens(cluster.injector.loss_rate):
                cluster.injector.counts["messages lost"] += 1
                continue
            cluster.later(arrival, partial(_deliver, member, make))

    def _others(self) -> list[Member]:
        return [member for member in self._cluster.up() if member.process is not self._process]

    def offer(self, operation_id: str, engine_id: str | None = None) -> None:
        named = [member for member in self._others() if member.engine.services.id == engine_id]
        members = [self._cluster.next_engine()] if engine_id is None else named
        self._send("offer", members, lambda membership: membership.offered(operation_id))

    def alert(self, engine_id: str) -> None:
        found = [member for member in self._others() if member.engine.services.id == engine_id]
        self._send("alert", found, lambda membership: membership.alerted())

    def finished(self, operation_id: str, engine_id: str) -> None:
        found = [member for member in self._others() if member.engine.services.id == engine_id]
        self._send("finished", found, lambda membership: membership.ended(operation_id))

    async def forward(
        self, engine_id: str, context: RequestContext, request: contract.Request[contract.Answer], seconds: float
    ) -> contract.Answer:
        found = [member for member in self._others() if member.engine.services.id == engine_id]
        if not found:
            raise PeerUnavailable(f"the engine {engine_id} does not answer")
        try:
            answer: contract.Answer = await self._cluster.ask(
                found[0], "ask", context, request.method, request.arguments(), seconds
            )
        except NoAnswer as error:
            raise PeerUnavailable(f"the engine {engine_id} does not answer") from error
        return answer


class _KeptMemory(FreedMemory):
    """Memory is not returned: all engines share it here, and the collections of garbage would be those of all."""

    def is_due(self, *, idle: bool) -> bool:
        """Return that nothing is to be returned."""
        return False


class Member:
    """An engine's process, in one of the zones."""

    def __init__(self, cluster: ScaledCluster, number: int) -> None:
        self._cluster = cluster
        self.zone = number * ZONES // cluster.size
        self.process = ScaledProcess(cluster.loop, f"engine-{number}")
        self.up = False

    async def boot(self) -> None:
        """Everything a real process does before it takes requests; run it as a task of the process."""
        cluster, injector = self._cluster, self._cluster.injector
        clock = ProcessClock(self.process, cluster.clock)
        database = SharedDatabase(cluster.database)
        self.journal = ScaledJournal(database, self.process, cluster.server, cluster.recorder, injector)
        settings = replace(CLOUD, max_concurrent_calls_per_service=cluster.calls_at_once)
        transport = SimulatedTransport(settings, self.process, clock, cluster.cloud, injector)
        pool = LoopPool(settings, clock, transport, lambda sent: dispatch(cluster.cloud, sent, None))
        self.engine = Engine(
            database=database,
            journal=self.journal,
            sealer=Sealer([KEY]),
            registry=cluster.registry,
            pool=pool,
            clock=clock,
            settings=EngineSettings(
                host=self.process.name,
                max_stacks_per_tenant=-1,
                max_resources_per_stack=-1,
            ),
            peers=ScaledPeers(cluster, self.process),
        )
        self.engine.services.memory.freed = _KeptMemory()
        await self.engine.start(alone=False)
        await self.engine.take_over()
        self.up = True


class ApiProcess:
    """A process that serves requests, one after the other as far as its processor is concerned."""

    def __init__(self) -> None:
        self.processor = Use()
        self.free = 0.0

    def passes_on(self, now: float, seconds: float) -> float:
        """When a request that comes now has been checked and is sent to an engine."""
        began = max(now, self.free)
        self.free = began + seconds
        self.processor.note(seconds, began - now)
        return self.free


class ScaledCluster:
    """So many engines and API processes. Nothing but the seed and the latencies decides what happens.

    `calls_at_once` is how many calls of one service an engine makes at a time for a project.
    """

    def __init__(
        self,
        loop: ScaledLoop,
        cloud: Cloud,
        injector: FaultInjector,
        database: Database,
        server: DatabaseServer,
        recorder: Recorder,
        *,
        engines: int,
        apis: int,
        calls_at_once: int = CLOUD.max_concurrent_calls_per_service,
    ) -> None:
        self.loop = loop
        self.clock = loop.clock
        self.cloud = cloud
        self.injector = injector
        self.database = database
        self.server = server
        self.recorder = recorder
        self.broker = Broker(loop.latencies)
        self.size = engines
        self.calls_at_once = calls_at_once
        self.registry = Registry.from_entry_points(EngineSettings().type_options)
        self.members = [Member(self, number) for number in range(engines)]
        self.apis = [ApiProcess() for _ in range(apis)]
        self._engine = self._api = 0
        self._began = loop.time()

    async def start(self) -> None:
        """Start all engines, a tenth of a second apart, and wait until they take requests."""
        booting = []
        for member in self.members:
            booting.append(member.process.start(member.boot()))
            await asyncio.sleep(0.1)
        await asyncio.gather(*booting)

    @property
    def loop_seconds(self) -> float:
        """Seconds since the beginning."""
        return self.loop.time() - self._began

    def later(self, when: float, act: Callable[[], object]) -> None:
        """Do something then, outside of all processes."""
        self.loop.outside.copy().run(self.loop.call_at, when, act)

    def up(self) -> list[Member]:
        """The engines that take requests."""
        return [member for member in self.members if member.up and not member.process.dead]

    def next_engine(self) -> Member:
        """The next engine: the broker gives messages to consumers in turn."""
        members = self.up()
        self._engine += 1
        return members[self._engine % len(members)]

    def fail_zone(self, zone: int) -> list[str]:
        """Kill all engines of a zone; return their IDs."""
        found = [member for member in self.up() if member.zone == zone]
        for member in found:
            member.process.kill()
        return [member.engine.services.id for member in found]

    async def call(self, context: RequestContext, method: str, **arguments: Any) -> Any:
        """What a request to the next API process is answered. Raises what the operation raises, or NoAnswer."""
        self._api += 1
        api = self.apis[self._api % len(self.apis)]
        await _until(self.loop, api.passes_on(self.loop.time(), self.loop.latencies.api_request))
        plain = orjson.loads(orjson.dumps(arguments))
        return await self.ask(self.next_engine(), "call", context, method, plain, ANSWER_SECONDS)

    async def ask(
        self, member: Member, kind: str, context: RequestContext, method: str, arguments: Any, seconds: float
    ) -> Any:
        """What an engine answers, over the broker. Raises what the operation raises, or NoAnswer."""
        loop = self.loop
        answer: asyncio.Future[Any] = loop.create_future()
        returned: asyncio.Future[Any] = loop.create_future()
        answer.add_done_callback(
            lambda done: self.later(self.broker.sent(loop.time(), f"{kind}: reply"), lambda: _pass_on(done, returned))
        )

        def arrive() -> None:
            if not member.process.dead:
                task = member.process.start(OPERATIONS[method](member.engine, context, arguments))
                task.add_done_callback(lambda done: settle(answer, done))

        self.later(self.broker.sent(loop.time(), kind), arrive)
        timer = loop.call_later(seconds, _give_up, returned)
        try:
            return await returned
        finally:
            timer.cancel()


def _deliver(member: Member, make: Callable[[Any], Any]) -> None:
    """Have an engine do what a message asks for."""
    member.process.call(lambda: member.engine.services.background.spawn(make(member.engine.membership)))


async def _until(loop: ScaledLoop, when: float) -> None:
    if (left := when - loop.time()) > 0:
        await asyncio.sleep(left)


def _pass_on(done: asyncio.Future[Any], returned: asyncio.Future[Any]) -> None:
    error = done.exception()
    if returned.done():
        return
    if error is not None:
        returned.set_exception(error)
    else:
        returned.set_result(done.result())


def _give_up(returned: asyncio.Future[Any]) -> None:
    if not returned.done():
        returned.set_exception(NoAnswer())
