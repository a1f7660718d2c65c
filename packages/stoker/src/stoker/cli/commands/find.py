"""`stoker find`: which stack and resource have an object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from stoker.cli.client.refusals import Answer
from stoker.cli.client.stack_client import StackClient
from stoker.cli.framework import listing, with_service
from stoker.cli.terminal.messages import say

WORDS = ("id", "name", "address", "type")
"""What can be looked for alone, as KEY=VALUE."""


@listing(
    "find", "stack_name", "path", "resource_type", "resource_status", "physical_resource_id",
    more=("owns", "project", "resource_name", "stack_id", "id"),
    spare=("resource_status", "resource_type"),
    good=bool,
)  # fmt: skip
@click.argument("search_terms", metavar="TERM...", nargs=-1, required=True)
@click.option("--all-projects", is_flag=True, help="Search the stacks of all projects; for administrators.")
@with_service
def find(service: StackClient, search_terms: tuple[str, ...], all_projects: bool) -> Iterator[Answer]:
    """Find the stack and resource that have an object, by its ID, name or address.

    TERM is the ID or the name of an object, an IP address, or the name of a resource. With id=, name= or address= in
    front, it is only that. type=TYPE narrows the search, or lists all resources of a type. All stacks of the project
    are searched, with their nested stacks; no service is asked.

    The path is that of plans; `owns` is false if the resource only refers to the object. Names and addresses are those
    that the service showed at the resource's last change or check.

    Exit status: 0, or 1 if nothing was found.

    \b
    Examples:
      stoker find 172.24.4.12
      stoker find 5e1a4a52-0b1f-4f0c-9a58-6f3f6d2b9f0e -f json
      stoker find name=web type=OS::Nova::Server
    """
    query: dict[str, Any] = _query(search_terms) | ({"global_tenant": "true"} if all_projects else {})
    unsearchable = most = 0
    for page in service.found(query):
        unsearchable, most = page["unsearchable"], page["most_counted"]
        yield from page["resources"]
    if unsearchable:
        number = f"{unsearchable} or more" if unsearchable >= most else str(unsearchable)
        say(
            f"Names and addresses of objects are unknown until the next change or check (`stoker stack check NAME`) of "
            f"their resources: {number}. Those are found only by the names, IDs and types of the resources.",
            err=True,
        )


def _query(search_terms: tuple[str, ...]) -> dict[str, str]:
    """Return the parameters of the request. Raises UsageError for two of one kind."""
    query: dict[str, str] = {}
    for text in search_terms:
        key, separator, value = text.partition("=")
        name, looked_for = (key, value) if separator and key in WORDS else ("text", text)
        if not looked_for:
            raise click.UsageError(f"{text!r} has no value.")
        if name in query:
            raise click.UsageError(f"{text!r}: only one of each can be looked for.")
        query[name] = looked_for
    return query
