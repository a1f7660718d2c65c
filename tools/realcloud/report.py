"""The table of types and verbs: printed, and recorded in `docs/reference/real-services.md`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tools.realcloud.scenarios.trials import TrialResult
from tools.realcloud.walk import Result, Verb

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "real-services.md"
TYPES, SCENARIOS, END = "<!-- results -->\n", "<!-- scenarios -->\n", "<!-- end -->\n"
"""What the places in the page begin with, and end with."""
_SIGNS = {"passed": "✓", "failed": "✗", "none": "-"}


def show(result: Result) -> None:
    """Print a line for a type, and one for each failure."""
    if result.absent:
        print(f"  absent  {result.type_name}: {result.absent}", flush=True)
        return
    signs = " ".join(f"{verb}{_SIGNS[outcome.status]}" for verb, outcome in result.outcomes.items())
    seconds = sum(outcome.seconds for outcome in result.outcomes.values())
    print(f"{seconds:6.1f}s {result.type_name}: {signs}", flush=True)
    for failure in result.failures:
        print(f"        {failure}", flush=True)


def show_trial(result: TrialResult) -> None:
    """Print the outcome of a trial."""
    sign = _SIGNS["passed" if result.passed else "failed"]
    print(f"{result.seconds:6.1f}s {result.scenario}: {result.trial} {sign} {result.text}", flush=True)


def record(start: str, lines: Iterable[str], page: Path = PAGE) -> None:
    """Replace the lines in the place of the page that begins with `start`. Raises LookupError if there is none."""
    before, found, rest = page.read_text(encoding="utf-8").partition(start)
    _, closed, after = rest.partition(END)
    if not found or not closed:
        raise LookupError(f"{page} has no place for the results: {start.strip()} … {END.strip()}")
    text = "\n".join(lines)
    page.write_text(f"{before}{start}\n{text}\n\n{END}{after}", encoding="utf-8")


def recorded(start: str, page: Path = PAGE) -> list[str]:
    """Return the lines in the place of the page that begins with `start`."""
    return page.read_text(encoding="utf-8").partition(start)[2].partition(END)[0].splitlines()


def scenario_block(results: Sequence[TrialResult], known: Iterable[str], names: Sequence[str]) -> Iterator[str]:
    """The lines of the page for the scenarios: a row for each trial.

    Rows of other scenarios stay as they are among the `known` lines. `names` are all scenarios in their order.
    """
    ran = {outcome.scenario for outcome in results}
    rows = [(name, row) for row in known if (name := _scenario(row)) in names and name not in ran]
    rows += [(outcome.scenario, _trial_row(outcome)) for outcome in results]
    rows.sort(key=lambda named: names.index(named[0]))
    passed = sum(f" | {_SIGNS['passed']} | " in row for _, row in rows)
    yield f"Of {len(rows)} trials {passed} passed."
    yield ""
    yield "| Scenario | Trial | | What happened |"
    yield "|---|---|---|---|"
    yield from (row for _, row in rows)


def _scenario(row: str) -> str:
    return row.split("|")[1].strip() if row.startswith("| ") else ""


def _trial_row(result: TrialResult) -> str:
    sign = _SIGNS["passed" if result.passed else "failed"]
    return f"| {result.scenario} | {result.trial} | {sign} | {line(result.text)} |"


def block(results: Sequence[Result], left: Sequence[str]) -> Iterator[str]:
    """The lines of the page: the table, the failures, what cannot run, and what was left in the cloud."""
    return _written(_sections(results, left))


def repeated_block(known: Iterable[str], results: Sequence[Result], left: Sequence[str]) -> Iterator[str]:
    """The lines of the page after a further run of some types, whose rows take the place of those in the `known` lines.

    What had failed before, and has passed now, is listed in a section of its own.
    """
    before, now = _parsed(known), _sections(results, left)
    names = {result.type_name for result in results}
    merged = {
        title: [row for row in before.get(title, ()) if title in (REPEATED, LEFT) or _subject(row) not in names]
        + now.get(title, [])
        for title in _HEADS
    }
    failed = {_subject(row) for row in now[FAILURES]}
    merged[REPEATED] += [row for row in before.get(FAILURES, ()) if _subject(row) in names - failed]
    return _written(
        {title: rows if title in (REPEATED, LEFT) else sorted(rows, key=_subject) for title, rows in merged.items()}
    )


FAILURES, REPEATED, LEFT, ABSENT = (
    "Failures",
    "Passed in a later run",
    "Left in the cloud",
    "Types that do not run there",
)
_HEADS: Mapping[str, tuple[str, ...]] = {
    "": (f"| Type | {' | '.join(Verb)} |", f"|---|{'---|' * len(Verb)}"),
    FAILURES: (),
    "Passed when run again alone": (),
    REPEATED: (),
    LEFT: (),
    ABSENT: ("| Type | Why |", "|---|---|"),
    "Verbs that do not run there": ("| Type | Verb | Why |", "|---|---|---|"),
}
"""The sections in their order, each with the head of its table."""


def _sections(results: Sequence[Result], left: Sequence[str]) -> dict[str, list[str]]:
    """Return the rows of each section."""
    results = sorted(results, key=lambda result: result.type_name)
    ran = [result for result in results if not result.absent]
    again = [failure for result in ran if not result.failures for failure in result.beside_others]
    return {
        "": [_row(result) for result in ran],
        FAILURES: [f"- {line(failure)}" for result in ran for failure in result.failures],
        "Passed when run again alone": [f"- {line(failure)}" for failure in again],
        LEFT: [f"- `{line(each)}`" for each in left],
        ABSENT: [f"| `{result.type_name}` | {line(result.absent)} |" for result in results if result.absent],
        "Verbs that do not run there": list(_without(ran)),
    }


def _written(sections: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The lines of sections; those without rows are left out."""
    ran, failed = len(sections[""]), len({_subject(row) for row in sections[FAILURES]})
    yield f"Of {ran + len(sections[ABSENT])} types {ran} ran; {ran - failed} did so without a failure."
    for title, head in _HEADS.items():
        if rows := sections.get(title):
            yield from ("", *((f"### {title}", "") if title else ()), *head, *rows)


def _parsed(lines: Iterable[str]) -> dict[str, list[str]]:
    """Return the rows of each section in the lines of the page."""
    found: dict[str, list[str]] = {"": []}
    title = ""
    for each in lines:
        if each.startswith("### "):
            title = each.removeprefix("### ")
        elif each.startswith(("| `", "- ")):
            found.setdefault(title, []).append(each)
    return found


def _subject(row: str) -> str:
    """Return the type that a row is about."""
    return row.split("`")[1] if row.startswith("| `") else row.split()[1]


def _row(result: Result) -> str:
    signs = (_SIGNS[result.outcomes[verb].status] if verb in result.outcomes else "" for verb in Verb)
    return f"| `{result.type_name}` | {' | '.join(signs)} |"


def _without(results: Iterable[Result]) -> Iterator[str]:
    """A row for each reason of its own; what follows from the type's declaration is not explained."""
    for result in results:
        for verb, outcome in result.outcomes.items():
            if outcome.status == "none" and not outcome.declared:
                yield f"| `{result.type_name}` | {verb} | {line(outcome.reason)} |"


def line(text: str) -> str:
    """A reason on one line, without what differs from run to run, safe in a table."""
    line = " ".join(text.split()).replace("|", "\\|").replace("<", "\\<")
    return re.sub(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}|req-\S+", "…", line)
