"""Follow an action on a stack until it ends, and show its progress."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from rich.console import Console
from rich.tree import Tree

from stoker.cli.client.outages import NotAnswering
from stoker.cli.client.refusals import Answer
from stoker.cli.client.stack_client import Stack
from stoker.cli.terminal.errors import FollowingFailed, FollowingInterrupted
from stoker.cli.terminal.formats import console
from stoker.cli.views.progress import Progress
from stoker.cli.views.progress_views import View, tree
from stoker.cli.views.reports import TEXT, Report


def whole_tree(stack: Stack, out: Console) -> Tree:
    """Return the tree of all events of a stack, to be printed on `out`."""
    progress = Progress(stack, None)
    for event in stack.events():
        progress.take(event)
    return tree(progress, out)


def follow(stack: Stack, marker: str | None = None, planned: int | None = None, report: Report = TEXT) -> Stack:
    """Show the progress of an action until it ends; return the stack in its final state.

    `marker` is the last event before the action, `planned` the number of changes in its plan. Raises what `continued`
    raises.
    """
    with continued(stack):
        return _followed(stack, Progress(stack, marker, planned), report)


@contextmanager
def continued(stack: Stack) -> Iterator[None]:
    """Name the command that continues if the body, which follows an operation on a stack, cannot.

    Raises FollowingInterrupted if the user interrupts it, and FollowingFailed if the service is away for too long.
    """
    commands = (
        f"  stoker stack watch {stack.name}   # follow it until it ends\n"
        f"  stoker stack cancel {stack.name}  # cancel an update"
    )
    try:
        yield
    except KeyboardInterrupt:
        raise FollowingInterrupted(f"The operation on {stack.name} continues.\n{commands}") from None
    except NotAnswering as error:
        raise FollowingFailed(
            f"{error.message}\nIts outage does not end the operation on {stack.name}. To continue:\n{commands}"
        ) from error


def _followed(stack: Stack, progress: Progress, report: Report) -> Stack:
    with report.view() as shown, closing(stack.watch(progress.marker)) as watched:
        with stack.outages.reported(lambda text: shown.outage(progress, text)):
            now = _taken(stack, progress, shown, watched)
        shown.end(progress)
    if report is TEXT and console().is_terminal:
        now.shown = progress.shows
    return now


def _taken(stack: Stack, progress: Progress, shown: View, watched: Iterator[Answer | None]) -> Stack:
    """Take events until the action has ended; return the stack in its final state."""
    for event in watched:
        if event is None:
            shown.wait(progress)
        else:
            _apply(event, stack, progress, shown)
        if (event is None or _may_be_last(event, stack)) and not (now := stack.reload()).busy:
            break
    for event in stack.events(progress.marker):
        _apply(event, stack, progress, shown)
    return now


def _apply(event: Answer, stack: Stack, progress: Progress, shown: View) -> None:
    """Apply and show an event, but nothing from before the first one of a new stack: that is about resources which were
    moved into it, in the stacks that they had been in.
    """
    if progress.marker is None and event["physical_resource_id"] != stack.id:
        return
    progress.take(event)
    shown.show(progress)


def _may_be_last(event: Answer, stack: Stack) -> bool:
    """Return whether an event reports the end of an action on the stack itself."""
    return event["physical_resource_id"] == stack.id and not event["resource_status"].endswith("_IN_PROGRESS")


CHANGING_ACTIONS = ("CREATE", "UPDATE", "DELETE")
"""Actions that users request. A complete rollback does not mean that the requested action succeeded."""


def succeeded(stack: Stack, actions: tuple[str, ...] = CHANGING_ACTIONS) -> bool:
    """Return whether the last action was one of `actions`, and is complete."""
    action, _, status = stack.state.partition("_")
    return action in actions and status == "COMPLETE"
