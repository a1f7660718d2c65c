"""`stoker orphans`: objects that Stoker has made and that belong to no stack any more."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from stoker.authoring.orphan_words import orphan_reason
from stoker.cli.client.stack_client import StackClient
from stoker.cli.framework import format_option, with_service, yes_option
from stoker.cli.terminal.formats import ROW_FORMATS, show_rows
from stoker.cli.terminal.messages import say

COLUMNS = ("status", "type", "physical_id", "name", "resource", "stack_name", "reason")


@click.command("orphans")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--remove", is_flag=True, help="Delete the objects, after showing the plan.")
@click.option(
    "--import", "out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Write a template of the objects, and an environment that imports them, to DIR.",
)  # fmt: skip
@yes_option
@format_option(ROW_FORMATS)
@with_service
def orphans(service: StackClient, ids: tuple[str, ...], remove: bool, out: Path | None, yes: bool, form: str) -> None:
    """Find objects that Stoker has made and that belong to no stack any more.

    They have a name that Stoker has chosen, and the record of the project confirms it: objects that a deletion has left
    behind or retained, that `stoker forget` has released, or that a service has created late for an engine that died.
    Each collection of the project is listed once; nothing is changed.

    What is not known is listed as unknown. Objects with a name from a template, and those without any, are not found.

    With --remove, objects without an owner are deleted as their types delete them: all, or those with the IDs. They are
    imported to a stack of their own, without a change of any, and the stack is deleted: so nobody else can own them
    meanwhile, and the plan marks what loses data. Without confirmation, the stack goes and the objects stay.

    Exit status: 0 if there is nothing, 1 if something is unknown and nothing was found, 2 if something was found. With
    --remove or --import: 0 if all that was asked for was done, otherwise 1.

    \b
    Examples:
      stoker orphans
      stoker orphans -f json
      stoker orphans --remove
      stoker orphans --remove d62f1e0e-6ab4-4d32-9370-03e8233cd1cc --yes
      stoker orphans --import leftovers
    """
    if remove or out is not None:
        _change(service, ids, remove, out, yes, form)
        return
    if ids or yes:
        raise click.UsageError("IDs and --yes are for --remove and --import.")
    orphans = [{**orphan, "reason": orphan_reason(orphan)} for orphan in service.orphans()]
    if orphans or form != "table":
        show_rows(orphans, COLUMNS, form, ("name", "type"))
    else:
        say("No orphans: each object with a name that Stoker has chosen belongs to a resource.")
    if any(orphan["status"] == "orphaned" for orphan in orphans):
        sys.exit(2)
    if orphans:
        sys.exit(1)


def _change(service: StackClient, ids: tuple[str, ...], remove: bool, out: Path | None, yes: bool, form: str) -> None:
    from stoker.cli.commands.orphan_changes import import_orphans, remove_orphans

    if form != "table":
        raise click.UsageError("--remove and --import have no other format than the table.")
    if out is None:
        done = remove_orphans(service, ids, yes)
    elif remove or yes:
        raise click.UsageError("--import changes nothing that --remove or --yes could be for.")
    else:
        done = import_orphans(service, ids, out)
    if not done:
        sys.exit(1)
