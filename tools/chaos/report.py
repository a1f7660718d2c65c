"""What a run says: a line now and then, and a summary in the end."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from testing.simulation.simulation import BAD, PROGRAM
from tools.chaos.rounds import Report

FIRST = ("operations", "operations run", "crashes", "pauses", "graceful stops", "broker restarts", "databases away")
"""Counts that are shown first, in this order: of requests, of their results, and of the failures that were caused."""

REPLAY: Mapping[str, str] = {
    "simulator": f"{PROGRAM} {{seed}} --readers --trace",
    "cluster": "python -m tools.chaos --only cluster --minutes 1 --seed {seed}",
    "cluster-mariadb": "python -m tools.chaos --only cluster-mariadb --minutes 1 --seed {seed}",
}
"""The command that makes the same choices again. A simulated history is then the same, a real one similar."""

_PROGRESS_SECONDS = 30.0


class Progress:
    """Says how one part goes: each round of a cluster, and the simulator every half a minute."""

    def __init__(self, part: str) -> None:
        self._part = part
        self._began = self._reported = time.monotonic()
        self._seeds = 0
        self._counts: Counter[str] = Counter()

    def add(self, report: Report) -> None:
        self._seeds += 1
        self._counts.update(report["counts"])
        now = time.monotonic()
        wrong = report["violations"]
        if wrong or self._part != "simulator" or now - self._reported >= _PROGRESS_SECONDS:
            self._reported = now
            minutes, seconds = divmod(round(now - self._began), 60)
            text = ", ".join(f"{number} {name}" for name, number in progress_counts(self._counts).items())
            say(f"{minutes:3}:{seconds:02} {self._part}: {self._seeds} seeds, {text}")
        for violation in wrong:
            say(f"       seed {report['seed']}: {violation}")


def say(text: str) -> None:
    """A line for whoever watches; what a program reads goes to the standard output."""
    print(text, file=sys.stderr, flush=True)


def progress_counts(counts: Mapping[str, int]) -> dict[str, int]:
    """The counts of a line of progress: what was done, and all faults as one."""
    faults = sum(number for name, number in counts.items() if name.startswith("fault "))
    return {name: counts[name] for name in FIRST if name in counts} | {"faults": faults}


def totals(parts: Mapping[str, Sequence[Report]]) -> dict[str, Any]:
    """For each part: seeds, counts, how much of what must not happen has happened, and what replays it."""
    return {part: _part(part, reports) for part, reports in parts.items()}


def _part(part: str, reports: Sequence[Report]) -> dict[str, Any]:
    counts: Counter[str] = Counter()
    for report in reports:
        counts.update(report["counts"])
    kinds = Counter(text.partition(":")[0] for report in reports for text in report["violations"])
    return {
        "seeds": len(reports),
        "counts": {name: counts[name] for name in (*FIRST, *sorted(counts.keys() - set(FIRST))) if name in counts},
        "wrong": {kind: kinds[kind] for kind in BAD},
        "failed": [
            {
                "seed": report["seed"],
                "violations": report["violations"],
                "replay": REPLAY[part].format(seed=report["seed"]),
            }
            for report in reports
            if report["violations"]
        ],
    }


def show(summary: Mapping[str, Any], form: str) -> None:
    """Print the summary, as `text` or as `json`."""
    if form == "json":
        print(json.dumps(summary, indent=2))
        return
    Console().print(_table(summary))
    for part in summary.values():
        for failed in part["failed"]:
            print(*(f"seed {failed['seed']}: {violation}" for violation in failed["violations"]), sep="\n")
            print(f"  again: {failed['replay']}")


def _table(summary: Mapping[str, Any]) -> Table:
    table = Table("", *(name for name in summary))
    for column in table.columns[1:]:
        column.justify = "right"
    table.add_row("seeds", *(str(part["seeds"]) for part in summary.values()))
    names = dict.fromkeys(name for part in summary.values() for name in part["counts"])
    for name in sorted(names, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST)):
        table.add_row(name, *(str(part["counts"].get(name, "")) for part in summary.values()))
    table.add_section()
    for kind in BAD:
        table.add_row(kind, *(str(part["wrong"][kind]) for part in summary.values()))
    return table
