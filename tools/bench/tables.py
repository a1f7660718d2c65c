"""The table that `python -m tools.bench` prints."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tools.bench.ratios import SEPARATOR, Ratios, row_of

HERE = Path(__file__).parent
_LEFT = ("work", "reach", "ratio to", "note")


def show(
    records: Sequence[Mapping[str, Any]], found: Ratios, baseline: Ratios, heat: Mapping[str, float], width: int = 180
) -> None:
    """Print the best run of each row beside the goals, the peers, and the baseline."""
    best: dict[tuple[str, str], Mapping[str, Any]] = {}
    for record in records:
        key = record["measured_by"], row_of(record)
        if key not in best or _measure(record) < _measure(best[key]):
            best[key] = record
    compared = {
        (case, name.partition(SEPARATOR)[0]): (name, value)
        for case, rows in found.items()
        for name, value in rows.items()
    }
    goals, terraform = _figures("goals.json"), _figures("terraform.json")
    table = Table(title="Stoker: now, what it wants to reach, Heat 27 at its best, Terraform")
    columns = (
        "work",
        "now",
        "reach",
        "Heat",
        "Terraform",
        "CPU s",
        "memory MB",
        "ratio to",
        "ratio",
        "baseline",
        "note",
    )
    for column in columns:
        table.add_column(column, justify="left" if column in _LEFT else "right", overflow="fold")
    for (case, row), record in best.items():
        request = "p50_ms" in record
        unit = "ms" if request else "s"
        theirs = heat.get(row)
        name, ratio = compared.get((case, row), ("", None))
        before = baseline.get(case, {}).get(name)
        table.add_row(
            row,
            f"{_measure(record):g} {unit}",
            goals.get(row, ""),
            f"{theirs:g} {unit}" if theirs else "",
            terraform.get(row, ""),
            f"{record.get('cpu_total_s', '')}",
            f"{record.get('rss_max_mb', {}).get('engine', '')}",
            name.partition(SEPARATOR)[2],
            f"{ratio:.3g}" if ratio is not None else "",
            f"{before:.3g}" if before is not None else "",
            _note(record, theirs if request else None),
        )
    Console(width=width).print(table)


def _figures(name: str) -> dict[str, str]:
    found: dict[str, str] = json.loads((HERE / name).read_text())["figures"]
    return found


def _measure(record: Mapping[str, Any]) -> float:
    return float(record.get("p50_ms", record.get("wall_s", 0)))


def _note(record: Mapping[str, Any], milliseconds: float | None) -> str:
    """What is remarked of a record; where the peer's median for a request is known, the rate that follows from it."""
    note = str(record.get("note") or record.get("error") or record.get("error_sample") or "")
    if milliseconds is None or "req_s" not in record:
        return note
    return f"{note}; Heat {int(record['n']) * 1000 / milliseconds:.0f} a second"
