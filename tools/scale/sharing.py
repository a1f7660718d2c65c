"""How much sooner several engines complete one tree of nested stacks than one engine: `python -m tools.scale.sharing`.

The engines, their claims and the database are those of the rehearsal (`tools.scale`), in virtual time: an engine has
one processor, a call of the cloud takes as long as `--call-seconds` says on average, and an engine makes as many calls
of one service at a time as `--calls-at-once` says. The tree is created, changed in each of its nested stacks, and
deleted.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import func, select

from openstack_emulator.services import new_cloud
from stoker.store.records import COMPLETE, UNFINISHED
from stoker.store.tables import operations
from stoker.testing.connections import CLOUD_URL
from stoker.testing.determinism import make_deterministic
from stoker.testing.sandbox import empty_database
from stoker_foundation.clock import ManualClock
from testing.simulation.simulation import fix_hashes
from tools.scale import estate, latencies
from tools.scale.cluster import CLOUD, ScaledCluster
from tools.scale.latencies import Latencies
from tools.scale.processes import ScaledLoop
from tools.scale.rehearsal import LatencyInjector
from tools.scale.servers import DatabaseServer
from tools.scale.statements import Recorder
from tools.scale.work import FILES, _of, _template, projects

ENGINES = (1, 2, 4)
LOOK_SECONDS = 0.05
TIMEOUT = 3600.0
PHASES = ("create", "change", "delete")


@dataclass(slots=True)
class Shared:
    """The virtual seconds of each phase, and how much of them the processor of each engine worked."""

    engines: int
    seconds: dict[str, float] = field(default_factory=dict)
    busy: dict[str, list[float]] = field(default_factory=dict)


def tree(members: int, version: int) -> dict[str, Any]:
    """The arguments of a request for a group of nested stacks, with three networks and three values each."""
    member = {"type": "member.yaml", "properties": {"version": version}}
    template = _template({"group": _of("Heat::ResourceGroup", count=members, resource_def=member)})
    return {"template": template, "files": FILES, "disable_rollback": True}


class SharedTreeRun:
    """One cluster, and one tree on it."""

    def __init__(
        self, engines: int, members: int, call_seconds: float, calls_at_once: int, times: Latencies, directory: Path
    ) -> None:
        self._members = members
        self._recorder = Recorder()
        path = directory / f"{engines}.db"
        path.write_bytes(empty_database())
        self._database = estate.opened(path)
        clock = ManualClock()
        injector = LatencyInjector(1, call_seconds)
        server = DatabaseServer(times, 16)
        self._loop = ScaledLoop(clock, times, server, self._recorder)
        injector.now = self._loop.time
        self._cloud = new_cloud(clock=clock, endpoint=CLOUD_URL)
        self._cluster = ScaledCluster(
            self._loop,
            self._cloud,
            injector,
            self._database,
            server,
            self._recorder,
            engines=engines,
            apis=1,
            calls_at_once=calls_at_once,
        )
        self.found = Shared(engines)

    def run(self) -> Shared:
        """Return what was found."""
        asyncio.set_event_loop(self._loop)
        try:
            with self._recorder.attached():
                self._loop.run_until_complete(self._history())
            return self.found
        finally:
            self._database.close()

    async def _history(self) -> None:
        self._cloud.start()
        context = projects(self._cloud, 1)[0]
        await self._cluster.start()
        made = await self._cluster.call(context, "stack_create", name="tree", **tree(self._members, 1))
        ref = {"name": None, "id": made["id"]}
        await self._measure("create", self._loop.time())
        began = self._loop.time()
        await self._cluster.call(context, "stack_update", ref=ref, **tree(self._members, 2))
        await self._measure("change", began)
        began = self._loop.time()
        await self._cluster.call(context, "stack_delete", ref=ref)
        await self._measure("delete", began)

    async def _measure(self, phase: str, began: float) -> None:
        before = self._busy()
        while self._count(operations.c.status.in_(UNFINISHED)):
            await asyncio.sleep(LOOK_SECONDS)
            if self._loop.time() - began > TIMEOUT:
                raise RuntimeError(f"{phase} has not ended after {TIMEOUT:g} s")
        seconds = self.found.seconds[phase] = self._loop.time() - began
        self.found.busy[phase] = [(now - then) / seconds for now, then in zip(self._busy(), before, strict=True)]
        if failed := self._count(operations.c.status != COMPLETE):
            raise RuntimeError(f"{failed} operations have not completed")

    def _busy(self) -> list[float]:
        return [member.process.processor.busy for member in self._cluster.members]

    def _count(self, where: Any) -> int:
        with self._recorder.not_recording(), self._database.engine.connect() as connection:
            return int(connection.execute(select(func.count()).select_from(operations).where(where)).scalar_one())


def measured(engines: int, members: int, call_seconds: float, calls_at_once: int, times: Latencies) -> Shared:
    """Carry out the tree on so many engines."""
    make_deterministic(1)
    with estate.place() as directory:
        return SharedTreeRun(engines, members, call_seconds, calls_at_once, times, directory).run()


def text(found: list[Shared]) -> str:
    """The table of what was found."""
    lines = [f"{'engines':>7}  " + "  ".join(f"{phase:>16}" for phase in PHASES)]
    for each in found:
        cells = [
            f"{each.seconds[phase]:7.1f} s {found[0].seconds[phase] / each.seconds[phase]:4.1f} x" for phase in PHASES
        ]
        lines.append(f"{each.engines:>7}  " + "  ".join(f"{cell:>16}" for cell in cells))
        for phase in PHASES:
            lines.append(f"{'':>9}{phase}: processors used {', '.join(f'{part:.0%}' for part in each.busy[phase])}")
    return "\n".join(lines)


def main() -> int:
    """Run the command."""
    fix_hashes()
    parser = argparse.ArgumentParser(prog="python -m tools.scale.sharing", description=__doc__.splitlines()[0])
    parser.add_argument("--engines", type=int, nargs="+", default=list(ENGINES), help="numbers of engines")
    parser.add_argument("--members", type=int, default=200, help="nested stacks of the tree")
    parser.add_argument("--call-seconds", type=float, default=0.1, help="mean time of a call of the cloud")
    usual = CLOUD.max_concurrent_calls_per_service
    parser.add_argument(
        "--calls-at-once", type=int, default=usual, help="calls of one service at a time, of one engine"
    )
    parser.add_argument("--latencies", type=Path, default=latencies.MEASURED, help="a file of measured times")
    options = parser.parse_args()
    logging.basicConfig(level=logging.CRITICAL)
    times = latencies.read(options.latencies)
    found = [
        measured(number, options.members, options.call_seconds, options.calls_at_once, times)
        for number in options.engines
    ]
    print(text(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
