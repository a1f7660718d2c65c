"""What to say after a failed action: the cause, its place in the template, and the commands that continue."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from stoker.cli.client.sources import Sources
from stoker.cli.client.stack_client import Stack
from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.terminal.places import short
from stoker.cli.views.progress import latest_action

_FAILED = "_FAILED"


def failure(stack: Stack, sources: Sources | None = None) -> CommandFailed:
    """Return the error about an action that has failed, or was rolled back.

    `sources` has the template, if this command has sent one. A rollback that failed has a cause besides that of the
    action before it; causes are left out where the tree of the action shows them on the same screen.
    """
    failed = [event for event in latest_action(stack, 0)[1] if event["resource_status"].endswith(_FAILED)]
    own = [event for event in failed if event["physical_resource_id"] == stack.id]
    reasons = [event["resource_status_reason"] for event in own]
    causes = list(dict.fromkeys(filter(None, reasons))) or [stack.facts["stack_status_reason"] or stack.state]
    lines = [] if sys.stderr.isatty() and own and all(map(stack.shown, own)) else causes
    names = [event["resource_name"] for event in failed if event["physical_resource_id"] != stack.id]
    if sources is not None and names and (place := _place(sources, names[0])):
        lines.append(f"{names[0]} is declared at {place}.")
    return CommandFailed("\n".join([*lines, "To continue:", *(f"  {line}" for line in _commands(stack))]))


def _place(sources: Sources, name: str) -> str | None:
    """Return the place of a resource's declaration in the template, if there is one."""
    from stoker.base.errors import StokerError
    from stoker.template.document import Document

    try:
        document = Document.parse(sources.text(sources.template_url), source=short(sources.template_url))
    except StokerError:
        return None
    for section in ("resources", "Resources"):
        if name in (document.data.get(section) or {}) and (position := document.locate((section, name))):
            return f"{document.source}:{position.line}:{position.column}"
    return None


def _commands(stack: Stack) -> Iterator[str]:
    """Yield the commands that are possible in the stack's state, each with what it does."""
    name = stack.name
    possible = {
        f"stoker logs {name} --failed": "show the failures",
        f"stoker deploy {name} -t TEMPLATE": "deploy a corrected template",
    }
    action, _, status = stack.state.partition("_")
    if status == "FAILED":
        possible[f"stoker stack retry {name}"] = "retry the same, once the cause is removed"
    if stack.state == "ROLLBACK_FAILED":
        possible[f"stoker stack retry {name} --skip RESOURCE"] = "continue without a resource that cannot be restored"
    if status == "FAILED" and action in ("UPDATE", "RESTORE"):  # there was a definition before
        possible[f"stoker stack rollback {name}"] = "return to the last good definition"
    if action in ("CREATE", "ADOPT", "ROLLBACK", "DELETE"):
        possible[f"stoker delete {name}"] = "delete the stack"
    if action == "DELETE":
        possible[f"stoker delete {name} --force"] = "delete it, and leave behind what cannot be deleted"
        possible = {command: why for command, why in possible.items() if not command.startswith("stoker deploy")}
    width = max(map(len, possible))
    return (f"{command:{width}}  # {why}" for command, why in possible.items())
