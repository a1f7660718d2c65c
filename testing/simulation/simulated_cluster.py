"""A whole Stoker on the simulated loop: engines that come and go on one database, beside one emulated cloud."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import select

from openstack_emulator.core.cloud import Cloud
from openstack_emulator.core.dispatch import dispatch
from openstack_emulator.core.http import Request
from stoker.base.context import RequestContext
from stoker.base.errors import StokerError
from stoker.base.ids import new_request_id, short_id
from stoker.engine.core import Engine
from stoker.engine.settings import EngineSettings
from stoker.operations import OPERATIONS
from stoker.plugins.registry import Registry
from stoker.store import claims
from stoker.store.journal import Claim
from stoker.store.sealing import Sealer
from stoker.store.tables import resources, stacks
from stoker.testing.connections import CLOUD_URL, LoopPool, settings_of
from stoker.testing.simulated_loop import Process, ProcessClock, SimulatedLoop, settle
from stoker_foundation.clock import ManualClock
from testing.simulation.simulated_parts import (
    FaultInjector,
    SharedDatabase,
    SimulatedDatabase,
    SimulatedJournal,
    SimulatedPeers,
    SimulatedTransport,
    lease_check,
)

_NAMED = (
    select(resources.c.uuid, resources.c.type)
    .join(stacks, stacks.c.id == resources.c.stack_id)  # copies in snapshots are of none
    .where(resources.c.action != "DELETE")
)

KEY = "k" * 32
CLOUD = settings_of(CLOUD_URL)

LEASE_HEARTBEATS = 3
"""The length of a lease in heartbeats."""


class Lost(Exception):
    """The engine that had been asked died before it answered."""


class Member:
    """An engine's process."""

    def __init__(self, cluster: Cluster, number: int) -> None:
        self._cluster = cluster
        self._number = number
        self.process = Process(cluster.loop, f"engine-{number}")
        self.up = False
        self.begun = False
        """Whether it has an engine, which may be starting, up, or stopping."""

    async def boot(self, *, alone: bool) -> None:
        """Everything a real process does before it takes requests; run it as a task of the process."""
        cluster, injector = self._cluster, self._cluster.injector
        clock = ProcessClock(self.process, cluster.clock)
        self.database = SimulatedDatabase(cluster.database, injector)
        self.journal = SimulatedJournal(self.database, cluster.loop, injector, lambda: self.engine.services.id)
        transport = SimulatedTransport(CLOUD, self.process, clock, cluster.cloud, injector)
        self.pool = LoopPool(CLOUD, clock, transport, lambda sent: dispatch(cluster.cloud, sent, injector.fault(sent)))
        self.engine = Engine(
            database=self.database,
            journal=self.journal,
            sealer=Sealer([KEY]),
            registry=cluster.registry,
            pool=self.pool,
            clock=clock,
            settings=EngineSettings(
                host=self.process.name,
                enable_stack_abandon=True,
                engine_deaths_limit=0,  # engines die at random here, and no operation is to blame for that
                heartbeat_seconds=cluster.heartbeat_seconds,
                lease_seconds=LEASE_HEARTBEATS * cluster.heartbeat_seconds,
                nested_at_once=self._number % 3,  # trees are small here
            ),
            peers=SimulatedPeers(self.process, self._peers, injector) if cluster.size > 1 else None,
        )
        self.begun = True
        transport.check_lease = lease_check(self.database, self.engine.services.id, self.process, injector)
        await self.engine.start(alone=alone)
        await self.engine.take_over()
        self.up = True

    def _peers(self) -> list[Member]:
        return [member for member in self._cluster.members if member is not self and member.up]


class Cluster:
    """`size` engines; those that die are replaced after a while."""

    user = "demo"
    """Who makes requests, in the project of the same name."""

    heartbeat_seconds = 5.0
    """Longer than the default, since most of the work of a history is that of heartbeats."""

    def __init__(self, loop: SimulatedLoop, cloud: Cloud, injector: FaultInjector, path: Path, size: int) -> None:
        self.loop = loop
        self.clock: ManualClock = loop.clock
        self.cloud = cloud
        self.injector = injector
        self.path = path
        self.size = size
        self.members: list[Member] = []
        self.registry = Registry.from_entry_points(EngineSettings().type_options)
        self.database = SharedDatabase(path)
        self.ended = False
        self._count = 0
        self._reader: RequestContext | None = None
        injector.made_late = self._made_late
        injector.looked_for = self._is_searchable

    async def start(self) -> None:
        for _ in range(self.size):
            self.add()
        await self.until_up()

    def _made_late(self) -> int:
        """How many objects are being made, or removed again, by engines that are not in charge of them any more."""
        engines = [member.engine for member in self.members if member.begun and not member.process.dead]
        runs = [(engine.services.id, run) for engine in engines for run in engine.runs.all() if run.objects.making]
        current_states: Mapping[str, claims.OperationState] = {}
        if runs:
            with self.database.engine.connect() as connection:
                current_states = claims.current_states(connection, {run.operation.id for _, run in runs})
        making = [
            run.objects.making
            for engine_id, run in runs
            if run.progress.stopping is not None
            or not _is_held(current_states.get(run.operation.id), engine_id, run.assignment.claim)
        ]
        beside = [task.get_coro() for engine in engines for task in engine.services.background.tasks]
        return sum(map(len, making)) + sum(
            getattr(work, "__name__", "") in ("remove_lost_object", "ended") for work in beside
        )

    def _is_searchable(self, sent: Request) -> bool:
        """Whether a request creates an object whose name, or mark, is that of a recorded resource alone."""
        text = sent.body.decode(errors="replace")
        with self.database.engine.connect() as connection:
            types = [
                self.registry.types.get(row.type) for row in connection.execute(_NAMED) if short_id(row.uuid) in text
            ]
        recoveries = [each.recovery for each in types if each is not None]
        return any(recovery is not None and recovery.own_name_without is not None for recovery in recoveries)

    def without_run(self) -> dict[str, str]:
        """The unfinished operations of engines that could run them but do not, each with its engine."""
        found = {}
        for member in self.members:
            if member.up and not (member.process.dead or member.process.paused):
                with self.database.engine.connect() as connection:
                    held = claims.held(connection, member.engine.services.id)
                names = [
                    identifier for identifier, key in held.items() if member.engine.runs.is_missing(identifier, key)
                ]
                found.update(dict.fromkeys(names, member.process.name))
        return found

    def add(self) -> None:
        """Start an engine's process."""
        self._count += 1
        member = Member(self, self._count)
        self.members.append(member)
        member.process.on_death.append(lambda: self._died(member))
        member.process.start(member.boot(alone=self.size == 1))

    def _died(self, member: Member) -> None:
        self.members.remove(member)
        self.injector.counts["crashes"] += 1
        self.injector.trace.append(f"{self.loop.time():.3f} {member.process.name} dies")
        if not self.ended:
            self.loop.call_later(self.injector.chance.uniform(2.0, 40.0), self.add)

    async def until_up(self) -> None:
        """Return once there is an engine that takes requests."""
        while True:
            if any(member.up and not member.process.paused for member in self.members):
                return
            await asyncio.sleep(1.0)

    async def stop_one(self) -> None:
        """SIGTERM for one of the engines: it hands over and goes."""
        up = [member for member in self.members if member.up]
        if not up:
            return
        member = self.injector.chance.choice(up)
        member.up = False
        self.injector.counts["graceful stops"] += 1
        stopped: asyncio.Future[None] = self.loop.create_future()
        member.process.on_death.append(partial(_release, stopped))
        task = member.process.start(member.engine.stop())
        task.add_done_callback(lambda done: settle(stopped, done))
        await stopped
        if not member.process.dead:
            member.process.on_death.clear()
            member.process.kill()
            self.members.remove(member)
            self.loop.call_later(1.0, self.add)

    async def call(self, method: str, **arguments: Any) -> Any:
        """What an operation answers. Raises what it raises, or Lost."""
        await self.until_up()
        member = self.injector.chance.choice([m for m in self.members if m.up and not m.process.paused])
        context = self._context()
        answer = self.loop.create_future()
        plain = orjson.loads(orjson.dumps(arguments))
        task = member.process.start(OPERATIONS[method](member.engine, context, plain))
        task.add_done_callback(lambda done: settle(answer, done))

        def died() -> None:
            if not answer.done():
                answer.set_exception(Lost())

        member.process.on_death.append(died)
        try:
            return await answer
        finally:
            if died in member.process.on_death:
                member.process.on_death.remove(died)

    async def request(self, method: str, **arguments: Any) -> str:
        """Request an operation; return the outcome of the request."""
        self.injector.counts["operations"] += 1
        try:
            await self.call(method, **arguments)
        except Lost:
            outcome = "lost"
            self.injector.counts["requests lost"] += 1
        except StokerError as error:
            outcome = f"refused ({error.kind}: {error.message})"
            self.injector.counts["refused"] += 1
        else:
            outcome = "taken"
        self.injector.trace.append(f"{self.loop.time():.3f} {method} {outcome}")
        return outcome

    def reader(self) -> RequestContext:
        """Who only looks: logged in once."""
        if self._reader is None:
            self._reader = self._context()
        return self._reader

    def _context(self) -> RequestContext:
        token, body = self._log_in(self.user, self.user)
        return RequestContext(
            request_id=new_request_id(),
            user_id=body["user"]["id"],
            user_name=self.user,
            project_id=body["project"]["id"],
            roles=tuple(role["name"] for role in body["roles"]),
            token=token,
        )

    def _log_in(self, user: str, project: str) -> tuple[str, Mapping[str, Any]]:
        default = {"id": "default"}
        identity = {
            "methods": ["password"],
            "password": {"user": {"name": user, "domain": default, "password": "secret"}},
        }
        scope = {"project": {"name": project, "domain": default}}
        body = orjson.dumps({"auth": {"identity": identity, "scope": scope}})
        answer = dispatch(
            self.cloud,
            Request("POST", "/identity/v3/auth/tokens", headers={"Content-Type": "application/json"}, body=body),
        )
        assert answer is not None and answer.status == 201, answer
        return answer.headers["X-Subject-Token"], answer.body["token"]


def _is_held(standing: claims.OperationState | None, engine_id: str, claim: Claim) -> bool:
    return standing is not None and (standing.owner, standing.epoch) == (engine_id, claim.epoch)


def _release(waiting: asyncio.Future[None]) -> None:
    """Resume the task that waits."""
    if not waiting.done():
        waiting.set_result(None)
