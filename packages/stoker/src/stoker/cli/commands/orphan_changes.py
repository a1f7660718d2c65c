"""What `stoker orphans` does with the objects that it finds: their removal, and files that import them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from stoker.cli.client.refusals import Answer
from stoker.cli.client.stack_client import Stack, StackClient
from stoker.cli.commands.deployment import act_as_planned, begin, deletion
from stoker.cli.commands.generate import refuse_existing, report_generated, write_generated
from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.terminal.messages import say
from stoker.cli.views.failure import failure
from stoker.cli.views.follow import succeeded

_UNUSED = "unused"
"""The value of parameters that no service shows: the objects are deleted without a use of it."""


def import_orphans(service: StackClient, ids: Sequence[str], out: Path) -> bool:
    """Write a template and an environment that import the orphans with the IDs, or all; whether it has all of them.

    Raises CommandFailed for IDs of no orphans, and for files that exist already.
    """
    refuse_existing(out)
    orphans = _chosen(service, ids)
    answer = _generated(service, orphans)
    if answer["resources"]:
        write_generated(out, answer)
        report_generated(answer, out)
    return _report_left_out(orphans, answer)


def remove_orphans(service: StackClient, ids: Sequence[str], yes: bool) -> bool:
    """Delete the orphans with the IDs, or all, after showing the plan and asking; whether it was all of them.

    Raises CommandFailed for IDs of no orphans, and if the deletion fails.
    """
    orphans = _chosen(service, ids)
    answer = _generated(service, orphans)
    complete = _report_left_out(orphans, answer)
    if not answer["resources"]:
        return complete
    name = f"orphans-{uuid.uuid4().hex[:8]}"
    say(f"Importing them to the stack {name}, which changes none of them:")
    with _stack_of(service, name, answer) as stack:
        question = "Delete these objects?"
        act_as_planned(replace(deletion(stack), question=question), yes, dry_run=False)
    return complete


def _chosen(service: StackClient, ids: Sequence[str]) -> list[Answer]:
    """Return the orphans with the IDs, or all, as they are now. Raises CommandFailed for other IDs."""
    orphans = {orphan["physical_id"]: orphan for orphan in service.orphans() if orphan["status"] == "orphaned"}
    if others := [identifier for identifier in ids if identifier not in orphans]:
        raise CommandFailed(f"Not known to be without an owner: {', '.join(others)}. `stoker orphans` lists what is.")
    chosen = [orphans[identifier] for identifier in dict.fromkeys(ids)] if ids else list(orphans.values())
    if not chosen:
        say("No orphans: nothing to do.")
    return chosen


def _generated(service: StackClient, orphans: Sequence[Answer]) -> Answer:
    """Return a template that imports those of the orphans whose type can be imported."""
    types = service.generated_types() if orphans else frozenset()
    selected = [orphan for orphan in orphans if orphan["type"] in types]
    if not selected:
        return {"resources": [], "left_out": [], "unread": []}
    query = {
        "type": sorted({orphan["type"] for orphan in selected}),
        "id": [orphan["physical_id"] for orphan in selected],
    }
    return service.generated(query)


def _report_left_out(orphans: Sequence[Answer], answer: Answer) -> bool:
    """Say which orphans are in no template, and why; return whether there are none of them."""
    included = {resource["physical_resource_id"] for resource in answer["resources"]}
    reasons = {left_out["physical_resource_id"]: left_out["reason"] for left_out in answer["left_out"]}
    unread = {name: entry["reason"] for entry in answer["unread"] for name in entry["resource_types"]}
    missing = [orphan for orphan in orphans if orphan["physical_id"] not in included]
    for orphan in missing:
        otherwise = unread.get(orphan["type"], f"objects of the type {orphan['type']} cannot be imported")
        reason = reasons.get(orphan["physical_id"], otherwise)
        say(f"Left alone: {orphan['type']} {orphan['name']} ({orphan['physical_id']}): {reason}.", err=True)
    return not missing


@contextmanager
def _stack_of(service: StackClient, name: str, answer: Answer) -> Iterator[Stack]:
    """Import the objects of a template to a stack, which leaves them behind if it still has them all at the end.

    Raises CommandFailed if they cannot be imported.
    """
    template = answer["template"]
    resources = {resource_name: dict(body) for resource_name, body in template["resources"].items()}
    for body in resources.values():
        body.pop("deletion_policy", None)
    environment = dict(answer["environment"])
    unused = dict.fromkeys(answer["parameters_without_value"], _UNUSED)
    environment["parameters"] = {**environment.get("parameters", {}), **unused}
    body = {"template": {**template, "resources": resources}, "environment": environment, "disable_rollback": True}
    try:
        stack = begin(service, name, None, body, len(resources))
        if not succeeded(stack):
            raise failure(stack)
        yield stack
    finally:
        _leave(service, name, list(resources))


def _leave(service: StackClient, name: str, resources: Sequence[str]) -> None:
    """Delete a stack of which nothing has been deleted, without its objects."""
    stack = service.existing(name)
    if stack is None:
        return
    if stack.state.startswith("CREATE_"):
        stack.delete(options={"retain": list(resources)})
        say(f"The stack {name} is deleted without its objects, which have no owner again.")
    elif stack.state == "DELETE_FAILED":
        say(f"`stoker delete {name}` tries again; with --force, what cannot be deleted is left behind.", err=True)
