"""Measure an embedded Stoker and print its figures beside Heat's.

    python -m tools.bench [CASE …] [--quick] [--out FILE]

The peer's figures are in `heat.json`. The outside benchmark `stackbench.py` speaks only the REST API, and is the one
that was run on Heat; it is looked for in `$STACKBENCH` and in `../shared/bench/`, and left out when it is in neither.
Its cases have its own names here but for `requests`, its `reads`.
The case `networks` compares 500 OS::Neutron::Net with a bare script that makes the same calls to the same emulator;
`templates` is in `template_cases`, `reads` in `read_cases`, and `tree`, `stacks`, `waiting` and `memory` in
`lifecycle_cases`. `alone` is `reads` without processes beside the engine.
`startup` measures commands and processes from their start (`startup_cases`).
`takeover` kills an engine with 5,000 operations (`takeover_cases`).
`guests` starts servers that run, and deploys software to one (`guest_cases`).
`search` looks for objects among 100,000 resources (`search_cases`).
`drift` compares stacks with the cloud, plans with live reads in a growing estate, and watches (`drift_cases`);
`watch` watches with the usual interval, for 10 to 20 minutes.
`growth` removes nine tenths of ten million events from PostgreSQL (`growth_cases`).
`generate` writes a template of 1000 objects and imports them (`generate_cases`).
`databases` compares databases, and numbers of engines, with each other (`database_cases`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tools.bench import (
    database_cases,
    drift_cases,
    generate_cases,
    growth_cases,
    guest_cases,
    lifecycle_cases,
    networks,
    read_cases,
    search_cases,
    startup_cases,
    takeover_cases,
    template_cases,
)

LIVES = {
    "reads": read_cases.reads,
    "alone": read_cases.reads,
    "tree": lifecycle_cases.tree,
    "stacks": lifecycle_cases.small_stacks,
    "waiting": lifecycle_cases.waiting,
    "memory": lifecycle_cases.memory,
    "drift": drift_cases.drift,
    "watch": drift_cases.watch,
}
CONFIGURATIONS = {**drift_cases.CONFIGURATIONS, "alone": read_cases.ALONE}
"""What cases need in `heat.conf` besides raised limits."""
OUTSIDE = {name: name for name in ("flat", "group", "chain", "fan", "update", "validate")} | {"requests": "reads"}
"""The outside benchmark's cases that are run, with its own names for them."""

CASES = (
    *OUTSIDE,
    "networks",
    "templates",
    "startup",
    *LIVES,
    "takeover",
    "guests",
    "search",
    "generate",
    "growth",
    "databases",
)
HERE = Path(__file__).parent
STOKER = [str(Path(sys.executable).with_name("stoker"))]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.bench", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one run of each case, no reads at eight clients")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"cases to run, of {', '.join(CASES)}; all by default")
    parser.add_argument("--out", type=Path, help="write all records to this file as JSON")
    arguments = parser.parse_args()
    cases = arguments.cases or CASES
    if unknown := set(cases) - set(CASES):
        parser.error(f"there is no case {', '.join(sorted(unknown))}")
    records = template_cases.measure() if "templates" in cases else []
    if "startup" in cases:
        records += startup_cases.measure(2 if arguments.quick else startup_cases.RUNS)
    if {"networks", *OUTSIDE} & set(cases):
        with (
            tempfile.TemporaryDirectory(prefix="stoker-bench-") as directory,
            embedded(directory, "--cloud-port", "0") as place,
        ):
            records += outside(place, [OUTSIDE[case] for case in cases if case in OUTSIDE], quick=arguments.quick)
            if "networks" in cases:
                records.append(networks.measure(place))
    records += lives([case for case in cases if case in LIVES])
    if "takeover" in cases:
        records += takeover_cases.measure(500 if arguments.quick else takeover_cases.COUNT)
    if "guests" in cases:
        records += guest_cases.measure(embedded)
    if "search" in cases:
        records += search_cases.measure()
    if "generate" in cases:
        records += generate_cases.measure(200 if arguments.quick else generate_cases.COUNT)
    if "growth" in cases:
        records += growth_cases.measure(500_000 if arguments.quick else growth_cases.COUNT)
    if "databases" in cases:
        records += database_cases.measure()
    if arguments.out:
        arguments.out.write_text(json.dumps(records, indent=1))
    show(records, json.loads((HERE / "heat.json").read_text()))
    return 0


@contextmanager
def embedded(directory: str, *options: str) -> Iterator[dict[str, Any]]:
    """An embedded Stoker on free ports that keeps its data in `directory`: its endpoints."""
    data = str(Path(directory) / "data")
    ports = ["--api-port", "0", "--cfn-port", "0"]
    subprocess.run([*STOKER, "up", "--detach", "--data-dir", data, *ports, *options], check=True)
    try:
        yield json.loads((Path(data) / "endpoints.json").read_text())
    finally:
        subprocess.run([*STOKER, "down", "--data-dir", data], check=True)


def lives(cases: list[str]) -> list[dict[str, Any]]:
    """The records of cases that need raised limits, each with a Stoker of its own."""
    records: list[dict[str, Any]] = []
    for case in cases:
        with tempfile.TemporaryDirectory(prefix="stoker-bench-") as directory:
            cloud = lifecycle_cases.slow_cloud(directory) if case == "waiting" else nullcontext(["--cloud-port", "0"])
            configured = lifecycle_cases.lifted(directory, CONFIGURATIONS.get(case, lifecycle_cases.LIMITS))
            with cloud as options, embedded(directory, *options, *configured) as place:
                records += asyncio.run(LIVES[case](place))
    return records


def stackbench() -> Path | None:
    """The outside benchmark, where it is at hand."""
    candidates = [os.environ.get("STACKBENCH"), HERE.parents[2] / "shared" / "bench" / "stackbench.py"]
    return next((Path(path) for path in candidates if path and Path(path).exists()), None)


def outside(place: dict[str, Any], cases: list[str], *, quick: bool) -> list[dict[str, Any]]:
    """The records of the outside benchmark."""
    program = stackbench()
    if program is None or not cases:
        print("stackbench.py is not at hand; its cases are left out", file=sys.stderr)
        return []
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [sys.executable, str(program), "--only", ",".join(cases), "--out", out.name]
        command += ["--pids", f"engine={place['pids']['engine']}", "--pids", f"cloud={place['pids']['cloud']}"]
        command += ["--runs", "1" if quick else "2", "--flat", "10,100,1000", "--update", "100,1000"]
        environment = {
            **os.environ,
            "OS_AUTH_URL": place["identity"],
            "OS_USERNAME": "admin",
            "OS_PASSWORD": "secret",
            "OS_PROJECT_NAME": "admin",
        }
        subprocess.run(command, env=environment, check=True)
        return [record for run in json.loads(Path(out.name).read_text()) for record in run["records"]]


def show(records: list[dict[str, Any]], heat: dict[str, Any]) -> None:
    """Print the best run of each case beside Heat's."""
    best: dict[tuple[str, str, str], dict[str, Any]] = {}
    for record in records:
        key = (record["case"], str(record["phase"]), str(record["n"]))
        measure = record.get("p50_ms", record.get("wall_s", 0))
        if key not in best or measure < best[key].get("p50_ms", best[key].get("wall_s", 0)):
            best[key] = record
    table = Table(title="Stoker beside Heat 27 at its best")
    for column in ("case", "n", "Stoker", "Heat", "ratio", "CPU s", "memory MB", "note"):
        table.add_column(column, justify="left" if column in ("case", "note") else "right")
    for (case, phase, n), record in best.items():
        request = "p50_ms" in record
        ours = record["p50_ms"] if request else record.get("wall_s", 0)
        theirs = heat.get(_peer_key(case, phase, n, request=request))
        unit = "ms" if request else "s"
        table.add_row(
            phase if request else f"{case} {phase}",
            f"{n} clients" if request else n,
            f"{ours:g} {unit}",
            f"{theirs:g} {unit}" if theirs else "",
            f"{theirs / ours:.0f} x" if theirs and ours else "",
            f"{record.get('cpu_total_s', '')}",
            f"{record.get('rss_max_mb', {}).get('engine', '')}",
            _note(record, theirs if request else None),
        )
    Console(width=150).print(table)


def _note(record: dict[str, Any], milliseconds: float | None) -> str:
    """What is remarked of a record; where the peer's median for a request is known, the rate that follows from it."""
    note = str(record.get("note") or record.get("error") or record.get("error_sample") or "")
    if milliseconds is None or "req_s" not in record:
        return note
    return f"{note}; Heat {int(record['n']) * 1000 / milliseconds:.0f} a second"


def _peer_key(case: str, phase: str, n: str, *, request: bool) -> str:
    """Under what name the peer's figure for a record is noted."""
    if not request:
        return f"{case} {phase} {n}"
    return phase if n == "1" else f"{phase}, {n} clients"


if __name__ == "__main__":
    sys.exit(main())
