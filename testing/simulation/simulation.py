"""Run Stoker through random failures and check the result.

`python -m testing.simulation.simulation SEED …`, or `--minutes M` for new seeds.

One seed decides everything: templates, requests, faults of the cloud, lost messages, and the instructions at which
engines are killed, paused or stopped. Each seed is run in a forked process, so that nothing but the seed matters; the
same seed gives the same history, whose digest is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import hashlib
import json
import logging
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from openstack_emulator.services import new_cloud
from stoker.engine.settings import EngineSettings
from stoker.plugins.registry import Registry
from stoker.testing.connections import CLOUD_URL
from stoker.testing.determinism import make_deterministic
from stoker.testing.sandbox import Sandbox, empty_database
from stoker.testing.simulated_loop import SimulatedLoop
from stoker_foundation.clock import ManualClock
from testing.compiled_statements import share_compiled_statements
from testing.simulation.simulated_cluster import Cluster
from testing.simulation.simulated_inspection import Inspection
from testing.simulation.simulated_parts import FaultInjector
from testing.simulation.simulated_readers import Readers
from testing.simulation.simulated_user import User, ref

OUTSIDE = {"orchestration": "http://stoker/v1/%(tenant_id)s", "cloudformation": "http://stoker-cfn/v1"}

ROUNDS = 12
EXAMPLE = Path(__file__).parents[2] / "examples" / "network.yaml"
PROGRAM = "python -m testing.simulation.simulation"
FIXED = ("16", "9", "3", "45", "8", "12", "50", "5", "48", "4")
"""Short histories, of which at least one notices each bug of `mutants` that the simulation is expected to notice."""
BAD = ("lost", "duplicated", "orphaned", "stuck", "fencing", "different", "unreported", "unreadable", "broken")
"""Kinds of what must not happen."""

MOVES = 4
"""How often a network is moved from one stack to the other at the end."""

READS_PER_WRITE = 0.3
"""How often a write is followed by a request of the readers, where there are any."""

LONGEST = 4 * 3600.0
"""Seconds of the simulated clock after which whatever still runs is stuck."""

LATEST = 900.0
"""The same for what was created late and is still there: it has been looked for twice by then."""

ONLY: Sequence[Sequence[str]] = ((), (), ("net",), ("net", "volume", "value", "config", "deployment"))
"""The kinds of resources that the stacks of a history consist of, or empty for all: of few kinds, many are alike."""


class SimulationAborted(Exception):
    """Something has gone wrong, so that the rest of the history shows nothing more."""


class Simulation:
    """One seed's history."""

    def __init__(
        self,
        seed: int,
        path: Path,
        *,
        readers: bool = False,
        renames: bool = False,
        imports: bool = False,
        locks: bool = False,
        drifts: bool = False,
    ) -> None:
        self.injector = FaultInjector(seed)
        self.chance = self.injector.chance
        clock = ManualClock()
        self.loop = SimulatedLoop(clock, lambda: self.injector.latency() / 50)
        self.injector.now = self.loop.time
        self.cloud = new_cloud(clock=clock, endpoint=CLOUD_URL, extra_endpoints=OUTSIDE)
        self.cluster = Cluster(self.loop, self.cloud, self.injector, path, self.chance.choice((1, 2, 2, 3)))
        self.inspection = Inspection(self.cloud, self.cluster.database, self.injector)
        self.injector.after_write = self.inspection.check
        self._slow = self.chance.random() < 0.5
        only = self.chance.choice(ONLY) if not (imports or drifts) else ("net", "value")
        self._renames = renames
        people = {"talkative": readers, "renames": renames, "imports": imports, "locks": locks, "drifts": drifts}
        self.user = User(self.cluster, self.inspection, **people, kinds=only)
        if readers:
            self.readers = Readers(self.cluster, self.user.drafts, seed)
            self.injector.after_write = self._inspect_and_read

    def _inspect_and_read(self) -> None:
        """After a write, who inspects and who only asks have a look."""
        self.inspection.check()
        self.readers.schedule(1 if self.readers.chance.random() < READS_PER_WRITE else 0)

    def run(self) -> None:
        """The history from beginning to end."""
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self._history())

    async def _history(self) -> None:
        self.cloud.start()
        await self.cluster.start()
        for number in range(ROUNDS):
            self._choose_fault_rates()
            if self.chance.random() < 0.08:
                await self.cluster.stop_one()
            await self.user.random_request()
            await asyncio.sleep(self.chance.choice((0.0, 0.5, 3.0, 20.0, 70.0)))
            if self.chance.random() < 0.3:
                await self.user.answer()
            if number % 4 == 3:
                await self._wait_until_idle()
        await self._end()

    # -- trouble ---------------------------------------------------------------------------------------------

    def _choose_fault_rates(self) -> None:
        injector, chance = self.injector, self.chance
        injector.fault_rate = chance.choice((0.0, 0.02, 0.1, 0.3))
        injector.refusal_rate = chance.choice((0.0, 0.0, 0.0, 0.1))
        injector.loss_rate = chance.choice((0.0, 0.3, 1.0))
        injector.cut_rate = chance.choice((0.0, 0.0, 0.05))
        injector.slow_rate = chance.choice((0.1, 0.5)) if self._slow else 0.0
        injector.spoil_rate = chance.choice((0.0, 0.0, 0.0, 0.7))
        if chance.random() < 0.1:
            injector.interrupt_database(chance.uniform(0.5, 30.0))
        for member in self.cluster.members:
            process = member.process
            if chance.random() < 0.5 and not process.spared:
                process.kill_at = process.entered + int(10 ** chance.uniform(0.5, 3.6))
        if chance.random() < (0.8 if injector.slow_rate else 0.3):
            self._pause_one()

    def _pause_one(self) -> None:
        """Pause an engine a little later: one that works, if there is one."""

        def pause() -> None:
            up = [member for member in self.cluster.members if member.up and not member.process.paused]
            if members := [member for member in up if member.engine.runs] or up:
                self.injector.counts["pauses"] += 1
                self.chance.choice(members).process.pause(self.chance.uniform(1.0, 60.0))

        self.loop.call_later(self.chance.uniform(0.0, 10.0), pause)

    # -- peace -----------------------------------------------------------------------------------------------

    async def _wait_until_idle(self) -> None:
        """No more trouble, until nothing runs any more, and nothing is left that was created late.

        Raises SimulationAborted when something that must not happen has happened.
        """
        self.injector.stop_troubles()
        for member in self.cluster.members:
            member.process.kill_at = None
        began = self.loop.time()
        await self.cluster.until_up()
        calm = 0
        idle: list[dict[str, str]] = []
        while calm < 3:
            await asyncio.sleep(5.0)
            await self.user.answer()
            unfinished, late = self.inspection.unfinished(), self.inspection.late()
            busy = unfinished or late or self.injector.on_their_way or self.injector.made_late()
            calm = 0 if busy else calm + 1
            self.inspection.check()
            idle = [*idle[-2:], self.cluster.without_run()]
            for identifier in set.intersection(*(set(each.items()) for each in idle)) if len(idle) == 3 else ():
                self.injector.violate("stuck", "{} is an operation of {}, which does not run it".format(*identifier))
            if self.loop.time() > began + LONGEST:
                self.injector.violate("stuck", f"after {LONGEST:.0f} seconds: {unfinished}")
            if late and self.loop.time() > began + LATEST:
                self.injector.violate("orphaned", f"created late, and still there after {LATEST:.0f} seconds: {late}")
            if self.injector.violations:
                raise SimulationAborted
        self.inspection.check_history()

    async def _end(self) -> None:
        """Bring every stack to its last template, then to nothing, and compare the cloud each time."""
        await self._wait_until_idle()
        for name in self.user.NAMES:
            await self.user.complete_draft(name, self._wait_until_idle)
        self.inspection.check(strict=True)
        for name, draft in self.user.drafts.items():
            self.inspection.compare(name, draft)
        if self._renames:
            await self._regroup()
        for name in self.user.NAMES:
            if self.inspection.stack(name) is not None:
                await self.cluster.call("stack_delete", ref=ref(name))
        await self._wait_until_idle()
        self.inspection.check_nothing_remains()
        self.cluster.ended = True

    async def _regroup(self) -> None:
        """Move networks between the stacks while engines die: each has one owner, and nothing else changes."""
        for name in self.user.NAMES:
            for saved in self.inspection.snapshots_of(name):  # a stack with snapshots is not refactored
                await self.cluster.call("snapshot_delete", ref=ref(name), snapshot_id=saved.id)
        await self._wait_until_idle()
        for _ in range(MOVES):
            self._choose_fault_rates()
            changes, deploys = self.chance.random() < 0.5, self.chance.random() < 0.5
            await self.user.regroup(changes=changes, deploys=deploys)
            await self._wait_until_idle()
            self.user.settle_move()
            for name in self.user.NAMES if changes or deploys else ():  # updates with the moves may have failed
                await self.user.complete_draft(name, self._wait_until_idle)
            self.inspection.check(strict=True)
            for name, draft in self.user.drafts.items():
                self.inspection.compare(name, draft)


# -- seeds in processes of their own ---------------------------------------------------------------------------


def report(seed: int, path: Path, trace: bool, **people: bool) -> dict[str, Any]:
    """Run a seed here."""
    make_deterministic(seed)
    simulation = Simulation(seed, path, **people)
    began = time.process_time()
    injector = simulation.injector
    try:
        simulation.run()
    except SimulationAborted:
        assert injector.violations
    except Exception as error:
        logging.exception("seed %d", seed)
        injector.violate("broken", f"{type(error).__name__}: {error}")
    lines = "\n".join(injector.trace)
    if trace:
        print(lines, file=sys.stderr)
    return {
        "seed": seed,
        "engines": simulation.cluster.size,
        "violations": injector.violations,
        "counts": dict(injector.counts),
        "digest": hashlib.sha256(lines.encode()).hexdigest()[:16],
        "simulated": round(simulation.loop.time() - ManualClock().now()),
        "seconds": round(time.process_time() - began, 2),
    }


def in_fork(seed: int, template: bytes, trace: bool = False, **people: bool) -> dict[str, Any]:
    """Run a seed in a process that ends with it, on a copy of the database; `people` are those of `Simulation`."""
    answer = forked(lambda path: report(seed, path, trace, **people), template)
    return answer or {"seed": seed, "violations": ["broken: the process died"], "counts": {}}


def forked(work: Callable[[Path], dict[str, Any]], template: bytes) -> dict[str, Any]:
    """What `work` makes of a copy of the database, in a process of its own; nothing when that dies."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            _answer(work, template, writing)
        finally:
            sys.stderr.flush()
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    answer: dict[str, Any] = json.loads(text) if text else {}
    return answer


def _answer(work: Callable[[Path], dict[str, Any]], template: bytes, writing: int) -> None:
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="stoker-simulation-", dir=memory) as directory:
        path = Path(directory) / "stoker.db"
        path.write_bytes(template)
        answer = json.dumps(work(path)).encode()
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(answer)


def prepared() -> bytes:
    """An empty database; what engines import and compile is there, once and not in each fork."""
    Registry.from_entry_points(EngineSettings().type_options).load()
    new_cloud(clock=ManualClock(), endpoint=CLOUD_URL).open_all()
    share_compiled_statements()
    with Sandbox() as sandbox:
        sandbox.deploy("first", EXAMPLE)
        sandbox.deploy("first", EXAMPLE, parameters={"cidr": "10.9.0.0/24"})
        sandbox.delete("first")
    gc.collect()
    gc.freeze()
    return empty_database()


def seeds_for(minutes: float, first: int) -> Iterator[int]:
    """One seed after the other, as long as there is time."""
    end = time.monotonic() + minutes * 60
    while time.monotonic() < end:
        yield first
        first += 1


def summary(reports: Sequence[dict[str, Any]]) -> str:
    """What was done, and zeros for what must not be."""
    counts: Counter[str] = Counter()
    for each in reports:
        counts.update(each["counts"])
    kinds = Counter(text.partition(":")[0] for each in reports for text in each["violations"])
    faults = sum(number for name, number in counts.items() if name.startswith("fault "))
    done = (
        f"{len(reports)} seeds, {counts['operations']} operations, {counts['reads']} reads, "
        f"{counts['crashes']} crashes, {counts['pauses']} pauses, {counts['graceful stops']} stops, "
        f"{faults} faults in {counts['cloud calls']} cloud calls, {counts['messages lost']} messages lost, "
        f"{counts['writes refused']} writes refused, {counts['late requests']} late requests"
    )
    return f"{done}\n" + ", ".join(f"{kinds[kind]} {kind}" for kind in BAD)


def fix_hashes() -> None:
    """Start the program again if the order of its sets would differ each time."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.execve(sys.executable, sys.orig_argv, {**os.environ, "PYTHONHASHSEED": "0"})


def main() -> int:
    fix_hashes()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", nargs="*", type=int)
    parser.add_argument("--minutes", type=float, help="run fresh seeds for this long")
    parser.add_argument("--first", action="store_true", help="end with the first seed that shows a problem")
    parser.add_argument("--trace", action="store_true", help="print each seed's history")
    parser.add_argument("--readers", action="store_true", help="have people look at the stacks all the time")
    parser.add_argument("--renames", action="store_true", help="give resources other names with each update")
    parser.add_argument("--imports", action="store_true", help="give networks away, and import them again")
    parser.add_argument("--locks", action="store_true", help="lock stacks for a while")
    parser.add_argument("--drifts", action="store_true", help="change objects without the engine, accept or revert it")
    options = parser.parse_args()
    logging.basicConfig(level=logging.DEBUG if options.trace else logging.CRITICAL)
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    fresh = int.from_bytes(os.urandom(4), "big")
    seeds = options.seeds if options.minutes is None else seeds_for(options.minutes, fresh)
    template = prepared()
    reports = []
    people = {name: getattr(options, name) for name in ("readers", "renames", "imports", "locks", "drifts")}
    for seed in seeds:
        reports.append(in_fork(seed, template, options.trace, **people))
        if options.minutes is None or reports[-1]["violations"]:
            print(json.dumps(reports[-1]), flush=True)
        if reports[-1]["violations"]:
            others = "".join(f" --{name}" for name, there in people.items() if there)
            print(f"replay with: {PROGRAM} {seed}{others} --trace", file=sys.stderr, flush=True)
            if options.first:
                break
    print(summary(reports))
    return int(any(each["violations"] for each in reports))


if __name__ == "__main__":
    sys.exit(main())
