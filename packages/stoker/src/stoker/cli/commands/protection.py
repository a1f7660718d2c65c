"""`stoker stack lock`, `protect` and `policy`: what protects a stack from changes."""

from __future__ import annotations

from pathlib import Path

import click

from stoker.cli.client.refusals import Answer
from stoker.cli.client.stack_client import StackClient
from stoker.cli.commands.completion import stack_names
from stoker.cli.framework import format_option, with_service
from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.terminal.formats import RECORD_FORMATS, show_record
from stoker.cli.terminal.messages import say

_SETTINGS = "/settings"


@click.command("lock")
@click.argument("name", shell_complete=stack_names)
@click.option("--reason", required=True, metavar="TEXT", help="Why; everybody who is refused reads it.")
@with_service
def lock(service: StackClient, name: str, reason: str) -> None:
    """Lock the stack NAME with its nested stacks: nothing is changed until it is unlocked.

    Updates, deletions and other actions are refused, and so are signals that scale or replace; the stack is not healed.
    What is in progress continues. Everything can be read, and plans can be made.

    \b
    Examples:
      stoker stack lock web --reason "the release of Friday"
    """
    stack = service.stack(name)
    locked = service.send("PUT", stack.facts, f"{_SETTINGS}/lock", {"reason": reason})["locked"]
    say(f"{stack.name} is locked since {locked['since']}.")


@click.command("unlock")
@click.argument("name", shell_complete=stack_names)
@with_service
def unlock(service: StackClient, name: str) -> None:
    """Unlock the stack NAME, also if another user has locked it.

    \b
    Examples:
      stoker stack unlock web
    """
    stack = service.stack(name)
    service.send("DELETE", stack.facts, f"{_SETTINGS}/lock")
    say(f"{stack.name} is unlocked.")


@click.command("protect")
@click.argument("name", shell_complete=stack_names)
@with_service
def protect(service: StackClient, name: str) -> None:
    """Protect the stack NAME from deletion; updates are allowed.

    \b
    Examples:
      stoker stack protect web
    """
    stack = service.stack(name)
    service.send("PUT", stack.facts, f"{_SETTINGS}/protection")
    say(f"{stack.name} is protected from deletion.")


@click.command("unprotect")
@click.argument("name", shell_complete=stack_names)
@with_service
def unprotect(service: StackClient, name: str) -> None:
    """Allow the deletion of the stack NAME.

    \b
    Examples:
      stoker stack unprotect web
    """
    stack = service.stack(name)
    service.send("DELETE", stack.facts, f"{_SETTINGS}/protection")
    say(f"{stack.name} can be deleted.")


@click.command("policy")
@click.argument("name", shell_complete=stack_names)
@click.option(
    "--set",
    "source",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Set the policy in this file, in JSON or YAML.",
)
@click.option("--remove", is_flag=True, help="Remove the policy: all updates are allowed.")
@format_option(RECORD_FORMATS, "yaml")
@with_service
def policy(service: StackClient, name: str, source: Path | None, remove: bool, form: str) -> None:
    """Print the stack policy of NAME, which says which updates are allowed; or set or remove it.

    \b
    Examples:
      stoker stack policy web
      stoker stack policy web --set policy.yaml
      stoker stack policy web --remove
    """
    if source is not None and remove:
        raise click.UsageError("--set and --remove contradict each other: give one of them.")
    stack = service.stack(name)
    if source is not None:
        service.send("PUT", stack.facts, f"{_SETTINGS}/policy", {"policy": _read(source)})
        say(f"{stack.name} has a new policy.")
    elif remove:
        service.send("DELETE", stack.facts, f"{_SETTINGS}/policy")
        say(f"{stack.name} has no policy: all updates are allowed.")
    else:
        _show(service.below(stack.facts, _SETTINGS)["settings"], stack.name, form)


def _read(source: Path) -> Answer:
    """Return the policy in a file. Raises CommandFailed."""
    import yaml

    try:
        document = yaml.safe_load(source.read_text())
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise CommandFailed(f"Cannot read {source}: {error}") from None
    if not isinstance(document, dict):
        raise CommandFailed(f"{source}: a stack policy must be a map with the key Statement.")
    return document


def _show(settings: Answer, name: str, form: str) -> None:
    if settings["policy"] is None:
        raise CommandFailed(f"{name} has no stack policy: all updates are allowed.")
    show_record(settings["policy"], form)


PROTECTION = [lock, unlock, protect, unprotect, policy]
