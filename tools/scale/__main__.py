"""Rehearse a cluster at scale, in virtual time, and print what it did and what would be used up first.

Fifty real engines work on a real database with a million resources; how long statements, messages and computations
take comes from a file of measured times. A zone of ten engines dies in the middle. The same seed and the same file
always give the same table; only the time that it takes differs.
"""

from __future__ import annotations

import argparse
import gc
import logging
import sys
import time
from dataclasses import fields
from pathlib import Path

from stoker.testing.determinism import make_deterministic
from testing.simulation.simulation import fix_hashes
from tools.scale import latencies, report
from tools.scale.rehearsal import Size, rehearse

EXAMPLES = """examples:
  python -m tools.scale                                      the million, with the measured times of this project
  python -m tools.scale --seed 7 --rate 2000                 more requests, another history
  python -m tools.scale --engines 5 --apis 2 --resources 10000 --rate 100 --waiting 100
  python -m tools.scale --measure times.json                 measure the times, with servers on this machine
  python -m tools.scale --latencies times.json               rehearse with them

The exit status is 0 when the goals hold, 1 when they do not.
"""
HELP = {
    "seed": "what decides all that happens by chance",
    "engines": "engine processes, in five zones",
    "apis": "API processes",
    "resources": "recorded resources of the estate, a quarter of them in deleted stacks",
    "rate": "operations on resources that are requested per second",
    "reads": "lists of stacks, resources and events that are requested per second",
    "projects": "projects, each with a user and a trust",
    "waiting": "operations that wait for something all the time",
    "warming": "seconds of work before anything is measured",
    "measured": "seconds in which throughput and use are measured",
    "after": "seconds that are observed after the death of a zone",
    "call_seconds": "mean time of a call of the cloud, in seconds",
    "fault_rate": "part of the calls of the cloud that fail",
    "loss_rate": "part of the messages between engines that are lost",
    "database_processors": "processors of the database server",
}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the arguments of the command."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.scale",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for each in fields(Size):
        option = "--" + each.name.replace("_", "-")
        kind = type(each.default)
        parser.add_argument(option, type=kind, default=each.default, help=f"{HELP[each.name]} ({each.default:g})")
    parser.add_argument("--latencies", type=Path, default=latencies.MEASURED, help="a file that --measure has written")
    parser.add_argument(
        "--measure",
        type=Path,
        metavar="FILE",
        help="measure the times, and write them to a file; of those that it has already, the lower ones are kept",
    )
    parser.add_argument("--database", choices=("postgresql", "mariadb"), default="postgresql", help="of --measure")
    options = parser.parse_args(arguments)
    for name in ("engines", "apis", "projects", "database_processors"):
        if getattr(options, name) < 1:
            parser.error(f"--{name.replace('_', '-')} must be 1 at least")
    if options.engines < 2:
        parser.error("--engines must be 2 at least: one dies")
    for name in ("rate", "measured"):
        if getattr(options, name) <= 0:
            parser.error(f"--{name} must be more than 0")
    return options


def main() -> int:
    """Rehearse or measure."""
    fix_hashes()
    options = parse()
    logging.basicConfig(level=logging.CRITICAL)
    if options.measure is not None:
        from tools.scale.measuring import measure

        times = measure(options.database)
        if options.measure.exists():
            times = times.lower(latencies.read(options.measure))
        times.write(options.measure)
        return 0
    size = Size(**{each.name: getattr(options, each.name) for each in fields(Size)})
    make_deterministic(size.seed)
    gc.set_threshold(200_000, 20, 100)  # what is collected is that of one process, and here are fifty
    began, used = time.monotonic(), time.process_time()
    found = rehearse(size, latencies.read(options.latencies))
    print(report.text(found))
    spent = time.monotonic() - began, time.process_time() - used
    print("It took {:.0f} s, and {:.0f} s of processor time.".format(*spent), file=sys.stderr)
    return int(bool(report.complaints(found)))


if __name__ == "__main__":
    sys.exit(main())
