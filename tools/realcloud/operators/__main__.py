"""Run Stoker beside real OpenStack services as an operator does, and use it as users do who find it in the catalog.

    python -m tools.realcloud.operators --lab FOLDER [--parts NAMES [--rows REGEX]] [--keep DIRECTORY] [--record]

The cluster is set up with the commands of the manual: two engines, two API processes and the CloudFormation interface,
with RabbitMQ, MariaDB, and catalog entries, service user and stack domain in the lab's Keystone. All of it is removed
afterwards. The exit status is 0 when every row has passed or has a declared reason and nothing is left, 1 otherwise,
and 2 when there is no lab.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from testing.simulation.lost_answers import MEMBER
from tools.realcloud import inventory
from tools.realcloud.__main__ import IMPOSSIBLE
from tools.realcloud.engine import Refused, Stuck
from tools.realcloud.lab import Account, Lab, LabMissing, found_folder, prepared
from tools.realcloud.operators import commands, community, dashboard, regions, smoke, tempest
from tools.realcloud.operators.base import Unexpected
from tools.realcloud.operators.installation import installed, servers, unregister
from tools.realcloud.operators.place import Part, Place
from tools.realcloud.operators.rows import FAILED, Row, record, show, summary
from tools.realcloud.web import serving

PREPARED = Path(__file__).with_name("prepared.yaml")
PARTS: Mapping[str, Part] = {
    "commands": commands.rows,
    "types": smoke.rows,
    "regions": regions.rows,
    "horizon": dashboard.rows,
    "community": community.rows,
    "tempest": tempest.rows,
}
SINGLE = frozenset({"types", "regions", "community"})
"""The parts whose rows do not depend on each other."""
ADMINISTRATOR = "operator-admin"
"""Sees the objects of all projects, which others change meanwhile."""


def main() -> int:
    arguments = _arguments()
    try:
        lab = prepared(found_folder(arguments.lab), PREPARED)
        unregister(lab)
    except LabMissing as error:
        print(error, file=sys.stderr)
        return IMPOSSIBLE
    kept = nullcontext(arguments.keep) if arguments.keep else tempfile.TemporaryDirectory(prefix="stoker-operators-")
    with kept as home:
        try:
            results, left = _run(lab, Path(home), arguments)
        finally:
            unregister(lab)
    for line in left:
        print(f"left in the cloud: {line}")
    for name, rows in results.items():
        print(f"{name}: {summary(rows)}")
    bad = any(row.bad for rows in results.values() for row in rows)
    return int(bool(bad or left))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools.realcloud.operators", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--lab", type=Path, help="folder of the lab's scripts")
    parser.add_argument("--parts", default=",".join(PARTS), help="parts to run, with commas between them (all)")
    parser.add_argument("--rows", metavar="REGEX", help=f"rows with such names only, of {', '.join(sorted(SINGLE))}")
    parser.add_argument("--keep", type=Path, help="directory for the data and logs, which is then left as it is")
    parser.add_argument("--record", action="store_true", help="write the results into docs/reference/real-services.md")
    arguments = parser.parse_args()
    arguments.parts = arguments.parts.split(",")
    if unknown := set(arguments.parts) - PARTS.keys():
        parser.error(f"there is no part {', '.join(sorted(unknown))}; parts are {', '.join(PARTS)}")
    if arguments.rows is not None and set(arguments.parts) - SINGLE:
        parser.error(
            f"only {', '.join(sorted(SINGLE))} have rows that do not depend on others: name these with --parts"
        )
    return arguments


def _run(lab: Lab, home: Path, arguments: argparse.Namespace) -> tuple[dict[str, list[Row]], list[str]]:
    """Return the rows of each part, which are recorded when it has ended, and what is left in the cloud afterwards."""
    home = home.resolve()
    home.mkdir(parents=True, exist_ok=True)
    results: dict[str, list[Row]] = {}
    projects = [account for name, account in lab.accounts.items() if name != ADMINISTRATOR]
    before = inventory.taken(projects)
    region = lab.administrator.region
    files = {"/small.qcow2": bytes(65536), "/member.yaml": MEMBER.encode()}
    with (
        serving(files) as web,
        servers() as server_group,
        installed(lab, server_group, home / region, region) as installation,
    ):
        place = Place(_with_new_logins(lab), server_group, installation, home, web, re.compile(arguments.rows or ""))
        for name in arguments.parts:
            print(f"{name}:", flush=True)
            results[name] = rows = []
            for row in _rows(name, place):
                show(row)
                rows.append(row)
            if arguments.record:
                record(name, rows, others=arguments.rows is not None)
    unregister(lab)
    return results, inventory.left(before, inventory.taken(projects))


def _rows(name: str, place: Place) -> Iterator[Row]:
    """Run a part. One that ends with an error of the cloud has a failed row for it, and the other parts run."""
    try:
        yield from PARTS[name](place)
    except (LabMissing, Refused, Stuck, Unexpected) as error:
        yield Row(f"end of {name}", FAILED, str(error))


def _with_new_logins(lab: Lab) -> Lab:
    """Return the lab with new logins: the catalog of older tokens does not contain what was registered since."""
    accounts = {name: Account(account.auth, account.region) for name, account in lab.accounts.items()}
    return replace(lab, accounts=accounts)


if __name__ == "__main__":
    sys.exit(main())
