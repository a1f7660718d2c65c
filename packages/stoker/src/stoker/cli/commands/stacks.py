"""`stoker stack …`: commands that show stacks. Commands for actions are in `verbs`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import click

from stoker.cli.client.refusals import Answer
from stoker.cli.client.stack_client import NESTED, Stack, StackClient
from stoker.cli.commands.completion import resource_names, stack_names
from stoker.cli.commands.definitions import diff
from stoker.cli.commands.deploy import delete
from stoker.cli.commands.documents import DOCUMENTS
from stoker.cli.commands.history import history
from stoker.cli.commands.protection import PROTECTION
from stoker.cli.commands.verbs import VERBS
from stoker.cli.framework import Commands, listing, record, with_service
from stoker.contract.views import NO_REASON

Rows = Iterable[Answer]

_REASON = "resource_status_reason"


_operation_option = click.option(
    "--operation", metavar="ID", help="As of this operation, an ID that `stoker stack history` lists."
)


def _is_nested(resource: Mapping[str, object]) -> bool:
    return bool(resource.get("parent_resource"))


def _waits(resource: Mapping[str, Any]) -> bool:
    """Return whether a resource in progress says what it waits for."""
    return resource["resource_status"].endswith("_IN_PROGRESS") and resource[_REASON] not in ("", None, NO_REASON)


@listing(
    "list", "stack_name", "stack_status", "creation_time", "updated_time", "id",
    more=("stack_status_reason", "description", "tags", "stack_owner", "parent", "lock_reason"),
    spare=("updated_time", "creation_time"),
    shown=lambda rows: ("lock_reason",) if any(row["lock_reason"] for row in rows) else (),
)  # fmt: skip
@click.option("--deleted", is_flag=True, help="Include deleted stacks.")
@click.option("--nested", is_flag=True, help="Include nested stacks.")
@with_service
def list_stacks(service: StackClient, deleted: bool, nested: bool) -> Rows:
    """List the project's stacks.

    \b
    Examples:
      stoker stack list
      stoker stack list -f value -c stack_name
    """
    query = {"show_deleted": deleted, "show_nested": nested}
    stacks = service.stacks({name: "true" for name, is_set in query.items() if is_set})
    return ({**row, "lock_reason": (row.get("locked") or {}).get("reason")} for row in stacks)


@record("show")
@click.argument("name", shell_complete=stack_names)
@with_service
def show(service: StackClient, name: str) -> Answer:
    """Show a stack.

    \b
    Examples:
      stoker stack show web
      stoker stack show web -f value -c stack_status
    """
    return _without(service.stack_with_outputs(name).facts, "links", "capabilities", "notification_topics")


@listing(
    "resources", "resource_name", "resource_type", "resource_status", "physical_resource_id",
    more=("resource_status_reason", "parent_resource", "creation_time", "updated_time", "required_by"),
    spare=("resource_type",),
    shown=lambda rows: tuple(
        column
        for column, needed in (("parent_resource", any(map(_is_nested, rows))), (_REASON, any(map(_waits, rows))))
        if needed
    ),
)  # fmt: skip
@click.argument("name", shell_complete=stack_names)
@click.option("-n", "--nested-depth", type=click.IntRange(0, NESTED), default=0, help="Levels of nested stacks.")
@with_service
def resources(service: StackClient, name: str, nested_depth: int) -> Rows:
    """List a stack's resources.

    With nested stacks, the table also has the resource that each is inside. While resources wait, for example for the
    agent on a server, the table shows what they wait for.

    \b
    Examples:
      stoker stack resources web
      stoker stack resources web -n 5 -c resource_name -c resource_status_reason
    """
    return service.stack(name).resources(nested_depth)


@listing(
    "events", "event_time", "resource_name", "resource_status", "resource_status_reason",
    more=("physical_resource_id", "id"), endless="follow",
)  # fmt: skip
@click.argument("name", shell_complete=stack_names)
@click.option("-n", "--nested-depth", type=click.IntRange(0, NESTED), default=0, help="Levels of nested stacks.")
@click.option("--limit", type=click.IntRange(min=1), help="Show only this many events, the first ones.")
@click.option("--follow", is_flag=True, help="Wait for new events and show them, until the stack is deleted.")
@with_service
def events(service: StackClient, name: str, nested_depth: int, limit: int | None, follow: bool) -> Rows:
    """List the events of a stack, oldest first.

    \b
    Examples:
      stoker stack events web
      stoker stack events web -n 5 -f json
      stoker stack events web --follow -f json
    """
    stack = service.stack(name)
    return islice(_until_deleted(stack, nested_depth) if follow else stack.events(depth=nested_depth), limit)


def _until_deleted(stack: Stack, depth: int) -> Rows:
    """Yield events as they are recorded, until the stack is deleted."""
    for event in stack.watch(depth=depth):
        if event is not None:
            yield event
            if event["physical_resource_id"] == stack.id and event["resource_status"] == "DELETE_COMPLETE":
                return


@listing("outputs", "output_key", "output_value", "description", more=("output_error",), spare=("description",))
@click.argument("name", shell_complete=stack_names)
@with_service
def outputs(service: StackClient, name: str) -> Rows:
    """List a stack's outputs with their values.

    \b
    Examples:
      stoker stack outputs web
      stoker stack outputs web -f value -c output_value
    """
    return service.stack(name).outputs()


@record("template", form="yaml")
@click.argument("name", shell_complete=stack_names)
@_operation_option
@with_service
def template(service: StackClient, name: str, operation: str | None) -> Answer:
    """Print the template of a stack.

    \b
    Examples:
      stoker stack template web > web.yaml
      stoker stack template web --operation $OPERATION
    """
    return service.stack(name).template(operation)


@record("environment", form="yaml")
@click.argument("name", shell_complete=stack_names)
@_operation_option
@with_service
def environment(service: StackClient, name: str, operation: str | None) -> Answer:
    """Print the environment of a stack; hidden parameters are redacted.

    \b
    Examples:
      stoker stack environment web
    """
    return service.stack(name).environment(operation)


@record("files", form="yaml")
@click.argument("name", shell_complete=stack_names)
@_operation_option
@with_service
def files(service: StackClient, name: str, operation: str | None) -> Answer:
    """Print the files of a stack's template.

    \b
    Examples:
      stoker stack files web -f json
    """
    return service.stack(name).files(operation)


@record("resource")
@click.argument("name", shell_complete=stack_names)
@click.argument("resource", shell_complete=resource_names)
@with_service
def resource(service: StackClient, name: str, resource: str) -> Answer:
    """Show RESOURCE of the stack NAME with its attributes.

    \b
    Examples:
      stoker stack resource web server
      stoker stack resource web server -f json -c attributes
    """
    return _without(service.stack(name).resource(resource), "links", "logical_resource_id")


@record("metadata", form="yaml")
@click.argument("name", shell_complete=stack_names)
@click.argument("resource", shell_complete=resource_names)
@with_service
def metadata(service: StackClient, name: str, resource: str) -> Answer:
    """Print the metadata of RESOURCE of the stack NAME.

    \b
    Examples:
      stoker stack metadata web server
    """
    return service.stack(name).metadata(resource)


@listing(
    "failures", "parent_resource", "resource_name", "resource_type", "resource_status", "resource_status_reason",
    more=("physical_resource_id", "failure"), spare=("resource_type", "parent_resource"),
)  # fmt: skip
@click.argument("name", shell_complete=stack_names)
@with_service
def failures(service: StackClient, name: str) -> Rows:
    """List the resources that have failed, including nested stacks.

    \b
    Examples:
      stoker stack failures web
    """
    rows = service.stack(name).resources()
    return [row for row in rows if row["resource_status"].endswith("_FAILED")]


def _without(facts: Answer, *names: str) -> dict[str, object]:
    return {name: value for name, value in facts.items() if name not in names}


stack = Commands(
    "stack",
    commands=[
        list_stacks, show, resources, resource, metadata, failures, events, outputs, template, environment, files,
        history, diff, *VERBS, *PROTECTION, *DOCUMENTS, delete,
    ],
    help="Show stacks and run actions on them.",
)  # fmt: skip
