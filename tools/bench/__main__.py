"""Measure an embedded Stoker and print its figures beside Heat's.

    python -m tools.bench [CASE …] [--quick] [--out FILE] [--update-baseline]

The peers' figures are in `heat.json` and `terraform.json`, the goals in `goals.json`.
The outside benchmark `stackbench.py` speaks only the REST API, and is the one
that was run on Heat; it is looked for in `$STACKBENCH` and in `../shared/bench/`, and left out when it is in neither.
Its cases have its own names here but for `requests`, its `reads`.

Ratios (`ratios`) are compared with those of `baseline.json`. A case that is behind is measured once more. If it
is still more than a quarter behind, the exit status is 1: so it is when a row of the baseline was not measured at all.

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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from tools.bench import (
    database_cases,
    drift_cases,
    generate_cases,
    growth_cases,
    guest_cases,
    lifecycle_cases,
    networks,
    ratios,
    read_cases,
    search_cases,
    startup_cases,
    tables,
    takeover_cases,
    template_cases,
)

PHASES = {"noop": "no-op", "touch1": "one", "replace-all": "all"}
"""Our names for phases of the outside benchmark."""

Records = list[dict[str, Any]]

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

HERE = Path(__file__).parent
STOKER = [str(Path(sys.executable).with_name("stoker"))]


@contextmanager
def embedded(directory: str, *options: str) -> Iterator[dict[str, Any]]:
    """An embedded Stoker on free ports that keeps its data in `directory`: its endpoints."""
    data = str(Path(directory) / "data")
    ports = ["--api-port", "0", "--cfn-port", "0"]
    subprocess.run([*STOKER, "up", "--detach", "--data-dir", data, *ports, *options], check=True, stdout=sys.stderr)
    try:
        yield json.loads((Path(data) / "endpoints.json").read_text())
    finally:
        subprocess.run([*STOKER, "down", "--data-dir", data], check=True, stdout=sys.stderr)


def live(case: str) -> Records:
    """The records of a case that needs raised limits."""
    with tempfile.TemporaryDirectory(prefix="stoker-bench-") as directory:
        cloud = lifecycle_cases.slow_cloud(directory) if case == "waiting" else nullcontext(["--cloud-port", "0"])
        configured = lifecycle_cases.lifted(directory, CONFIGURATIONS.get(case, lifecycle_cases.LIMITS))
        with cloud as options, embedded(directory, *options, *configured) as place:
            return asyncio.run(LIVES[case](place))


def stackbench() -> Path | None:
    """The outside benchmark, where it is at hand."""
    candidates = [os.environ.get("STACKBENCH"), HERE.parents[2] / "shared" / "bench" / "stackbench.py"]
    return next((Path(path) for path in candidates if path and Path(path).exists()), None)


def outside(program: Path, case: str, *, quick: bool) -> Records:
    """The records of a case of the outside benchmark."""
    with (
        tempfile.TemporaryDirectory(prefix="stoker-bench-") as directory,
        embedded(directory, "--cloud-port", "0", *lifecycle_cases.lifted(directory)) as place,
    ):
        out = Path(directory) / "out.json"
        command = [sys.executable, str(program), "--only", OUTSIDE[case], "--out", str(out)]
        command += ["--pids", f"engine={place['pids']['engine']}"]
        command += ["--runs", "1" if quick else "2", "--flat", "10,100,1000,5000", "--update", "100,1000"]
        environment = {
            **os.environ,
            "OS_AUTH_URL": place["identity"],
            "OS_USERNAME": "admin",
            "OS_PASSWORD": "secret",
            "OS_PROJECT_NAME": "admin",
        }
        subprocess.run(command, env=environment, check=True, stdout=sys.stderr)
        found = [record for run in json.loads(out.read_text()) for record in run["records"]]
    return [{**record, "phase": PHASES.get(record["phase"], record["phase"])} for record in found]


def bare_networks() -> Records:
    """The record of the case `networks`."""
    with (
        tempfile.TemporaryDirectory(prefix="stoker-bench-") as directory,
        embedded(directory, "--cloud-port", "0") as place,
    ):
        return [networks.measure(place)]


def runners(*, quick: bool) -> dict[str, Callable[[], Records]]:
    """What measures each case."""
    program = stackbench()
    found: dict[str, Callable[[], Records]] = {}
    if program is not None:
        found |= {case: partial(outside, program, case, quick=quick) for case in OUTSIDE}
    return {
        **found,
        "networks": bare_networks,
        "templates": template_cases.measure,
        "startup": partial(startup_cases.measure, 2 if quick else startup_cases.RUNS),
        **{case: partial(live, case) for case in LIVES},
        "takeover": partial(takeover_cases.measure, 500 if quick else takeover_cases.COUNT),
        "guests": partial(guest_cases.measure, embedded),
        "search": search_cases.measure,
        "generate": partial(generate_cases.measure, 200 if quick else generate_cases.COUNT),
        "growth": partial(growth_cases.measure, 500_000 if quick else growth_cases.COUNT),
        "databases": database_cases.measure,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one run of each case, and smaller ones")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="cases to run; all by default")
    parser.add_argument("--out", type=Path, help="write all records to this file as JSON")
    parser.add_argument(
        "--update-baseline",
        action="store_true",
        help="make the ratios of these cases those to compare with from now on",
    )
    options = parser.parse_args(arguments)
    available = runners(quick=options.quick)
    if unknown := set(options.cases) - set(available) - set(OUTSIDE):
        parser.error(f"there is no case {', '.join(sorted(unknown))}; there are {', '.join(available)}")
    if lacking := set(options.cases or OUTSIDE) - set(available):
        print(f"stackbench.py is not at hand, its cases are left out: {', '.join(sorted(lacking))}", file=sys.stderr)
    return report(
        {case: available[case] for case in options.cases or available if case in available},
        options.out,
        update_baseline=options.update_baseline,
    )


def report(
    cases: Mapping[str, Callable[[], Records]],
    out: Path | None = None,
    baseline: Path = ratios.BASELINE,
    yardstick: Callable[[], float] = ratios.yardstick,
    *,
    update_baseline: bool = False,
) -> int:
    """Measure cases, print them, and return the exit status: 1 if a ratio is behind the baseline."""
    heat = json.loads((HERE / "heat.json").read_text())
    before = ratios.read(baseline)
    keep = partial(ratios.update, path=baseline) if update_baseline else None
    records, found = measured(cases, heat, yardstick, keep)
    slower = [] if update_baseline else ratios.behind(found, before)
    if slower:
        repeated = sorted({each.case for each in slower})
        print(f"Behind the baseline, and measured again: {', '.join(repeated)}", file=sys.stderr)
        more, again = measured({case: cases[case] for case in repeated}, heat, yardstick)
        records, found = records + more, ratios.best(found, again)
        slower = ratios.behind(found, before)
    if out:
        out.write_text(json.dumps(records, indent=1))
    tables.show(records, found, before, heat["figures"])
    for each in slower:
        print(f"BEHIND  {each}", file=sys.stderr)
    return 1 if slower else 0


def measured(
    cases: Mapping[str, Callable[[], Records]],
    heat: Mapping[str, Any],
    yardstick: Callable[[], float],
    keep: Callable[[ratios.Ratios], None] | None = None,
) -> tuple[Records, ratios.Ratios]:
    """The records of cases, and their ratios by case; `keep` is given those of each case when it has ended."""
    records: Records = []
    found: ratios.Ratios = {}
    for case, measure in cases.items():
        before = yardstick()
        made = measure()
        found[case] = ratios.ratios_of(made, heat, (before + yardstick()) / 2)
        records += [{**record, "measured_by": case} for record in made]
        if keep is not None:
            keep({case: found[case]})
    return records, found


if __name__ == "__main__":
    sys.exit(main())
