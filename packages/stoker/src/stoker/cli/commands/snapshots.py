"""`stoker snapshot …`: take, list, show, restore and delete snapshots of a stack."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

import click

from stoker.cli.client.refusals import Answer
from stoker.cli.client.stack_client import Stack, StackClient
from stoker.cli.commands.completion import snapshot_names, stack_names
from stoker.cli.commands.refresh_options import extent, refresh_options
from stoker.cli.framework import Commands, listing, progress_format, record, with_service, yes_option
from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.terminal.messages import say

Command = TypeVar("Command", bound=Callable[..., object])


def _arguments(function: Command) -> Command:
    """Add NAME, the stack, and SNAPSHOT, the name or the ID of one of its snapshots."""
    snapshot = click.argument("snapshot", shell_complete=snapshot_names)
    return click.argument("name", shell_complete=stack_names)(snapshot(function))


def _identified(stack: Stack, name_or_id: str) -> Answer:
    """Return the snapshot with this ID or name. Raises CommandFailed if there is none, or several."""
    snapshots = stack.snapshots.all()
    matching = [snapshot for snapshot in snapshots if snapshot["id"] == name_or_id] or [
        snapshot for snapshot in snapshots if snapshot["name"] == name_or_id
    ]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise CommandFailed(
            f"{len(matching)} snapshots of {stack.name} have the name {name_or_id}; use an ID: "
            f"{', '.join(snapshot['id'] for snapshot in matching)}."
        )
    names = ", ".join(snapshot["name"] or snapshot["id"] for snapshot in snapshots)
    raise CommandFailed(f"{stack.name} has no snapshot {name_or_id}; it has {names or 'none'}.")


@listing("list", "name", "id", "status", "creation_time", more=("status_reason",), spare=("creation_time",))
@click.argument("name", shell_complete=stack_names)
@with_service
def list_snapshots(service: StackClient, name: str) -> Iterable[Answer]:
    """List the snapshots of the stack NAME.

    \b
    Examples:
      stoker snapshot list web
    """
    return service.stack(name).snapshots.all()


@click.command("create")
@click.argument("name", shell_complete=stack_names)
@click.argument("snapshot", required=False)
@with_service
def create(service: StackClient, name: str, snapshot: str | None) -> None:
    """Take a snapshot of the stack NAME, with the name SNAPSHOT or without a name, and wait until it is complete.

    It contains the definition of the stack, and a copy of the content of servers and volumes.

    \b
    Examples:
      stoker snapshot create web before-upgrade
    """
    from stoker.cli.commands.deployment import finish
    from stoker.cli.views.follow import follow

    stack = service.stack(name)
    marker = stack.last_event()
    taken = stack.snapshots.take(snapshot)
    finish(follow(stack, marker), ("SNAPSHOT",))
    called = f"{taken['name']} ({taken['id']})" if taken["name"] else taken["id"]
    say(f"Snapshot {called}. To restore it:\n  stoker snapshot restore {stack.name} {taken['name'] or taken['id']}")


@record("show", form="yaml")
@_arguments
@with_service
def show(service: StackClient, name: str, snapshot: str) -> Answer:
    """Show SNAPSHOT of the stack NAME with its document; hidden values are redacted.

    \b
    Examples:
      stoker snapshot show web before-upgrade
    """
    stack = service.stack(name)
    return stack.snapshots.one(_identified(stack, snapshot)["id"])


@click.command("restore")
@_arguments
@yes_option
@refresh_options
@click.option("--dry-run", is_flag=True, help="Show the plan, and change nothing.")
@progress_format
@with_service
def restore(
    service: StackClient,
    name: str,
    snapshot: str,
    yes: bool,
    refresh: str | None,
    skip_refresh: bool,
    dry_run: bool,
    form: str,
) -> None:
    """Restore the definition and the content that the stack NAME had when SNAPSHOT was taken, after showing the plan.

    Objects that were changed outside Stoker are changed back.

    \b
    Examples:
      stoker snapshot restore web before-upgrade
      stoker snapshot restore web before-upgrade --dry-run
    """
    from stoker.cli.commands.deployment import PlannedAction, act_as_planned
    from stoker.cli.views.plans import SNAPSHOT
    from stoker.cli.views.reports import reported

    with reported(form) as report:
        stack = service.stack(name)
        row = _identified(stack, snapshot)
        called = row["name"] or row["id"]
        question = f"Restore {stack.name} from the snapshot {called} of {row['creation_time']}?"
        compared = extent(refresh, skip_refresh)
        preview = partial(stack.snapshots.preview_restore, row["id"], compared)
        start = partial(stack.snapshots.restore, row["id"], refresh=compared)
        action = PlannedAction(stack, question, preview, start, ("RESTORE",), SNAPSHOT)
        act_as_planned(action, yes, dry_run, report)


@click.command("delete")
@_arguments
@yes_option
@with_service
def delete(service: StackClient, name: str, snapshot: str, yes: bool) -> None:
    """Delete SNAPSHOT of the stack NAME with its copies.

    \b
    Examples:
      stoker snapshot delete web before-upgrade --yes
    """
    from stoker.cli.commands.deployment import confirm

    stack = service.stack(name)
    row = _identified(stack, snapshot)
    confirm(f"Delete the snapshot {row['name']} of {stack.name} with its copies?", yes)
    stack.snapshots.delete(row["id"])


snapshot = Commands(
    "snapshot",
    commands=[list_snapshots, create, show, restore, delete],
    help="Take, restore and delete snapshots of stacks.",
)
