"""The results of runs in `docs/reference/conformance.md`: a block for each service, between two comments."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tools.conformance.report import Result
from tools.conformance.suite import Suite

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "conformance.md"
_MOST_NAMES = 6
"""Names of tests in one row; a longer list is cut."""


def record(suite: Suite, results: Sequence[Result], page: Path = PAGE) -> None:
    """Replace the block of a service. Raises LookupError if the page has none."""
    start, end = f"<!-- results: {suite.title} -->\n", f"<!-- end: {suite.title} -->\n"
    before, found, rest = page.read_text().partition(start)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise LookupError(f"{page} has no block for the results of {suite.title}: {start.strip()} … {end.strip()}")
    page.write_text(f"{before}{start}\n{block(suite, results)}\n{end}{after}")


def block(suite: Suite, results: Sequence[Result]) -> str:
    """Markdown with the counts of each part, and the reasons for which tests were skipped or have failed."""
    counts: dict[str, Counter[str]] = {part: Counter() for part in suite.parts}
    for result in results:
        counts[suite.part(result.test)][result.status] += 1
    rows = [
        f"| `{part}` | {found['success']} | {found.total() - found['success'] - found['skip']} | {found['skip']} |"
        for part, found in counts.items()
    ]
    lines = ["| Part | Passed | Failed | Skipped |", "|---|---|---|---|", *rows]
    if skipped := [result for result in results if result.status == "skip"]:
        lines += ["", "| Skipped tests | Number | Why |", "|---|---|---|", *_reasons(skipped, results)]
    if failed := [_short(result.test) for result in results if result.status not in ("success", "skip")]:
        lines += ["", "These tests fail:", "", *(f"- `{name}`" for name in failed)]
    return "\n".join(lines) + "\n"


def _reasons(skipped: Sequence[Result], results: Sequence[Result]) -> Iterator[str]:
    """A row for each reason, with the classes of which no test ran, and single tests of the other classes."""
    grouped: dict[str, list[str]] = defaultdict(list)
    for result in skipped:
        grouped[result.reason].append(result.test)
    ran = {_class(result.test) for result in results if result.status != "skip"}
    for reason, tests in sorted(grouped.items(), key=lambda item: (-len(item[1]), item[0])):
        shown = _unique(_short(test) if _class(test) in ran else _class(test) for test in tests)
        listed = ", ".join(f"`{name}`" for name in shown[:_MOST_NAMES])
        more = f" and {len(shown) - _MOST_NAMES} more" if len(shown) > _MOST_NAMES else ""
        yield f"| {listed}{more} | {len(tests)} | {_cell(reason)} |"


def _class(test: str) -> str:
    return test.split("[")[0].split(".")[-2]


def _short(test: str) -> str:
    """The class and the name of a test."""
    return ".".join(test.split("[")[0].split(".")[-2:])


def _unique(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))


def _cell(text: str) -> str:
    """A reason on one line, safe in a table, with addresses as links."""
    line = " ".join(text.split()).replace("|", "\\|")
    return re.sub(r"(https?://\S+)", r"<\1>", line)
