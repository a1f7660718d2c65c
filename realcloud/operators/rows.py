"""Outcomes of the operator's run: printed as tables, and recorded in `docs/reference/real-services.md`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from realcloud import report

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
    counts = Counter(row.status for row in rows)
    return ", ".join(f"{counts[status]} {status}" for status in _SIGNS if counts[status]) or "nothing"


def record(part: str, rows: Sequence[Row]) -> None:
    """Replace the results of a part in the page. Raises LookupError if the page has no place for them."""
    report.record(f"<!-- operator: {part} -->\n", block(rows))


def block(rows: Sequence[Row]) -> Iterator[str]:
    """The lines of the page: the counts, and a table."""
    yield f"{summary(rows)}.".capitalize()
    yield ""
    yield "| | | |"
    yield "|---|---|---|"
    yield from (f"| `{row.name}` | {_SIGNS[row.status]} | {report.line(row.reason[:_LONGEST])} |" for row in rows)
