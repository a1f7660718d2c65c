"""Take over the stacks of a real Heat, and continue each of them here.

    LAB_DIR=… LAB_SCRIPTS=… python -m tools.conformance.takeover [--record] [--many NUMBER] [--keep DIRECTORY]

The lab is a folder with a real Heat, Keystone, MariaDB and RabbitMQ, and scripts that start them. A separate Heat runs
beside the lab's, makes the stacks of `heat_stacks.yaml`, and is killed; its database is taken over. The lab's own Heat
adopts the exported stacks, and abandons them. Then every stack is updated with its own template, which must change
nothing, signalled by its old URL, changed, and deleted. The exit status is 0 if everything succeeded, 2 without a lab.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

from testing.heat_stacks import read_stacks
from tools.conformance.takeover.continuing import continue_all
from tools.conformance.takeover.dump import dump
from tools.conformance.takeover.duplicating import duplicate
from tools.conformance.takeover.lab import DATABASE as HEATS
from tools.conformance.takeover.lab import Lab, LabMissing
from tools.conformance.takeover.making import Heat, make_all, shown_outputs
from tools.conformance.takeover.returning import adopt_all
from tools.conformance.takeover.stoker import DATABASE as STOKERS
from tools.conformance.takeover.stoker import Installation

RECORDED = Path(__file__).parents[3] / "tests/takeover/heat27.json"


def main() -> int:
    arguments = _arguments()
    try:
        lab = Lab.found(arguments.lab, arguments.scripts)
    except LabMissing as error:
        print(f"make takeover needs a lab with a real Heat. {error}", file=sys.stderr)
        return 2
    temporary = tempfile.TemporaryDirectory(prefix="stoker-takeover-")
    with nullcontext(arguments.keep) if arguments.keep else temporary as directory, lab.catalogued():
        home = Path(directory).resolve()
        try:
            return _run(lab, home, arguments.record, arguments.many)
        finally:
            lab.remove(HEATS, STOKERS)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools.conformance.takeover", description=(__doc__ or "").splitlines()[0]
    )
    place = os.environ.get("LAB_DIR"), os.environ.get("LAB_SCRIPTS")
    parser.add_argument("--lab", type=Path, default=place[0], help="the lab's folder  [default: LAB_DIR]")
    parser.add_argument(
        "--scripts", type=Path, default=place[1], help="the folder of its scripts  [default: LAB_SCRIPTS]"
    )
    parser.add_argument("--record", action="store_true", help="write the rows for the ordinary tests")
    parser.add_argument("--many", type=int, default=10_000, help="stacks for the measurement of speed; 0 for none")
    parser.add_argument("--keep", type=Path, help="directory for configuration and logs, which then remains")
    return parser.parse_args()


def _run(lab: Lab, home: Path, record: bool, many: int) -> int:
    entries = read_stacks()
    stoker = Installation(lab, home)
    stoker.prepare()
    with lab.heat(home):
        print(f"Making {len(entries)} stacks in Heat …", flush=True)
        heat = Heat(lab.connection())
        made = make_all(heat, entries)
        outputs = {name: shown_outputs(heat, name) for name in made}
        lab.stop(signal.SIGKILL)
    if record:
        dump(lab.database, RECORDED)
    print(stoker.takeover("--plan"))
    print(stoker.takeover())
    back = adopt_all(Heat(lab.own()), entries, home / "exported", stoker.export(home / "exported"))
    print(f"{len(back)} stacks were adopted by another Heat, {sum(map(bool, back.values()))} failures")
    for name, why in back.items():
        if why:
            print(f"  {name}: {why}")
    with stoker.running():
        results = continue_all(Heat(lab.connection()), entries, made, outputs)
    widths = [max(len(str(row[column])) for row in results) for column in range(len(results[0]))]
    for row in results:
        print("  ".join(str(cell).ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    bad = sum("NO" in cell for row in results[1:] for cell in row)
    print(f"{len(results) - 1} stacks, {bad} failures")
    bad += sum(map(bool, back.values()))
    if many:
        stoker.prepare()
        stacks = duplicate(lab.database, many)
        seconds, processor, megabytes = stoker.measured()
        print(
            f"{stacks} stacks were copied in {seconds:.0f} s ({processor:.0f} s of processor time) with "
            f"{megabytes:.0f} MB of memory"
        )
        bad += processor > 300 or megabytes > 500
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
