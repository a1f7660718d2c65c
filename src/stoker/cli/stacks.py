"""`stoker stack …`: looking at stacks."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

import click

from stoker.cli.deploy import delete
from stoker.cli.framework import Commands, listing, record, with_service
from stoker.cli.service import NESTED, Answer, Service

Rows = Iterable[Answer]


@listing(
    "list", "stack_name", "stack_status", "creation_time", "updated_time", "id",
    more=("stack_status_reason", "description", "tags", "stack_owner", "parent"),
)  # fmt: skip
@click.option("--deleted", is_flag=True, help="Deleted stacks too.")
@click.option("--nested", is_flag=True, help="Nested stacks too.")
@with_service
def list_stacks(service: Service, deleted: bool, nested: bool) -> Rows:
    """List the project's stacks.

    \b
    Examples:
      stoker stack list
      stoker stack list -f value -c stack_name
    """
    query = {"show_deleted": deleted, "show_nested": nested}
    return service.stacks({name: "true" for name, wanted in query.items() if wanted})


@record("show")
@click.argument("name")
@with_service
def show(service: Service, name: str) -> Answer:
    """Show a stack.

    \b
    Examples:
      stoker stack show web
      stoker stack show web -f value -c stack_status
    """
    return _without(service.stack(name).facts, "links", "capabilities", "notification_topics")


@listing(
    "resources", "resource_name", "resource_type", "resource_status", "physical_resource_id",
    more=("resource_status_reason", "parent_resource", "creation_time", "updated_time", "required_by"),
)  # fmt: skip
@click.argument("name")
@click.option("-n", "--nested-depth", type=click.IntRange(0, NESTED), default=0, help="Levels of nested stacks.")
@with_service
def resources(service: Service, name: str, nested_depth: int) -> Rows:
    """List a stack's resources.

    \b
    Examples:
      stoker stack resources web
      stoker stack resources web -n 5 -c resource_name -c resource_status_reason
    """
    return service.stack(name, outputs=False).resources(nested_depth)


@listing(
    "events", "event_time", "resource_name", "resource_status", "resource_status_reason",
    more=("physical_resource_id", "id"),
)  # fmt: skip
@click.argument("name")
@click.option("-n", "--nested-depth", type=click.IntRange(0, NESTED), default=0, help="Levels of nested stacks.")
@click.option("--limit", type=click.IntRange(min=1), help="Show the first ones only.")
@with_service
def events(service: Service, name: str, nested_depth: int, limit: int | None) -> Rows:
    """List what happened to a stack, oldest first.

    \b
    Examples:
      stoker stack events web
      stoker stack events web -n 5 -f json
    """
    return islice(service.stack(name, outputs=False).events(depth=nested_depth), limit)


@listing("outputs", "output_key", "output_value", "description", more=("output_error",))
@click.argument("name")
@with_service
def outputs(service: Service, name: str) -> Rows:
    """List a stack's outputs with their values.

    \b
    Examples:
      stoker stack outputs web
      stoker stack outputs web -f value -c output_value
    """
    return service.stack(name, outputs=False).outputs()


@record("template", form="yaml")
@click.argument("name")
@with_service
def template(service: Service, name: str) -> Answer:
    """Print the template that a stack was made from.

    \b
    Examples:
      stoker stack template web > web.yaml
    """
    return service.stack(name, outputs=False).template()


def _without(facts: Answer, *names: str) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name not in names}


stack = Commands(
    "stack",
    commands=[list_stacks, show, resources, events, outputs, template, delete],
    help="Look at stacks.",
)
