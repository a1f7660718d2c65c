"""What a run tells its user."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

_WORDS = {"success": "passed", "fail": "failed", "skip": "skipped"}
_PREFIX = re.compile(r"^\w+_tempest_(plugin|tests)\.(tests\.)?")


@dataclass(frozen=True, slots=True)
class Result:
    """How one test ended: `status` is success, fail or skip; `reason` says why it was skipped, or what failed."""

    test: str
    status: str
    reason: str = ""


def show(results: Sequence[Result]) -> int:
    """Print what failed, what was skipped and why, and the counts; answers the exit status."""
    for result in results:
        if result.status not in ("success", "skip"):
            print(f"FAILED  {_short(result)}\n{_indented(result.reason)}\n")
    reasons: dict[str, list[str]] = defaultdict(list)
    for result in results:
        if result.status == "skip":
            reasons[result.reason].append(_short(result))
    for reason, tests in sorted(reasons.items()):
        print(f"skipped: {reason}\n{_indented(chr(10).join(tests))}")
    counts = Counter(_WORDS.get(result.status, "failed") for result in results)
    print(", ".join(f"{counts[word]} {word}" for word in _WORDS.values()))
    return 0 if counts["passed"] and not counts["failed"] else 1


def show_passed(results: Sequence[Result]) -> None:
    """Print what passed, a line each: for runs of few tests."""
    for result in results:
        if result.status == "success":
            print(f"passed  {_short(result)}")


def _short(result: Result) -> str:
    return _PREFIX.sub("", result.test.split("[")[0])


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())
