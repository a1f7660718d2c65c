"""Ratios of what a benchmark measures, and whether they fall behind those of `baseline.json`.

A time says nothing without the machine on which it was measured. A ratio has the same machine on both sides:

* of two measurements of one run, as a stack to the bare calls that it makes; the record has it as `ratio`;
* of the processor time of Stoker's processes to that of Heat's engine (`heat.json`: `processor`, and for requests their
  median), corrected by how much slower the yardstick is than at the quiet times of Heat's machine;
* else of the processor time to that of the yardstick.

The yardstick is a computation that never changes. It is measured before and after each case, since other work on the
machine slows down each processor. Less is better, always.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BASELINE = Path(__file__).with_name("baseline.json")
TOLERANCE = 1.25
"""How many times its baseline a ratio may be: repeated measurements differ by a tenth, on a busy machine by more."""

LEAST_SECONDS = 0.1
"""Shorter processor times are not compared: the kernel counts them in hundredths of a second."""

YARDSTICK = "yardstick"
HEAT = "Heat"
SEPARATOR = " : "
"""Stands between the name of a row and what its ratio is to."""

_REPETITIONS = 40
_ROWS = 4000
_ABOUT = (
    "Ratios that python -m tools.bench compares with, by case: less is better. "
    "Written by python -m tools.bench --update-baseline"
)

Ratios = dict[str, dict[str, float]]
"""Values by case and by row; the name of a row ends with what it is a ratio to."""


def yardstick() -> float:
    """Return the processor time of a fixed computation, in seconds: the mean of some repetitions."""
    began = time.thread_time()
    for _ in range(_REPETITIONS):
        _compute()
    return (time.thread_time() - began) / _REPETITIONS


def _compute() -> str:
    """Make, write, read and sort rows, as an engine does."""
    rows = [
        {"name": f"word{number}", "values": {"length": number % 32, "tags": ["a", str(number)]}}
        for number in range(_ROWS)
    ]
    text = json.dumps(rows)
    by_length: dict[int, list[tuple[str, ...]]] = {}
    for row in json.loads(text):
        by_length.setdefault(row["values"]["length"], []).append((row["name"], *row["values"]["tags"]))
    return hashlib.sha256(repr([sorted(found) for found in by_length.values()]).encode()).hexdigest()


def row_of(record: Mapping[str, Any]) -> str:
    """Return the name of a record's row, which is that of Heat's figure for the same work."""
    if "p50_ms" not in record:
        return f"{record['case']} {record['phase']} {record['n']}"
    return str(record["phase"]) if str(record["n"]) == "1" else f"{record['phase']}, {record['n']} clients"


def ratio_of(record: Mapping[str, Any], heat: Mapping[str, Any], measure: float) -> tuple[str, float] | None:
    """Return what a record is compared with and the ratio to it, None if nothing can be compared.

    `measure` is the yardstick beside the record, in seconds.
    """
    if "ratio" in record:
        return str(record["ratio"]["to"]), float(record["ratio"]["value"])
    if float(record.get("cpu_total_s", 0)) < LEAST_SECONDS:
        return None
    seconds = float(record["cpu_total_s"]) / int(record.get("requests", 1))
    row = row_of(record)
    theirs = heat["figures"].get(row, 0) / 1000 if "p50_ms" in record else heat["processor"].get(row, 0)
    if theirs:
        return HEAT, seconds / (theirs * measure / heat["yardstick_s"])
    return YARDSTICK, seconds / measure


def ratios_of(records: Iterable[Mapping[str, Any]], heat: Mapping[str, Any], measure: float) -> dict[str, float]:
    """Return the least ratio of each row: the one that other work on the machine has enlarged least."""
    found: dict[str, float] = {}
    for record in records:
        ratio = ratio_of(record, heat, measure)
        if ratio is not None:
            name = f"{row_of(record)}{SEPARATOR}{ratio[0]}"
            found[name] = min(ratio[1], found.get(name, ratio[1]))
    return found


@dataclass(frozen=True, slots=True)
class Behind:
    """A row that is behind its baseline; `now` is None if it was not measured."""

    case: str
    row: str
    baseline: float
    now: float | None

    def __str__(self) -> str:
        if self.now is None:
            return f"{self.case}: {self.row} was not measured; the baseline is {self.baseline:.3g}"
        behind = f"{self.now / self.baseline - 1:.0%} behind the baseline of {self.baseline:.3g}"
        return f"{self.case}: {self.row} is {self.now:.3g}, {behind}"


def behind(found: Ratios, baseline: Ratios, tolerance: float = TOLERANCE) -> list[Behind]:
    """Return the rows of the measured cases that are behind. Rows that the baseline lacks are not."""
    compared = [
        Behind(case, row, before, now.get(row))
        for case, now in found.items()
        for row, before in baseline.get(case, {}).items()
    ]
    return [each for each in compared if each.now is None or each.now > each.baseline * tolerance]


def best(first: Ratios, second: Ratios) -> Ratios:
    """Return the least values of two measurements."""
    return {
        case: {
            row: min(each[case][row] for each in (first, second) if row in each.get(case, {}))
            for row in {**first.get(case, {}), **second.get(case, {})}
        }
        for case in {**first, **second}
    }


def read(path: Path = BASELINE) -> Ratios:
    """Return the baseline; none if there is no file."""
    if not path.exists():
        return {}
    found: Ratios = json.loads(path.read_text())["ratios"]
    return found


def update(found: Ratios, path: Path = BASELINE) -> None:
    """Make what was measured the baseline of its cases; the others keep theirs."""
    kept = read(path) | {
        case: {row: float(f"{value:.3g}") for row, value in sorted(rows.items())} for case, rows in found.items()
    }
    ordered = {case: kept[case] for case in sorted(kept) if kept[case]}
    path.write_text(json.dumps({"about": _ABOUT, "ratios": ordered}, indent=1) + "\n")
