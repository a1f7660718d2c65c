"""Outcomes of the operator's run: printed as tables, and recorded in `docs/reference/real-services.md`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tools.realcloud import report

PASSED, FAILED, ABSENT = "passed", "failed", "not run"
_LONGEST = 400
"""Characters of a reason that are recorded."""
_SIGNS = {PASSED: "✓", FAILED: "✗", ABSENT: "-"}


@dataclass(frozen=True)
class Row:
    """What was tried, whether it passed, and why it failed or was not run."""

    name: str
    status: str
    reason: str = ""

    @property
    def bad(self) -> bool:
        """Whether it has failed, or was not run for no reason."""
        return self.status == FAILED or (self.status == ABSENT and not self.reason)


def passed_alone(first: Row, second: Row) -> Row:
    """Return the outcome of what failed beside others and was run again alone."""
    if second.status != PASSED:
        return second
    return replace(second, reason=f"It passed alone; beside others: {first.reason}")


def show(row: Row) -> None:
    """Print a row."""
    print(f"  {row.status:8}{row.name}{': ' if row.reason else ''}{row.reason}", flush=True)


def summary(rows: Sequence[Row]) -> str:
    """Return the counts of the outcomes in words."""
    return _counted(Counter(row.status for row in rows))


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{counts[status]} {status}" for status in _SIGNS if counts.get(status)) or "nothing"


def record(part: str, rows: Sequence[Row], *, others: bool = False) -> None:
    """Replace the results of a part in the page; with `others`, those that are in `rows` only.

    Raises LookupError if the page has no place for them.
    """
    start = f"<!-- operator: {part} -->\n"
    lines = [_line(row) for row in rows]
    if others:
        ran = {_name(line): line for line in lines}
        known = [line for line in report.recorded(start) if _name(line)]
        lines = [ran.pop(_name(line), line) for line in known] + list(ran.values())
    report.record(start, block(lines))


def block(lines: Sequence[str]) -> Iterator[str]:
    """The lines of the page: the counts, and a table of these rows."""
    counts = Counter(status for line in lines for status, sign in _SIGNS.items() if f"` | {sign} | " in line)
    yield f"{_counted(counts)}.".capitalize()
    yield ""
    yield "| | | |"
    yield "|---|---|---|"
    yield from lines


def _line(row: Row) -> str:
    return f"| `{row.name}` | {_SIGNS[row.status]} | {report.line(row.reason[:_LONGEST])} |"


def _name(line: str) -> str:
    """Return what a row of a table is about; empty for other lines."""
    return line.split("`")[1] if line.startswith("| `") else ""
