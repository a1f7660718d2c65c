"""Displays of progress: lines without a terminal, and a tree that fits on one."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from stoker.cli.terminal.messages import wrapped
from stoker.cli.views.progress import Progress
from stoker.cli.views.progress_views import Lines, tree

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


def test_a_former_object_with_the_same_id_is_distinguished_from_its_replacement() -> None:
    """The ID of a key pair is its name: the removal of the former record is not that of the new key pair."""
    made = Progress(Named(), None)  # type: ignore[arg-type]
    made.take(event("web", "UPDATE_IN_PROGRESS", STACK))
    for state in ("CREATE_IN_PROGRESS", "CREATE_COMPLETE", "DELETE_IN_PROGRESS", "DELETE_COMPLETE"):
        made.take(event("key", state))
    assert {path: node.state for path, node in made.nodes()} == {
        ("key",): "CREATE_COMPLETE",
        ("key (replaced)",): "DELETE_COMPLETE",
    }
    made.take(event("web", "ROLLBACK_IN_PROGRESS", STACK))
    made.take(event("key", "DELETE_COMPLETE"))
    assert {path: node.state for path, node in made.nodes()}["key",] == "DELETE_COMPLETE"


def test_progress_tree_folds_completed_resources() -> None:
    whole = drawn(progress(40, 44))
    assert "web  CREATE_IN_PROGRESS  38 of 44" in whole
    assert "✓ r7  CREATE_COMPLETE  3s" in whole
    folded = drawn(progress(40, 44), folded=True).splitlines()
    assert len(folded) == 4
    assert "r38" in folded[1] and "r39" in folded[2]
    assert folded[3].endswith("✓ 38 complete")


def test_failures_are_not_folded() -> None:
    made = progress(4)
    made.take(event("r0", "CREATE_FAILED"))
    assert "✗ r0  CREATE_FAILED" in drawn(made, folded=True)


def test_a_terminal_without_unicode_gets_ascii() -> None:
    shown = drawn(progress(4), "ascii")
    assert shown.isascii()
    assert "+ r0  CREATE_COMPLETE" in shown


def test_running_resources_are_reported_periodically_without_a_terminal() -> None:
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


def test_waiting_resource_keeps_its_duration() -> None:
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
        reason = f"CREATE waits for {hook}"
        about = {**event("first", state, second=5), "resource_status_reason": reason}
        made.take({**about, "hook": {"name": hook, "held": True}})
        lines.show(made)
        assert f"first  {state}  0s  {reason}" in drawn(made)
        assert "✓" not in drawn(made) and "0 of 2" in drawn(made)
        assert text.getvalue().splitlines()[-1] == f"… first  {state}  {reason}"
        assert lines_after_silence(made) == ["still paused: first (40s)"]
        made.take({**event("first", state, second=7), "hook": {"name": hook, "held": False}})
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


def nested(path: str, state: str, **further: Any) -> dict[str, Any]:
    """An event of a resource in a nested stack, with the path of its resource; of the stack itself if that is all."""
    *within, name = path.split(".")
    links = [{"rel": "stack", "href": f"http://stoker/stacks/name-of-{'-'.join(within)}/id-of-{'.'.join(within)}"}]
    return {**event(name, state), "links": links, "path": [*within, name], **further}


def test_nested_resources_are_shown_below_their_parents() -> None:
    made = progress(0)
    made.take({**nested("group.web", "CREATE_IN_PROGRESS", physical_resource_id="id-of-group"), "path": ["group"]})
    assert made.latest is None
    made.take(nested("group.0.deep", "CREATE_COMPLETE"))
    made.take(nested("group.0", "CREATE_COMPLETE"))
    assert [path for path, node in made.nodes() if node.state] == [("group",), ("group", "0"), ("group", "0", "deep")]


def test_nested_stack_without_path_has_its_own_branch() -> None:
    made = progress(0)
    made.take({**nested("group.0.server", "CREATE_COMPLETE"), "path": None})
    assert [path for path, node in made.nodes() if node.state] == [("name-of-group-0", "server")]


def test_the_cause_of_a_failure_is_shown_once() -> None:
    made, cause = progress(0), ["group", "1"]
    made.take(nested("group.1", "CREATE_FAILED", resource_status_reason="no valid host", cause=cause))
    made.take(nested("group.2", "CREATE_FAILED", resource_status_reason="CREATE aborted", cause=["group", "2"]))
    made.take({**event("group", "CREATE_FAILED"), "resource_status_reason": "1: no valid host", "cause": cause})
    end = {**event("web", "CREATE_FAILED", STACK), "resource_status_reason": "group.1: no valid host", "cause": cause}
    made.take(end)
    whole = drawn(made)
    assert whole.count("no valid host") == 1 and "1  CREATE_FAILED  no valid host" in whole
    assert "CREATE aborted" in whole
    assert made.shows(end)
    assert not made.shows({**end, "cause": ["another"]})
    expired = {**event("web", "CREATE_FAILED", STACK), "resource_status_reason": "CREATE timed out"}
    assert not made.shows(expired)
    made.take(expired)
    assert "web  CREATE_FAILED  CREATE timed out" in drawn(made)
    assert made.shows(expired)


def test_durations_use_the_exact_times_of_events() -> None:
    made = progress(0)
    made.take({**event("a", "CREATE_IN_PROGRESS"), "timestamp": "2026-01-01T00:00:00.900Z"})
    made.take({**event("a", "CREATE_COMPLETE", second=1), "timestamp": "2026-01-01T00:00:01.100Z"})
    assert "a  CREATE_COMPLETE\n" in drawn(made)


def test_a_message_is_wrapped_between_words() -> None:
    message = f"stoker: {'word ' * 20}\n  {'x' * 90} y\n  short"
    lines = wrapped(message, 40).split("\n")
    assert all(len(line) <= 40 for line in lines if "xxx" not in line)
    assert " ".join(lines).split() == message.split()
    assert lines[-3:] == [f"  {'x' * 90}", "  y", "  short"]
