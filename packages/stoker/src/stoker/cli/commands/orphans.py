"""`stoker orphans`: objects that Stoker has made and that belong to no stack any more."""

from __future__ import annotations

import sys

import click

from stoker.cli.client.service import Answer, Service
from stoker.cli.framework import format_option, with_service
from stoker.cli.terminal.formats import ROW_FORMATS, show_rows
from stoker.cli.terminal.messages import say

COLUMNS = ("status", "type", "physical_id", "name", "resource", "stack_name", "reason")

_REASONS = {
    "left": "its resource, or its stack, does not exist any more, or has left it",
    "second": "its resource has another object",
    "in-progress": "an operation is in progress that may get it; try again afterwards",
    "unproven": "its name has the form of those that Stoker chooses, but no record of this project names it",
    "unreadable": "the service did not list these objects",
}


@click.command("orphans")
@format_option(ROW_FORMATS)
@with_service
def orphans(service: Service, form: str) -> None:
    """Find objects that Stoker has made and that belong to no stack any more.

    They have a name that Stoker has chosen, and the record of the project confirms it: objects that a deletion has left
    behind or retained, that `stoker forget` has released, or that a service has created late for an engine that died.
    Each collection of the project is listed once; nothing is changed.

    What is not known is listed as unknown. Objects with a name from a template, and those without any, are not found.

    Exit status: 0 if there is nothing, 1 if something is unknown and nothing was found, 2 if something was found.

    \b
    Examples:
      stoker orphans
      stoker orphans -f json
    """
    found = [{**each, "reason": _reason(each)} for each in service.orphans()]
    if found or form != "table":
        show_rows(found, COLUMNS, form, ("name", "type"))
    else:
        say("No orphans: each object with a name that Stoker has chosen belongs to a resource.")
    if any(each["status"] == "orphaned" for each in found):
        sys.exit(2)
    if found:
        sys.exit(1)


def _reason(orphan: Answer) -> str:
    text = _REASONS[orphan["why"]]
    return f"{text}: {orphan['detail']}" if orphan["detail"] else text
