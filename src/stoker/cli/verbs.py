"""`stoker stack …`: what can be done to a stack besides deploying and deleting it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import click

from stoker.cli.deploy import confirm, finish
from stoker.cli.errors import CommandFailed
from stoker.cli.follow import follow
from stoker.cli.framework import listing, with_service
from stoker.cli.service import NESTED, Answer, Service, Stack

DEFINING = ("CREATE", "UPDATE", "ADOPT", "RESTORE")
HOOKS = tuple(f"{moment}-{action}" for moment in ("pre", "post") for action in ("create", "update", "delete"))
_PAUSED = " paused until Hook "
_CLEARED = "Hook "


def _act(stack: Stack, action: str, good: tuple[str, ...]) -> None:
    """Begin an action, show how it goes, and tell how it ended."""
    marker = stack.last_event()
    stack.act(action)
    finish(follow(stack, marker), good)


def _verb(action: str, good: tuple[str, ...], text: str, examples: str) -> click.Command:
    """A command that has nothing to say but its stack's name."""

    def command(service: Service, name: str) -> None:
        _act(service.stack(name, outputs=False), action, good)

    command.__doc__ = f"{text}\n\n\b\nExamples:\n{examples}"
    decorated: Callable[..., Any] = click.argument("name")(with_service(command))
    return click.command(action)(decorated)


suspend = _verb("suspend", ("SUSPEND",), "Put everything in the stack NAME to sleep.", "  stoker stack suspend web")
resume = _verb("resume", ("RESUME",), "Wake up everything in the stack NAME.", "  stoker stack resume web")
check = _verb(
    "check",
    ("CHECK",),
    "Look whether everything in the stack NAME is there and well; the next update replaces what is not.",
    "  stoker stack check web",
)
retry = _verb(
    "retry",
    (*DEFINING, "ROLLBACK", "DELETE", "SUSPEND", "RESUME", "CHECK"),
    "Go on with what has failed on the stack NAME, towards the same definition; what has been done is kept.",
    "  stoker stack retry web",
)


@click.command("rollback")
@click.argument("name")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@with_service
def rollback(service: Service, name: str, yes: bool) -> None:
    """Take the stack NAME, whose last change has failed, back to what it was before.

    A failed creation leads back to nothing: what it made is removed.

    \b
    Examples:
      stoker stack rollback web
    """
    stack = service.stack(name, outputs=False)
    confirm(f"Take the stack {stack.name} ({stack.state}) back to what it was before?", yes)
    _act(stack, "rollback", ("ROLLBACK",))


@click.command("cancel")
@click.argument("name")
@click.option("--no-rollback", is_flag=True, help="Leave everything as it is; what is under way goes on to its end.")
@with_service
def cancel(service: Service, name: str, no_rollback: bool) -> None:
    """Call off the update that is running on the stack NAME, and take back what it did.

    With --no-rollback a creation can be called off too.

    \b
    Examples:
      stoker stack cancel web
      stoker stack cancel web --no-rollback
    """
    stack = service.stack(name, outputs=False)
    if not no_rollback:
        _act(stack, "cancel_update", ("ROLLBACK",))
        return
    stack.act("cancel_without_rollback")
    click.echo(f"{stack.name}: {stack.again().state}")


@click.command("signal")
@click.argument("name")
@click.argument("resource")
@click.option("--data", metavar="JSON", help="What to tell it.")
@with_service
def signal(service: Service, name: str, resource: str, data: str | None) -> None:
    """Send a signal to RESOURCE of the stack NAME.

    \b
    Examples:
      stoker stack signal web handle --data '{"status": "SUCCESS"}'
    """
    service.stack(name, outputs=False).signal(resource, _data(data))


def _data(text: str | None) -> Any:
    if text is None:
        return None
    try:
        data = json.loads(text)
    except ValueError as error:
        raise CommandFailed(f"--data is not JSON: {error}") from None
    if not isinstance(data, dict):
        raise CommandFailed("--data must be a JSON object.")
    return data


@click.command("mark-unhealthy")
@click.argument("name")
@click.argument("resource")
@click.option("--reason", default="", help="Why.")
@click.option("--reset", is_flag=True, help="It is well after all.")
@with_service
def mark_unhealthy(service: Service, name: str, resource: str, reason: str, reset: bool) -> None:
    """Have the next update of the stack NAME replace RESOURCE.

    \b
    Examples:
      stoker stack mark-unhealthy web server --reason "it does not answer"
      stoker stack mark-unhealthy web server --reset
    """
    service.stack(name, outputs=False).mark(resource, not reset, reason)


@listing("hooks", "resource_name", "hook", "event_time", more=("stack_name", "resource_status_reason"))
@click.argument("name")
@click.option("-n", "--nested-depth", type=click.IntRange(0, NESTED), default=0, help="Levels of nested stacks.")
@with_service
def hooks(service: Service, name: str, nested_depth: int) -> Iterable[Answer]:
    """List the hooks that hold resources of the stack NAME.

    \b
    Examples:
      stoker stack hooks web
      stoker stack hooks web -n 5
    """
    return _holding(service.stack(name, outputs=False).events(depth=nested_depth))


def _holding(events: Iterable[Answer]) -> Iterator[Answer]:
    """The hooks that events say hold, and that no later event says are cleared."""
    held: dict[tuple[str, str], Answer] = {}
    for event in events:
        reason = event["resource_status_reason"] or ""
        place = next(link["href"] for link in event["links"] if link["rel"] == "resource")
        if _PAUSED in reason:
            hook = reason.partition(_PAUSED)[2].partition(" ")[0]
            stack_name = place.split("/stacks/")[1].partition("/")[0]
            held[place, hook] = {**event, "hook": hook, "stack_name": stack_name}
        elif reason.startswith(_CLEARED):
            held.pop((place, reason.split()[1]), None)
        elif event["resource_status"].endswith("FAILED"):
            held = {key: entry for key, entry in held.items() if key[0] != place}
    yield from held.values()


@click.command("clear-hook")
@click.argument("name")
@click.argument("resource")
@click.argument("hook", type=click.Choice(HOOKS), metavar="HOOK")
@with_service
def clear_hook(service: Service, name: str, resource: str, hook: str) -> None:
    """Let RESOURCE of the stack NAME, which HOOK holds, go on.

    HOOK is pre- or post-, and create, update or delete. `stoker stack hooks` lists those that hold something.

    \b
    Examples:
      stoker stack clear-hook web server pre-create
    """
    service.stack(name, outputs=False).signal(resource, {"unset_hook": hook})


VERBS = [suspend, resume, check, cancel, retry, rollback, signal, mark_unhealthy, hooks, clear_hook]
