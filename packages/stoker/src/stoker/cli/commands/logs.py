"""`stoker logs` and `stoker outputs`: what happens to a stack, and what it yields."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from itertools import islice

import click

from stoker.base.similar import closest
from stoker.cli.client.refusals import Answer
from stoker.cli.client.stack_client import NESTED, Stack, StackClient
from stoker.cli.commands.completion import output_names, stack_names
from stoker.cli.framework import with_service
from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.terminal.formats import ROW_FORMATS, cell, console, show_record, show_rows
from stoker.cli.views.progress import path_of
from stoker.contract.views import NO_REASON


@click.command("logs")
@click.argument("name", shell_complete=stack_names)
@click.option("-f", "--follow", is_flag=True, help="Wait for new events and show them, until the stack is deleted.")
@click.option("-n", "--lines", type=click.IntRange(min=1), metavar="NUMBER", help="Show only the newest ones.")
@click.option("--failed", is_flag=True, help="Show only failures.")
@click.option("--json", "as_json", is_flag=True, help="Print each event as a JSON object in a line.")
@with_service
def logs(service: StackClient, name: str, follow: bool, lines: int | None, failed: bool, as_json: bool) -> None:
    """Show the events of the stack NAME and its nested stacks, oldest first: when, which resource, what and why.

    A resource of a nested stack has the names of the resources around it before its own: group.0.server.

    \b
    Examples:
      stoker logs web
      stoker logs web -f
      stoker logs web --failed -n 5
      stoker logs web --json
    """
    stack = service.stack(name)
    past = deque((event for event in stack.events() if not failed or _has_failed(event)), lines)
    marker = past[-1]["id"] if past and not failed else stack.last_event() if follow else None
    for event in past:
        _show(event, stack, as_json)
    if follow:
        for event in _new(stack, marker):
            if not failed or _has_failed(event):
                _show(event, stack, as_json)


def _new(stack: Stack, marker: str | None) -> Iterator[Answer]:
    """Yield events after `marker` as they are recorded, until the stack is deleted."""
    for event in stack.watch(marker, NESTED):
        if event is not None:
            yield event
            if event["physical_resource_id"] == stack.id and event["resource_status"] == "DELETE_COMPLETE":
                return


def _has_failed(event: Answer) -> bool:
    return str(event["resource_status"]).endswith("_FAILED")


def _show(event: Answer, stack: Stack, as_json: bool) -> None:
    from rich.text import Text

    from stoker.cli.terminal.formats import state_style

    path = ".".join(path_of(event, stack)) or stack.name
    if as_json:
        click.echo(json.dumps({**event, "path": path}, ensure_ascii=False))
        return
    state, reason = event["resource_status"], event["resource_status_reason"] or ""
    line = Text.assemble((event["event_time"].rstrip("Z").replace("T", " "), "dim"), "  ", (path, "bold"), "  ")
    line.append(state, state_style(state))
    if reason and reason != NO_REASON:
        line.append(f"  {reason}", "red" if _has_failed(event) else "")
    console().print(line)


@click.command("outputs")
@click.argument("name", shell_complete=stack_names)
@click.argument("key", required=False, shell_complete=output_names)
@click.option(
    "-f", "--format", "form", type=click.Choice(list(ROW_FORMATS)), default="table", show_default=True,
    help="Output format; json and yaml have the values by key.",
)  # fmt: skip
@with_service
def outputs(service: StackClient, name: str, key: str | None, form: str) -> None:
    """List the outputs of the stack NAME; or print the value of the output KEY alone, for scripts.

    Exit status: 0; 1 if there is no such output, or it has an error and no value.

    \b
    Examples:
      stoker outputs web
      stoker outputs web url
      curl "$(stoker outputs web url)"
      stoker outputs web -f json
    """
    outputs = service.stack(name).outputs()
    if key is not None:
        value = _value(name, key, outputs)
        click.echo(json.dumps(value, ensure_ascii=False) if form == "json" else cell(value))
    elif form in ("json", "yaml"):
        show_record({output["output_key"]: output["output_value"] for output in outputs}, form)
    else:
        shown = [{**output, "output_value": output.get("output_error") or output["output_value"]} for output in outputs]
        show_rows(shown, ("output_key", "output_value", "description"), form)


def _value(name: str, key: str, outputs: list[Answer]) -> object:
    """Return the value of an output. Raises CommandFailed if there is none."""
    known = [output["output_key"] for output in outputs]
    if key not in known:
        close = closest(key, known)
        listed = f"; did you mean {close}?" if close else f"; it has {', '.join(islice(known, 20)) or 'none'}."
        raise CommandFailed(f"{name} has no output {key}{listed}")
    output = outputs[known.index(key)]
    if output.get("output_error"):
        raise CommandFailed(f"The output {key} has no value: {output['output_error']}")
    return output["output_value"]
