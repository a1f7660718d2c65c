"""`stoker policies`: the policies on plans of a project or a stack."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from stoker.cli.client.change_requests import webhook_key_of
from stoker.cli.client.refusals import Answer, Refused
from stoker.cli.client.stack_client import StackClient, setting_path
from stoker.cli.commands.completion import stack_names
from stoker.cli.framework import format_option, with_service
from stoker.cli.terminal.errors import CommandFailed, PoliciesRefused
from stoker.cli.terminal.formats import ROW_FORMATS, show_rows
from stoker.cli.terminal.messages import say

_COLUMNS = ("name", "source", "verdict", "message")


@click.command("policies")
@click.argument("name", required=False, shell_complete=stack_names)
@click.option(
    "--set", "source", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Set the policies of this file, in YAML, in place of those that are set.",
)  # fmt: skip
@click.option("--remove", is_flag=True, help="Remove the policies that are set.")
@click.option("--text", is_flag=True, help="Print the file that was set.")
@format_option(ROW_FORMATS)
@with_service
def policies(service: StackClient, name: str | None, source: Path | None, remove: bool, text: bool, form: str) -> None:
    """List the policies for plans of the stack NAME, or without NAME, of the project's stacks; set or remove them.

    \b
    Examples:
      stoker policies web
      stoker policies --set policies.yaml
      stoker policies web --set policies.yaml
      stoker policies web --text > policies.yaml
      stoker policies web --remove
    """
    if sum((source is not None, remove, text)) > 1:
        raise click.UsageError("--set, --remove and --text contradict each other: give one of them.")
    stack = service.stack(name).facts if name is not None else None
    whose = name or "all stacks of the project"
    if source is not None:
        answer = _set(service, stack, source)
        say(f"Plans of {whose} must satisfy the policies of {source}.")
        if sentence := webhook_key_of(answer):
            say(sentence)
    elif remove:
        service.call("DELETE", _path(stack))
        say(f"No policies are set for {whose} any more.")
    elif text:
        click.echo(_shown(service, stack)["chosen"] or "", nl=False)
    elif rows := _shown(service, stack)["policies"]:
        show_rows(rows, _COLUMNS, form, ("message",))
    else:
        show_rows([], _COLUMNS, form)
        say(f"There are no policies for plans of {whose}.", err=True)


def _path(stack: Answer | None) -> str:
    return setting_path(stack, "plan_policies")


def _shown(service: StackClient, stack: Answer | None) -> Answer:
    policies: Answer = service.call("GET", _path(stack))["plan_policies"]
    return policies


def _set(service: StackClient, stack: Answer | None, source: Path) -> Answer:
    """Set what a file says, and return what is set.

    Raises CommandFailed, and PoliciesRefused with the places of mistakes in the file.
    """
    try:
        text = source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandFailed(f"Cannot read {source}: {error}") from None
    try:
        policies: Answer = service.call("PUT", _path(stack), {"plan_policies": text})["plan_policies"]
    except Refused as error:
        if not error.diagnostics:
            raise
        mistakes = [replace(diagnostic, source=str(source)) for diagnostic in error.diagnostics]
        raise PoliciesRefused(mistakes, lambda _: text) from error
    return policies
