"""Displays of progress: a live tree on a terminal, otherwise a line for each finished step."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text
from rich.tree import Tree

from stoker.cli.client.outages import ANSWERS_AGAIN
from stoker.cli.terminal.formats import state_style
from stoker.cli.terminal.messages import wrapped
from stoker.cli.views.progress import Node, Progress, duration

_MARKS = {"COMPLETE": "✓", "FAILED": "✗", "": "…"}
_ASCII_MARKS = {"COMPLETE": "+", "FAILED": "x", "": "."}
_SILENCE_SECONDS = 30.0
_MOST_NAMED = 3


class View(Protocol):
    """Displays progress to the user."""

    def show(self, progress: Progress) -> None:
        """Display the change by the latest event."""

    def wait(self, progress: Progress) -> None:
        """Note that no event has come for a while."""

    def outage(self, progress: Progress, text: str | None) -> None:
        """Display that the service does not answer; None as soon as it answers."""

    def end(self, progress: Progress) -> None:
        """Display the result."""


class Lines:
    """Prints a line for every resource whose step ended or waits, and what is still running after a silence."""

    def __init__(self, out: Console, clock: Callable[[], float] = time.monotonic, prefix: str = "") -> None:
        """`prefix` begins each line."""
        self._out = out
        self._prefix = prefix
        self._clock = clock
        self._printed = clock()

    def show(self, progress: Progress) -> None:
        if progress.latest is None:
            return
        path, node = progress.latest
        if not node.running or node.note:
            self._print(_line(".".join(path), node, marks(self._out)))

    def wait(self, progress: Progress) -> None:
        now = self._clock()
        if now - self._printed < _SILENCE_SECONDS:
            return
        running = [(path, node) for path, node in progress.nodes() if node.running and not node.children]
        for path, node in running[:_MOST_NAMED]:
            doing = "paused" if node.held else node.state
            self._print(Text(f"still {doing}: {'.'.join(path)} ({duration(now - node.since)})", "dim"))
        if len(running) > _MOST_NAMED:
            self._print(Text(f"and {len(running) - _MOST_NAMED} more", "dim"))

    def outage(self, progress: Progress, text: str | None) -> None:
        self._print(Text(text or ANSWERS_AGAIN, "yellow"))

    def end(self, progress: Progress) -> None:
        """Nothing is left to print."""

    def _print(self, line: Text) -> None:
        self._printed = self._clock()
        self._out.print(Text.assemble((self._prefix, "dim"), line) if self._prefix else line)


class LiveTree:
    """The tree, redrawn in place. Branches that are complete are folded while it is taller than the terminal."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def show(self, progress: Progress) -> None:
        self._live.update(self._drawn(progress, 0))

    def _drawn(self, progress: Progress, below: int) -> Tree:
        """Return the tree, folded if it does not fit on the terminal with the lines that follow it."""
        lines = sum(1 for _ in progress.nodes()) + 1 + below
        return tree(progress, self._live.console, folded=lines > self._live.console.height - 1)

    def wait(self, progress: Progress) -> None:
        """Times are redrawn anyway."""

    def outage(self, progress: Progress, text: str | None) -> None:
        if text is None:
            self.show(progress)
            return
        notice = Text(wrapped(text, self._live.console.width), "yellow")
        self._live.update(Group(self._drawn(progress, notice.plain.count("\n") + 1), notice))

    def end(self, progress: Progress) -> None:
        """Display the whole tree, unless there was nothing to do."""
        if progress.root.state or progress.root.children:
            self._live.update(tree(progress, self._live.console))


class _Running:
    """A resource with an action in progress: its mark moves, and its time passes, whenever it is drawn."""

    def __init__(self, name: str, node: Node, signs: dict[str, str]) -> None:
        self._name = name
        self._node = node
        self._spinner = Spinner("line" if signs is _ASCII_MARKS else "dots", style="yellow")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        line = Text()
        mark = self._spinner.render(console.get_time())
        line.append_text(mark if isinstance(mark, Text) else Text())
        line.append(f" {self._name}  ")
        line.append(self._node.state, "yellow")
        line.append(f"  {duration(time.monotonic() - self._node.since)}", "dim")
        if self._node.note:
            line.append(f"  {self._node.note}")
        yield line


def marks(out: Console) -> dict[str, str]:
    """Return the marks of states that the encoding of the output can represent."""
    return _ASCII_MARKS if out.options.ascii_only else _MARKS


def tree(progress: Progress, out: Console, *, folded: bool = False) -> Tree:
    """Return the tree of affected resources, with nested stacks as branches.

    A folded tree has one line for all resources of a branch that are complete.
    """
    signs = marks(out)
    head = _line(progress.stack.name, progress.root, signs, bold=True)
    if progress.count and progress.root.running:
        head.append(f"  {progress.count}", "dim")
    drawn = Tree(head, guide_style="dim")
    pending = [(drawn, progress.root)]
    while pending:
        branch, node = pending.pop()
        complete = 0
        for name, child in node.children.items():
            if folded and child.settled:
                complete += 1
                continue
            label = _Running(name, child, signs) if child.running else _line(name, child, signs)
            pending.append((branch.add(label), child))
        if complete:
            branch.add(Text(f"{signs['COMPLETE']} {complete} complete", "dim"))
    return drawn


def _line(name: str, node: Node, signs: dict[str, str], *, bold: bool = False) -> Text:
    style = state_style(node.state)
    mark = signs[""] if node.running else signs.get(node.state.rpartition("_")[2], signs[""])
    text = Text.assemble((mark, style), " ", (name, "bold" if bold else ""), "  ", (node.state, style))
    if took := node.took():
        text.append(f"  {took}", "dim")
    if node.note:
        text.append(f"  {node.note}", "" if node.running else "red")
    return text


@contextmanager
def view(out: Console) -> Iterator[View]:
    """Display progress on `out` while the context is open."""
    if not out.is_terminal:
        yield Lines(out)
        return
    with Live(console=out, refresh_per_second=8) as live:
        yield LiveTree(live)
