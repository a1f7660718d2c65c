"""Who kills, pauses and stops what a cluster is made of, and has the cloud misbehave; everything is mended again.

What happens is decided by a seed. A trouble is a coroutine that begins it, waits, and mends it.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from openstack_emulator.core.faults import Fault
from testing.network_link import Link, Mode
from testing.running_cluster import LEASE, Engine, Process
from testing.simulation.simulated_parts import FaultInjector
from tools.chaos.place import Place

DATABASE_AWAY = 10.0
FULL = 8.0
"""The longest time for which the database cannot store anything, in seconds."""

CUTS: Mapping[str, Callable[[Link], None]] = {
    "reset": Link.reset,
    "refused": lambda link: link.treat(Mode.REFUSE),
    "connections swallowed": Link.drop,
    "all swallowed": lambda link: link.treat(Mode.HOLE),
    "answers swallowed": lambda link: link.treat(Mode.DEAF),
    "slow": lambda link: link.delay(0.3),
}
"""What happens to connections; those that were swallowed remain so, new ones work afterwards."""

READY_WITHIN = 120
"""Seconds after its start in which a process is ready, although other things may be away meanwhile."""
SPARED = (0.0, 2.0, 5.0)
"""Seconds in which nothing is done to a process that has come back, so that it comes to do some work."""
LONGEST_DELAY = LEASE / 3
"""Seconds. A call that a service carries out after another engine has taken over is looked for a minute later."""

TRUSTS = "POST /identity/v3/OS-TRUST/trusts"
SERVICES = (
    "* /network/*", "POST /network/*", "PUT /network/*", "* /compute/*", "POST /compute/*", "* /volume/*",
    "POST /volume/*", "* /object-store/*", "DELETE *", "POST /identity/v3/auth/tokens", TRUSTS,
)  # fmt: skip
BREAKABLE = ("POST /compute/v2.1/servers", "POST /volume/v3/*/volumes")
"""What makes objects that have an error state."""

FAULTS: Mapping[str, Callable[[random.Random], dict[str, Any]]] = {
    "fail": lambda chance: {"status": chance.choice((500, 502, 503, 504))},
    "succeed_but_fail": lambda chance: {"status": chance.choice((500, 502, 503, 504))},
    "rate_limit": lambda chance: {"seconds": chance.choice((0.0, 1.0, 2.0))},
    "drop": lambda chance: {},
    "act_and_drop": lambda chance: {},
    "delay": lambda chance: {"seconds": chance.uniform(0.1, LONGEST_DELAY)},
    "error_state": lambda chance: {},
}
SAID_TO_HAVE_FAILED = ("succeed_but_fail", "act_and_drop")
REFUSALS = 0.1
"""The part of the failing rules that refuse instead, with 400, 403 or 409."""


class Adversary:
    """Troubles one place, with choices of its own."""

    def __init__(self, place: Place, injector: FaultInjector, seed: int) -> None:
        self._place = place
        self._injector = injector
        self._chance = random.Random(f"adversary {seed}")
        self._troubled: set[object] = set()
        self._rules: list[tuple[str, Fault]] = []

    async def inject_faults(self, seconds: float) -> None:
        """One thing after another for so long, some of them at the same time. All is mended when this returns."""
        end = asyncio.get_running_loop().time() + seconds
        async with asyncio.TaskGroup() as group:
            group.create_task(self._often(end, (0.5, 1.0, 2.0), self._add_fault))
            group.create_task(self._often(end, (1.0, 4.0, 8.0), lambda: self._start_fault(group)))
        await asyncio.to_thread(self._clear_faults)

    async def _often(self, end: float, pauses: Sequence[float], act: Callable[[], Awaitable[None]]) -> None:
        """Do something again and again, until `end` on the loop's clock."""
        while asyncio.get_running_loop().time() < end:
            await act()
            await asyncio.sleep(self._chance.choice(pauses))

    async def _start_fault(self, group: asyncio.TaskGroup) -> None:
        kind = self._chance.choices(list(TROUBLES), list(TROUBLES.values()))[0]
        group.create_task(getattr(self, f"_{kind}")())

    def _record(self, what: str, whom: str = "") -> None:
        self._injector.counts[what] += 1
        self._injector.trace.append(f"{self._injector.now():.3f} {what} {whom}".rstrip())

    async def _exclusively(self, one: object, act: Callable[[], Awaitable[None]]) -> None:
        """Do something to one part of the cluster, unless something is done to it already."""
        if one in self._troubled:
            return
        self._troubled.add(one)
        await act()
        self._troubled.discard(one)

    def _some_engine(self) -> Engine:
        """One to which nothing is done now, if there is such a one."""
        engines = self._place.cluster.running
        return self._chance.choice([engine for engine in engines if engine not in self._troubled] or engines)

    # -- processes ---------------------------------------------------------------------------------------------

    async def _kill_engine(self) -> None:
        engine = self._some_engine()
        wait = self._chance.choice((0.0, 1.0, 6.0))
        await self._exclusively(engine, lambda: self._end(engine, engine.host, signal.SIGKILL, wait))

    async def _stop_engine(self) -> None:
        engine = self._some_engine()
        await self._exclusively(engine, lambda: self._end(engine, engine.host, signal.SIGTERM, 0.0))

    async def _kill_api(self) -> None:
        api = self._chance.choice(self._place.apis)
        await self._exclusively(api, lambda: self._end(api, f"api {api.port}", signal.SIGKILL, 1.0))

    async def _end(self, process: Process, name: str, number: signal.Signals, seconds: float) -> None:
        """Signal a process that ends of it, and start it again after a while."""
        self._record("crashes" if number == signal.SIGKILL else "graceful stops", name)
        process.signal(number)
        await asyncio.to_thread(process.ended)
        await asyncio.sleep(seconds)
        self._injector.trace.append(f"{self._injector.now():.3f} starts {name}")
        process.start()
        await self._until_ready(process, name)
        await asyncio.sleep(self._chance.choice(SPARED))

    async def _until_ready(self, process: Process, name: str) -> None:
        for _ in range(READY_WITHIN):
            with contextlib.suppress(OSError):
                if await asyncio.to_thread(process.ready):
                    return
            assert process.alive, f"{name} ended: {process.output()[-2000:]}"
            await asyncio.sleep(1.0)
        raise TimeoutError(f"{name} is not ready after {READY_WITHIN} seconds")

    async def _pause_engine(self) -> None:
        engine = self._some_engine()
        seconds = LEASE * self._chance.uniform(0.3, 3.0)
        await self._exclusively(engine, lambda: self._pause(engine, seconds))

    async def _pause(self, engine: Engine, seconds: float) -> None:
        self._record("pauses", f"{engine.host} {seconds:.1f}")
        engine.signal(signal.SIGSTOP)
        await asyncio.sleep(seconds)
        engine.signal(signal.SIGCONT)

    # -- servers -----------------------------------------------------------------------------------------------

    async def _restart_broker(self) -> None:
        await self._exclusively(self._place.broker, partial(self._restart, "broker restarts", self._place.broker, 0.0))

    async def _stop_database(self) -> None:
        database = self._place.database
        await self._exclusively(database, partial(self._restart, "databases away", database, DATABASE_AWAY))

    async def _restart(self, what: str, server: Any, seconds: float) -> None:
        self._record(what)
        await asyncio.to_thread(server.stop)
        await asyncio.sleep(seconds)
        await asyncio.to_thread(server.start)

    async def _fill_disk(self) -> None:
        async def fill() -> None:
            self._record("full disks")
            await asyncio.to_thread(self._place.let_database_store, False)
            await asyncio.sleep(self._chance.uniform(2.0, FULL))
            await asyncio.to_thread(self._place.let_database_store, True)

        await self._exclusively(self._place.database, fill)

    # -- the network -------------------------------------------------------------------------------------------

    async def _cut_network(self) -> None:
        """Something happens to the connections of an engine to the database or to the broker."""
        engine = self._some_engine()
        database, broker = self._place.cluster.links[engine.host]
        kind, link = self._chance.choice(list(CUTS)), self._chance.choice((database, broker))
        whom = f"{engine.host} {'database' if link is database else 'broker'}"
        await self._exclusively(link, lambda: self._cut(link, kind, whom))

    async def _cut(self, link: Link, kind: str, whom: str) -> None:
        self._record(f"network: {kind}", whom)
        await asyncio.to_thread(CUTS[kind], link)
        await asyncio.sleep(LEASE * self._chance.uniform(0.3, 3.0))
        await asyncio.to_thread(link.treat, Mode.PASS)
        link.delay(0.0)

    # -- the cloud ---------------------------------------------------------------------------------------------

    async def _add_fault(self) -> None:
        """A rule of the emulated cloud that hits some requests from now on."""
        kind = self._chance.choice(list(FAULTS))
        more = FAULTS[kind](self._chance)
        name = kind
        if kind == "fail" and self._chance.random() < REFUSALS:
            name, more = "refuse", {"status": self._chance.choice((400, 403, 409))}
        on = self._chance.choice(BREAKABLE if kind == "error_state" else SERVICES)
        times, after = self._chance.randint(1, 8), self._chance.choice((0, 0, 3))
        rule = Fault(on=on, do=kind, times=times, after=after, **more)
        self._rules.append((name, rule))
        self._injector.trace.append(f"{self._injector.now():.3f} cloud {name} {on} {times} {more}")
        await asyncio.to_thread(self._place.served.do, partial(self._place.served.cloud.faults.add, rule))

    def _clear_faults(self) -> None:
        """The cloud behaves from now on; what it did is counted."""
        self._place.served.do(self._place.served.cloud.faults.clear)
        for name, rule in self._rules:
            self._injector.counts[f"fault {name}"] += rule.hits
            if rule.on == TRUSTS and rule.do in SAID_TO_HAVE_FAILED:
                self._injector.counts["trusts that were said to have failed"] += rule.hits
        self._rules.clear()


TROUBLES: Mapping[str, int] = {
    "kill_engine": 5,
    "pause_engine": 3,
    "stop_engine": 2,
    "kill_api": 1,
    "restart_broker": 1,
    "stop_database": 1,
    "fill_disk": 1,
    "cut_network": 4,
}
"""How often the adversary does what to the cluster."""
