"""`stoker stack …`: actions on a stack besides deploying and deleting it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import click

from stoker.base.json_text import read_json
from stoker.cli.client.refusals import Answer
from stoker.cli.client.stack_client import NESTED, Stack, StackClient
from stoker.cli.commands.completion import resource_names, stack_names
from stoker.cli.commands.refresh_options import extent, refresh_options
from stoker.cli.framework import listing, progress_format, with_service, yes_option
from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.terminal.messages import say
from stoker.cli.views.progress import hook_of, latest_action

ALL = ("CREATE", "UPDATE", "ADOPT", "RESTORE", "ROLLBACK", "DELETE", "SUSPEND", "RESUME", "CHECK")

HOOKS = tuple(f"{moment}-{action}" for moment in ("pre", "post") for action in ("create", "update", "delete"))


def _act(stack: Stack, action: str, good: tuple[str, ...]) -> None:
    """Start an action, and show its progress and result."""
    from stoker.cli.commands.deployment import finish
    from stoker.cli.views.follow import follow

    marker = stack.last_event()
    stack.act(action)
    finish(follow(stack, marker), good)


def _verb(action: str, good: tuple[str, ...], text: str, examples: str) -> click.Command:
    """Return the command of an action whose only argument is the name of the stack."""

    def command(service: StackClient, name: str) -> None:
        stack = service.stack(name)
        if action == "resume" and not stack.state.startswith(("SUSPEND", "RESUME")):
            raise CommandFailed(f"{stack.name} is not suspended: its state is {stack.state}.")
        _act(stack, action, good)

    command.__doc__ = f"{text}\n\n\b\nExamples:\n{examples}"
    decorated: Callable[..., object] = click.argument("name", shell_complete=stack_names)(with_service(command))
    return click.command(action)(decorated)


suspend = _verb("suspend", ("SUSPEND",), "Suspend all resources of the stack NAME.", "  stoker stack suspend web")
resume = _verb("resume", ("RESUME",), "Resume all resources of the stack NAME.", "  stoker stack resume web")


@click.command("check")
@click.argument("name", shell_complete=stack_names)
@with_service
def check(service: StackClient, name: str) -> None:
    """Check that the resources of the stack NAME exist and are healthy; the next update replaces others.

    Says how many resources were not checked, since their types have no check.

    \b
    Examples:
      stoker stack check web
    """
    stack = service.stack(name)
    _act(stack, "check", ("CHECK",))
    say(str(stack.reload().facts["stack_status_reason"]))


@click.command("retry")
@click.argument("name", shell_complete=stack_names)
@click.option(
    "--skip",
    multiple=True,
    metavar="RESOURCE",
    help="Continue without this failed resource, whose object stays as it is; with a path as in plans, one of a nested "
    "stack. Can be repeated.",
    shell_complete=resource_names,
)
@refresh_options
@click.option("--dry-run", is_flag=True, help="Show the plan, and change nothing.")
@progress_format
@with_service
def retry(
    service: StackClient,
    name: str,
    skip: tuple[str, ...],
    refresh: str | None,
    skip_refresh: bool,
    dry_run: bool,
    form: str,
) -> None:
    """Retry the failed action on the stack NAME with the same definition, after showing the plan of what is left to do.

    Completed steps are kept. Objects that were changed outside Stoker are changed back.

    \b
    Examples:
      stoker stack retry web --dry-run
      stoker stack retry web
      stoker stack retry web --skip volume --skip workers.0.port
    """
    from stoker.authoring.plan_steps import UNPLANNED
    from stoker.cli.commands.deployment import PlannedAction, act_as_planned
    from stoker.cli.views.plans import RETRIED
    from stoker.cli.views.reports import reported

    with reported(form) as report:
        stack = service.stack(name)
        compared = extent(refresh, skip_refresh)
        planned = not stack.state.startswith(UNPLANNED)
        preview = partial(stack.preview, "retry", compared, skip)
        start = partial(stack.act, "retry", skip=skip, refresh=compared if planned else None)
        question = f"Retry what has failed on the stack {stack.name} ({stack.state})?"
        action = PlannedAction(stack, question, preview, start, ALL, RETRIED, planned=planned)
        act_as_planned(action, True, dry_run, report)


@click.command("rollback")
@click.argument("name", shell_complete=stack_names)
@yes_option
@refresh_options
@click.option("--dry-run", is_flag=True, help="Show the plan, and change nothing.")
@progress_format
@with_service
def rollback(
    service: StackClient, name: str, yes: bool, refresh: str | None, skip_refresh: bool, dry_run: bool, form: str
) -> None:
    """Roll the stack NAME, whose last change has failed, back to its last good definition, after showing the plan.

    After a failed creation, all its resources are deleted. Objects that were changed outside Stoker are changed back.

    \b
    Examples:
      stoker stack rollback web
      stoker stack rollback web --dry-run
    """
    from stoker.cli.commands.deployment import PlannedAction, act_as_planned
    from stoker.cli.views.plans import LAST_GOOD
    from stoker.cli.views.reports import reported

    with reported(form) as report:
        stack = service.stack(name)
        question = f"Roll back the stack {stack.name} ({stack.state})?"
        compared = extent(refresh, skip_refresh)
        preview, start = partial(stack.preview, "rollback", compared), partial(stack.act, "rollback", refresh=compared)
        action = PlannedAction(stack, question, preview, start, ("ROLLBACK",), LAST_GOOD)
        act_as_planned(action, yes, dry_run, report)


@click.command("cancel")
@click.argument("name", shell_complete=stack_names)
@click.option("--no-rollback", is_flag=True, help="Do not roll back; steps in progress are completed.")
@with_service
def cancel(service: StackClient, name: str, no_rollback: bool) -> None:
    """Cancel the update that is in progress on the stack NAME, and roll it back.

    With --no-rollback, a creation can be cancelled, too.

    \b
    Examples:
      stoker stack cancel web
      stoker stack cancel web --no-rollback
    """
    stack = service.stack(name)
    if not no_rollback:
        _act(stack, "cancel_update", ("ROLLBACK",))
        return
    stack.act("cancel_without_rollback")
    click.echo(f"{stack.name}: {stack.reload().state}")


@click.command("watch")
@click.argument("name", shell_complete=stack_names)
@with_service
def watch(service: StackClient, name: str) -> None:
    """Show the progress of the operation on the stack NAME until it ends, and its result; or those of the last one.

    This continues a command that was interrupted, or has lost the service. The exit status is that of the operation:
    0 if it is complete, 1 if it has failed or was rolled back.

    \b
    Examples:
      stoker stack watch web
    """
    from stoker.cli.commands.deployment import finish
    from stoker.cli.views.follow import follow

    stack = service.stack(name)
    newest = next(stack.operations(), None)
    marker, _ = latest_action(stack, NESTED)
    finish(follow(stack, marker), ALL if newest is None else (newest["action"],))


@click.command("signal")
@click.argument("name", shell_complete=stack_names)
@click.argument("resource", shell_complete=resource_names)
@click.option("--data", metavar="JSON", help="Data to send, a JSON object.")
@with_service
def signal(service: StackClient, name: str, resource: str, data: str | None) -> None:
    """Send a signal to RESOURCE of the stack NAME.

    \b
    Examples:
      stoker stack signal web handle --data '{"status": "SUCCESS"}'
    """
    service.stack(name).signal(resource, _data(data))
    say(f"Sent the signal to {resource}.", err=True)


def _data(text: str | None) -> Any:
    if text is None:
        return None
    try:
        data = read_json(text)
    except ValueError as error:
        raise CommandFailed(f"--data is not JSON: {error}") from None
    if not isinstance(data, dict):
        raise CommandFailed("--data must be a JSON object.")
    return data


@click.command("mark-unhealthy")
@click.argument("name", shell_complete=stack_names)
@click.argument("resource", shell_complete=resource_names)
@click.option("--reason", default="", help="Reason, shown with the resource.")
@click.option("--reset", is_flag=True, help="Remove the mark.")
@with_service
def mark_unhealthy(service: StackClient, name: str, resource: str, reason: str, reset: bool) -> None:
    """Mark RESOURCE of the stack NAME unhealthy, so that the next update replaces it.

    \b
    Examples:
      stoker stack mark-unhealthy web server --reason "it does not answer"
      stoker stack mark-unhealthy web server --reset
    """
    service.stack(name).mark(resource, not reset, reason or ("" if reset else "marked unhealthy"))
    say(
        f"Removed the mark of {resource}."
        if reset
        else f"Marked {resource} unhealthy. The next `stoker deploy {name} -t TEMPLATE` replaces it.",
        err=True,
    )


@listing("hooks", "resource_name", "hook", "event_time", more=("stack_name", "resource_status_reason"))
@click.argument("name", shell_complete=stack_names)
@click.option("-n", "--nested-depth", type=click.IntRange(0, NESTED), default=0, help="Levels of nested stacks.")
@with_service
def hooks(service: StackClient, name: str, nested_depth: int) -> Iterable[Answer]:
    """List the hooks that pause resources of the stack NAME.

    \b
    Examples:
      stoker stack hooks web
      stoker stack hooks web -n 5
    """
    return _holding(service.stack(name).events(depth=nested_depth))


def _holding(events: Iterable[Answer]) -> Iterator[Answer]:
    """Yield the hooks that pause a resource according to the events, and have not been cleared since."""
    held: dict[tuple[str, str], Answer] = {}
    for event in events:
        place = next(link["href"] for link in event["links"] if link["rel"] == "resource")
        if hook := hook_of(event):
            stack_name = place.split("/stacks/")[1].partition("/")[0]
            held[place, hook] = {**event, "hook": hook, "stack_name": stack_name}
        elif cleared := event.get("hook"):
            held.pop((place, cleared["name"]), None)
        elif event["resource_status"].endswith("FAILED"):
            held = {key: entry for key, entry in held.items() if key[0] != place}
    yield from held.values()


@click.command("clear-hook")
@click.argument("name", shell_complete=stack_names)
@click.argument("resource", shell_complete=resource_names)
@click.argument("hook", type=click.Choice(HOOKS), metavar="HOOK")
@with_service
def clear_hook(service: StackClient, name: str, resource: str, hook: str) -> None:
    """Clear HOOK, which pauses RESOURCE of the stack NAME, so that it continues.

    HOOK is pre- or post-, followed by create, update or delete. `stoker stack hooks` lists the active ones.

    \b
    Examples:
      stoker stack clear-hook web server pre-create
    """
    service.stack(name).signal(resource, {"unset_hook": hook})
    say(f"Cleared the hook {hook} of {resource}.", err=True)


VERBS = [suspend, resume, check, cancel, retry, rollback, watch, signal, mark_unhealthy, hooks, clear_hook]
