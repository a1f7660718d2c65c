"""Displays of progress: lines without a terminal, and a tree that fits on one."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from stoker.cli.progress import Progress
from stoker.cli.progress_views import Lines, tree

STACK = "11111111-1111-1111-1111-111111111111"


class Named:
    """A stack without nested ones."""

    id, name = STACK, "web"

    def resources(self) -> list[Any]:
        return []


def event(name: str, state: str, physical: str = "x", second: int = 0) -> dict[str, Any]:
    return {
        "id": f"{name}-{state}",
        "resource_name": name,
        "resource_status": state,
        "resource_status_reason": "state changed",
        "physical_resource_id": physical,
        "event_time": f"2026-01-01T00:00:{second:02}Z",
        "links": [{"rel": "stack", "href": f"http://stoker/stacks/web/{STACK}"}],
    }


def progress(count: int, planned: int | None = None) -> Progress:
    """`count` resources of which all but the last two are complete."""
    stack: Any = Named()
    made = Progress(stack, None, planned)
    made.take(event("web", "CREATE_IN_PROGRESS", STACK))
    for number in range(count):
        made.take(event(f"r{number}", "CREATE_IN_PROGRESS"))
        if number < count - 2:
            made.take(event(f"r{number}", "CREATE_COMPLETE", second=3))
    return made


def drawn(made: Progress, encoding: str = "utf-8", *, folded: bool = False) -> str:
    raw = io.BytesIO()
    out = Console(file=io.TextIOWrapper(raw, encoding=encoding), width=100, force_terminal=False)
    out.print(tree(made, out, folded=folded))
    out.file.flush()
    return raw.getvalue().decode(encoding)


def test_the_tree_counts_and_folds_what_is_complete() -> None:
    whole = drawn(progress(40, 44))
    assert "web  CREATE_IN_PROGRESS  38 of 44" in whole
    assert "✓ r7  CREATE_COMPLETE  3s" in whole
    folded = drawn(progress(40, 44), folded=True).splitlines()
    assert len(folded) == 4
    assert "r38" in folded[1] and "r39" in folded[2]
    assert folded[3].endswith("✓ 38 complete")


def test_a_failure_is_never_folded() -> None:
    made = progress(4)
    made.take(event("r0", "CREATE_FAILED"))
    assert "✗ r0  CREATE_FAILED" in drawn(made, folded=True)


def test_a_terminal_without_unicode_gets_ascii() -> None:
    shown = drawn(progress(4), "ascii")
    assert shown.isascii()
    assert "+ r0  CREATE_COMPLETE" in shown


def test_without_a_terminal_what_still_runs_is_reported_after_a_silence() -> None:
    now, text = [0.0], io.StringIO()
    lines = Lines(Console(file=text, width=100), clock=lambda: now[0])
    made = progress(7)
    for _, node in made.nodes():
        node.seen = 0.0
    lines.wait(made)
    assert text.getvalue() == ""
    now[0] = 95.0
    lines.wait(made)
    assert text.getvalue().splitlines() == [
        "still CREATE_IN_PROGRESS: r6 (1m35s)",
        "still CREATE_IN_PROGRESS: r5 (1m35s)",
    ]
    lines.wait(made)
    assert len(text.getvalue().splitlines()) == 2
