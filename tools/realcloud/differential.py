"""Record what real services answer to the scripts, and compare the emulated cloud with it.

    python -m tools.realcloud.differential [--lab FOLDER] [--compare [--keep]] [--show] [SERVICE …]

Without `--compare` the scripts are played against the lab and the recordings in tests/emulator/recorded are written.
With it nothing is sent to a lab: the recordings are compared with the emulated cloud, and all differences printed that
are neither declared nor known. The exit status is 1 when there are such differences, and 2 when there is no lab.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker_foundation.clock import ManualClock
from testing.differential import differences, script
from testing.differential.emulated import emulated
from testing.differential.player import Played, play
from testing.differential.site import Site
from tools.realcloud.lab import LabMissing, found_administrator, found_folder, started

IMPOSSIBLE = 2


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.realcloud.differential", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--lab", type=Path, help="folder of the lab's scripts")
    parser.add_argument("--compare", action="store_true", help="compare the emulated cloud with the recordings")
    parser.add_argument("--keep", action="store_true", help="with --compare: take new differences down as known")
    parser.add_argument("--show", action="store_true", help="print answers (or known differences), write nothing")
    parser.add_argument("services", nargs="*", metavar="SERVICE", help=f"all by default: {', '.join(script.names())}")
    arguments = parser.parse_args()
    chosen = arguments.services or script.names()
    if arguments.compare:
        return max([_compare(name, show=arguments.show, keep=arguments.keep) for name in chosen])
    try:
        folder = found_folder(arguments.lab)
        started(folder)
        for name in chosen:
            _record(name, folder, show=arguments.show)
    except LabMissing as error:
        print(error, file=sys.stderr)
        return IMPOSSIBLE
    return 0


def _record(name: str, folder: Path, *, show: bool) -> None:
    auth = found_administrator(folder).auth
    site = Site(auth["auth_url"], auth["username"], auth["password"], time.sleep)
    played = play(script.load(name), site)
    text = differences.write(name, played)
    if found := differences.private(text, auth["password"]):
        raise RuntimeError(f"The recording of {name} contains {found!r}, which must not be kept.")
    if show:
        print(text)
    else:
        (differences.RECORDED / f"{name}.json").write_text(text, encoding="utf-8")
        print(f"{name}: {len(played)} steps recorded")


def _compare(name: str, *, show: bool, keep: bool) -> int:
    with ServedCloud(new_cloud(clock=ManualClock())) as served:
        played: Played = play(script.load(name), emulated(served))
    found = differences.differences(differences.read(script.load(name)), played)
    if keep:
        differences.write_known(name, found)
    comparison = differences.compared(name, found)
    for one in [*comparison.new, *(comparison.known if show else ())]:
        print(f"{name}: {one}")
    for place in comparison.gone:
        print(f"{name}: declared or known, but there is no such difference: {place}")
    counts = f"{len(found)} differences, {len(comparison.known)} of them known, {len(comparison.new)} new"
    print(f"{name}: {len(played)} steps, {counts}")
    return int(bool(comparison.new or comparison.gone))


if __name__ == "__main__":
    sys.exit(main())
