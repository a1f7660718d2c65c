"""How commands on projects show the progress of several stacks at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import RLock
from typing import Any

from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from stoker.cli.client.outages import ANSWERS_AGAIN
from stoker.cli.client.refusals import Answer
from stoker.cli.client.stack_client import Stack
from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.terminal.formats import console
from stoker.cli.views.plans import Compared
from stoker.cli.views.progress import Progress
from stoker.cli.views.progress_views import Lines, View, tree
from stoker.cli.views.reports import TEXT, JSONLines, Report, write


class ProgressView:
    """Shows what happens to several stacks, from any thread: a line for each finished resource."""

    def __init__(self) -> None:
        self.lock = RLock()

    def of(self, name: str) -> Report:
        """Return the report about a stack."""
        return _OneOfSeveral(self, name)

    def question_report(self) -> Report:
        """Return the report for questions."""
        return TEXT

    def live(self) -> AbstractContextManager[None]:
        """Return the context in which progress is shown."""
        return nullcontext()

    def print(self, renderable: RenderableType) -> None:
        """Print something in one piece."""
        with self.lock:
            console().print(renderable)

    def view(self, name: str) -> View:
        """Return what shows the progress of a stack."""
        return _Locked(self.lock, Lines(console(), prefix=f"{name}: "))


class _OneOfSeveral:
    """A report about one stack, which does not overlap with those about other stacks."""

    asks = False

    def __init__(self, shown: ProgressView, name: str) -> None:
        self._shown = shown
        self._name = name

    def plan(self, name: str, plan: Answer, compared: Compared | None = None, snapshots: Sequence[Answer] = ()) -> None:
        """The plans were shown all together, before."""

    def note(self, text: str) -> None:
        self._shown.print(Text(text, "yellow"))

    @contextmanager
    def view(self) -> Iterator[View]:
        yield self._shown.view(self._name)

    def ended(self, stack: Stack, succeeded: bool) -> None:
        self._shown.print(Text(f"{stack.name}: {stack.state}", style="bold green" if succeeded else "bold red"))

    def outputs(self, stack: Stack) -> None:
        """`stoker outputs` shows them."""

    def failed(self, error: CommandFailed) -> None:
        """All errors are shown at the end."""


class _Locked:
    """A view whose methods do not overlap with those of other views."""

    def __init__(self, lock: Any, view: View) -> None:
        self._lock = lock
        self._view = view

    def show(self, progress: Progress) -> None:
        with self._lock:
            self._view.show(progress)

    def wait(self, progress: Progress) -> None:
        with self._lock:
            self._view.wait(progress)

    def outage(self, progress: Progress, text: str | None) -> None:
        with self._lock:
            self._view.outage(progress, text)

    def end(self, progress: Progress) -> None:
        with self._lock:
            self._view.end(progress)


class AsTrees(ProgressView):
    """The trees of all stacks in progress, redrawn in place; that of a stack that has ended stays above them."""

    def __init__(self) -> None:
        super().__init__()
        self._live: Live | None = None
        self._trees: dict[str, RenderableType] = {}

    @contextmanager
    def live(self) -> Iterator[None]:
        with Live(console=console(), refresh_per_second=8) as self._live:
            yield
        self._live = None

    def print(self, renderable: RenderableType) -> None:
        with self.lock:
            (console() if self._live is None else self._live.console).print(renderable)

    def view(self, name: str) -> View:
        return _InTree(name, self)

    def draw(self, name: str, shown: RenderableType | None) -> None:
        """Show the present tree of a stack; None for one that has ended."""
        with self.lock:
            self._trees = {**self._trees, name: shown} if shown is not None else self._without(name)
            if self._live is not None:
                self._live.update(Group(*self._trees.values()))

    def _without(self, name: str) -> dict[str, RenderableType]:
        return {other: shown for other, shown in self._trees.items() if other != name}


class _InTree:
    """The tree of one of several stacks, with one line for all resources of a branch that are complete."""

    def __init__(self, name: str, trees: AsTrees) -> None:
        self._name = name
        self._trees = trees

    def show(self, progress: Progress) -> None:
        self._trees.draw(self._name, tree(progress, console(), folded=True))

    def wait(self, progress: Progress) -> None:
        """Times are redrawn anyway."""

    def outage(self, progress: Progress, text: str | None) -> None:
        notice = Text(text or ANSWERS_AGAIN, "yellow")
        self._trees.draw(self._name, Group(tree(progress, console(), folded=True), notice))

    def end(self, progress: Progress) -> None:
        self._trees.draw(self._name, None)
        if progress.root.state or progress.root.children:
            self._trees.print(tree(progress, console()))


class AsJSON(ProgressView):
    """One JSON object on each line."""

    def of(self, name: str) -> Report:
        return JSONLines()

    def question_report(self) -> Report:
        return JSONLines()


def shown_as(form: str) -> ProgressView:
    """Return what shows progress in the format of the option `-f`."""
    if form == "json":
        return AsJSON()
    return AsTrees() if console().is_terminal else ProgressView()


_SIGNS = {
    "done": ("✓", "green"),
    "removed": ("✓", "green"),
    "unchanged": ("=", "dim"),
    "different": ("~", "yellow"),
    "surplus": ("~", "yellow"),
    "waiting": ("…", "yellow"),
    "blocked": ("✗", "bold red"),
    "failed": ("✗", "bold red"),
    "skipped": ("-", "yellow"),
}
"""How each outcome is shown, in the order of their counts."""


def show_summary(rows: Sequence[Mapping[str, Any]], form: str, succeeded: bool) -> None:
    """Show how the stacks ended: maps with `stack`, `name`, `outcome`, and `error` or `because_of`."""
    if form == "json":
        write("summary", stacks=list(rows), succeeded=succeeded)
        return
    out = console()
    out.print()
    for row in rows:
        sign, style = _SIGNS[row["outcome"]]
        because = f", since it needs {', '.join(row['because_of'])}" if row.get("because_of") else ""
        out.print(Text.assemble((sign, style), " ", (row["name"], "bold"), f"  {row['outcome']}{because}"))
    out.print(Text(f"{counted(rows)}.", "bold green" if succeeded else "bold red"))


def counted(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return how often there is each outcome: `3 done, 1 failed`."""
    counts = {outcome: sum(row["outcome"] == outcome for row in rows) for outcome in _SIGNS}
    return ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count) or "no stacks"
