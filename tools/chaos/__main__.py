"""Trouble a simulated cluster and then real ones, and say what is left: operations, kills, faults, and zeros.

Each part has a third of the time: the simulator; kills on real processes, three engines and two API processes on
PostgreSQL and RabbitMQ beside an emulated cloud; the same on MariaDB. Servers are installed with apt-get where they are
missing.
"""

from __future__ import annotations

import argparse
import logging
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path

from testing.servers import MariaDB, PostgreSQL, ServerMissing
from testing.simulation import simulation
from tools.chaos import parts
from tools.chaos.report import Progress, say, show, totals
from tools.chaos.rounds import Report

PARTS: Mapping[str, Callable[[float, int, Path], Generator[Report, None, None]]] = {
    "simulator": parts.simulator,
    "cluster": partial(parts.cluster, PostgreSQL),
    "cluster-mariadb": partial(parts.cluster, MariaDB),
}
EXAMPLES = """examples:
  python -m tools.chaos                                   half an hour, with choices of its own
  python -m tools.chaos --minutes 5 -f json               less, for a program to read
  python -m tools.chaos --only simulator --seed 1000      the seeds 1000, 1001, …
  python -m tools.chaos --only cluster --minutes 1 --seed 4711
                                                    one round on a real cluster, with the choices of that seed

The exit status is 0 when nothing is wrong, 1 when something is, 2 when a server is missing, 130 when the
run was interrupted.
"""
IMPOSSIBLE, INTERRUPTED = 2, 130


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools.chaos",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=30.0, help="how long all of it takes, about (30)")
    parser.add_argument("--seed", type=int, help="the first seed of each part; another one each time by default")
    parser.add_argument("--only", choices=PARTS, help="one part, which then has all of the time")
    parser.add_argument("--keep", type=Path, help="directory for logs and histories, kept whatever comes of the run")
    parser.add_argument("-f", "--format", choices=("text", "json"), default="text", help="of the summary (text)")
    options = parser.parse_args(arguments)
    if options.minutes <= 0:
        parser.error("--minutes must be more than 0")
    return options


def main() -> int:
    simulation.fix_hashes()
    options = parse()
    logging.basicConfig(level=logging.CRITICAL)  # what the simulated engines say; real ones have files
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    directory = options.keep or Path(tempfile.mkdtemp(prefix="stoker-chaos-"))
    reports: dict[str, list[Report]] = {name: [] for name in ([options.only] if options.only else PARTS)}
    stopped = 0
    try:
        _run(options, directory, reports)
    except KeyboardInterrupt:
        stopped = INTERRUPTED
    except ServerMissing as error:
        say(f"There is no real cluster to kill: {error}. Use --only simulator to do without.")
        stopped = IMPOSSIBLE
    finally:
        show(totals(reports), options.format)
    wrong = any(report["violations"] for each in reports.values() for report in each)
    if wrong:
        _keep_seeds(reports.get("simulator", ()), directory / "failing-seeds.txt")
        say(f"Logs, histories and what was recorded are in {directory}.")
    elif options.keep is None:
        shutil.rmtree(directory)
    return stopped or int(wrong)


def _run(options: argparse.Namespace, directory: Path, reports: Mapping[str, list[Report]]) -> None:
    """Run the parts that `reports` names, which gets what they report; each has its share of the time."""
    seed = int.from_bytes(os.urandom(4), "big") if options.seed is None else options.seed
    say(f"seed {seed}, logs in {directory}")
    for name, kept in reports.items():
        progress = Progress(name)
        with closing(PARTS[name](options.minutes / len(reports), seed, directory)) as stream:
            for report in stream:
                kept.append(report)
                progress.add(report)


def _keep_seeds(reports: Iterable[Report], path: Path) -> None:
    """Write the simulator's failing seeds as lines for the list `FIXED` of its tests, each with what went wrong."""
    lines = [f'    "{each["seed"]}",  # {each["violations"][0]}\n' for each in reports if each["violations"]]
    path.write_text("".join(lines))


if __name__ == "__main__":
    sys.exit(main())
