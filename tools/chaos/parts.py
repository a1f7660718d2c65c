"""The parts of a run, each a stream of reports, one for each seed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import aiohttp

from testing.servers import DatabaseServer
from testing.simulation import simulation
from tools.chaos.place import Place, running
from tools.chaos.rounds import Report, Round

_WAITING = 32
"""Threads that wait, for processes and servers mostly."""


def simulator(minutes: float, seed: int, directory: Path) -> Generator[Report, None, None]:
    """Simulated clusters, a seed after the other; they leave nothing in `directory`, since a seed says all."""
    template = simulation.prepared()
    for each in simulation.seeds_for(minutes, seed):
        yield simulation.in_fork(each, template, readers=True)


def cluster(
    kind: Callable[[], DatabaseServer], minutes: float, seed: int, directory: Path
) -> Generator[Report, None, None]:
    """Rounds on a real cluster with this kind of database, as many as there is time for and at least one; logs are in
    `directory`.

    When something has gone wrong the rest of the time is spent with another cluster. Raises servers.ServerMissing.
    """
    end = time.monotonic() + minutes * 60
    number = 0
    while number == 0 or time.monotonic() < end:
        with running(kind, directory / f"cluster-{seed + number}") as place:
            good = True
            while good:
                report = asyncio.run(_round(place, seed + number))
                number += 1
                yield report
                good = not report["violations"] and time.monotonic() < end


async def _round(place: Place, seed: int) -> Report:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_WAITING))
    async with aiohttp.ClientSession() as session:
        one = Round(place, seed, session)
        try:
            report = await one.run()
        finally:
            with (place.directory / "history.log").open("a") as history:
                history.writelines(f"{seed} {line}\n" for line in one.injector.trace)
    if report["violations"]:
        place.save(str(seed))
    return report
