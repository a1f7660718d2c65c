"""`stoker stack history`: the operations on a stack, who requested them, and their outcome."""

from __future__ import annotations

import click

from stoker.cli.client.refusals import Answer
from stoker.cli.client.stack_client import StackClient
from stoker.cli.commands.completion import stack_names
from stoker.cli.framework import chosen_of, format_option, with_service
from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.terminal.formats import RECORD_FORMATS, ROW_FORMATS, Row, show_record, show_rows

COLUMNS = ("started_at", "action", "status", "duration", "user_name", "reason", "id")
MORE = (
    "created_at",
    "finished_at",
    "request_id",
    "user_id",
    "engine",
    "observe",
    "parent_operation",
    "reason_code",
    "stack_id",
)
SPARE = ("id", "user_name", "duration")
"""Columns that a narrow terminal leaves out, the first one first."""
ONLY_OF_ONE = "plan"


@click.command("history")
@click.argument("name", shell_complete=stack_names)
@click.argument("operation", required=False)
@format_option(ROW_FORMATS)
@click.option(
    "-c", "--column", "chosen", multiple=True, type=click.Choice([*COLUMNS, *MORE, ONLY_OF_ONE]), metavar="NAME",
    help="Column to show; repeatable.",
)  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), help="Show only this many operations, the newest ones.")
@with_service
def history(
    service: StackClient, name: str, operation: str | None, form: str, chosen: tuple[str, ...], limit: int | None
) -> None:
    """List the operations on the stack NAME, newest first; or show one OPERATION with its plan.

    \b
    Examples:
      stoker stack history web
      stoker stack history web --limit 1 -f value -c id
      stoker stack history web 0f9e1f0c-7b7e-4e55-8a86-9d8f6f0d9b1e -f yaml
    """
    stack = service.stack(name)
    if operation is not None:
        _show(stack.name, stack.operation(operation), form, chosen)
        return
    if ONLY_OF_ONE in chosen:
        raise CommandFailed(
            "The column plan is available for a single operation only: add its ID after the name of the stack."
        )
    rows: list[Row] = []
    for entry in stack.operations():
        if limit is not None and len(rows) == limit:
            break
        rows.append(_readable(entry) if form == "table" else entry)
    show_rows(rows, chosen or COLUMNS, form, () if chosen else SPARE)


def _show(name: str, entry: Answer, form: str, chosen: tuple[str, ...]) -> None:
    """Show one operation; in the format table, followed by its plan."""
    assert form in RECORD_FORMATS
    if chosen:
        show_record(chosen_of(entry, chosen), form)
    elif form != "table":
        show_record(entry, form)
    else:
        show_record({key: value for key, value in _readable(entry).items() if key != "plan"}, form)
        if entry["plan"] is not None:
            from stoker.cli.views.plans import show_plan

            click.echo()
            show_plan(name, entry["plan"])


def _readable(entry: Answer) -> Answer:
    """Return an operation with a readable duration, in tenths of seconds."""
    duration = entry["duration"]
    return {**entry, "duration": None if duration is None else f"{duration:.1f} s"}
