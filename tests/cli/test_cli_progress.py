"""Displays of progress: lines without a terminal, and a tree that fits on one."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from stoker.cli.messages import wrapped
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
        node.since = 0.0
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


def test_a_resource_that_waits_for_something_else_keeps_its_time() -> None:
    made = progress(3)
    [node] = [node for path, node in made.nodes() if path == ("r2",)]
    node.since -= 50
    since = node.since
    made.take({**event("r2", "CREATE_IN_PROGRESS", second=5), "resource_status_reason": "waits for server web"})
    assert node.since == since and node.note == "waits for server web"
    assert "50s" in drawn(made)
    made.take(event("r2", "CREATE_COMPLETE", second=9))
    assert "r2  CREATE_COMPLETE  9s" in drawn(made)
    made.take(event("r2", "DELETE_IN_PROGRESS", second=11))
    assert node.since > since


def test_a_resource_that_a_hook_pauses_is_not_shown_as_complete() -> None:
    made, text = progress(0, planned=2), io.StringIO()
    lines = Lines(Console(file=text, width=100), clock=lambda: 0.0)
    for state, hook in ("INIT_COMPLETE", "pre-create"), ("CREATE_COMPLETE", "post-create"):
        reason = f"CREATE paused until Hook {hook} is cleared"
        made.take({**event("first", state, second=5), "resource_status_reason": reason})
        lines.show(made)
        assert f"first  {state}  0s  {reason}" in drawn(made)
        assert "✓" not in drawn(made) and "0 of 2" in drawn(made)
        assert text.getvalue().splitlines()[-1] == f"… first  {state}  {reason}"
        assert lines_after_silence(made) == ["still paused: first (40s)"]
        made.take({**event("first", state, second=7), "resource_status_reason": f"Hook {hook} is cleared"})
        assert lines_after_silence(made) == (["still INIT_COMPLETE: first (40s)"] if hook == "pre-create" else [])
    assert "✓ first  CREATE_COMPLETE" in drawn(made) and "1 of 2" in drawn(made)


def lines_after_silence(made: Progress) -> list[str]:
    """The lines of a display to which nothing has come for 40 seconds."""
    now, text = [0.0], io.StringIO()
    lines = Lines(Console(file=text, width=100), clock=lambda: now[0])
    for _, node in made.nodes():
        node.since = 0.0
    now[0] = 40.0
    lines.wait(made)
    return text.getvalue().splitlines()


def in_stack(name: str, nested: str, state: str, stack: str, reason: str = "state changed") -> dict[str, Any]:
    """An event of the nested stack `stack` (its ID and name); of the stack itself if `name` is the name of `stack`."""
    physical = nested if name == stack else f"{name}-id"
    links = [{"rel": "stack", "href": f"http://stoker/stacks/{stack}/{nested}"}]
    return {**event(name, state, physical), "links": links, "resource_status_reason": reason}


def test_a_nested_stack_that_is_gone_is_shown_as_its_resource() -> None:
    made = progress(0)
    made.take(in_stack("web-group-abc123", "id-of-group", "CREATE_IN_PROGRESS", "web-group-abc123"))
    made.take(in_stack("web-group-abc123-my-0-def456", "id-of-0", "CREATE_COMPLETE", "web-group-abc123-my-0-def456"))
    made.take(in_stack("deep", "id-of-0", "CREATE_COMPLETE", "web-group-abc123-my-0-def456"))
    made.take(in_stack("server", "id-of-long", "CREATE_COMPLETE", "we-shortened-ghi789"))
    assert [path for path, node in made.nodes() if node.state] == [
        ("we-shortened-ghi789", "server"),
        ("group",),
        ("group", "my-0"),
        ("group", "my-0", "deep"),
    ]


def test_the_cause_of_a_failure_is_shown_once() -> None:
    cause = "Resource CREATE failed: ValueError: resources.group.resources[1]: no valid host"
    made = progress(0)
    group = "web-group-abc123"
    made.take(in_stack("1", "id-of-group", "CREATE_FAILED", group, "ValueError: resources[1]: no valid host"))
    made.take(in_stack("2", "id-of-group", "CREATE_FAILED", group, "CREATE aborted"))
    outer = "ValueError: resources.group.resources[1]: no valid host"
    made.take({**event("group", "CREATE_FAILED", "id-of-group"), "resource_status_reason": outer})
    made.take({**event("web", "CREATE_FAILED", STACK), "resource_status_reason": cause})
    whole = drawn(made)
    assert whole.count("no valid host") == 1 and "1  CREATE_FAILED  ValueError: resources[1]" in whole
    assert "CREATE aborted" in whole
    assert made.shows(cause)
    assert not made.shows("Resource CREATE failed: another reason")
    made.take({**event("web", "CREATE_FAILED", STACK), "resource_status_reason": "CREATE timed out"})
    assert "web  CREATE_FAILED  CREATE timed out" in drawn(made)
    assert made.shows("CREATE timed out")


def test_a_message_is_wrapped_between_words() -> None:
    message = f"stoker: {'word ' * 20}\n  {'x' * 90} y\n  short"
    lines = wrapped(message, 40).split("\n")
    assert all(len(line) <= 40 for line in lines if "xxx" not in line)
    assert " ".join(lines).split() == message.split()
    assert lines[-3:] == [f"  {'x' * 90}", "  y", "  short"]
