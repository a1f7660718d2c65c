"""The resources of a stack and of its nested stacks as rows of a tree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stoker.console.gateway import Answer


@dataclass(frozen=True, slots=True)
class Row:
    """A resource; `level` counts from 0, and `key` identifies the row on the page.

    `nested` is the ID of its nested stack, `inside` the number of resources in that, with those below.
    """

    key: str
    level: int
    resource: Answer
    stack_name: str
    stack_id: str
    nested: str
    inside: int
    parent: str


def tree(resources: Sequence[Answer], stack_id: str) -> list[Row]:
    """Return the rows of a stack's resources, each followed by the rows of its nested stack."""
    by_stack: dict[str, list[Answer]] = defaultdict(list)
    for resource in resources:
        by_stack[linked(resource, "stack")[1]].append(resource)
    return list(_rows(by_stack, stack_id, 0, ""))


def _rows(by_stack: dict[str, list[Answer]], stack_id: str, level: int, parent: str) -> Iterator[Row]:
    for resource in by_stack.pop(stack_id, ()):
        stack_name, _ = linked(resource, "stack")
        _, nested = linked(resource, "nested")
        key = row_key(stack_id, resource["resource_name"])
        inside = list(_rows(by_stack, nested, level + 1, key)) if nested else []
        yield Row(key, level, resource, stack_name, stack_id, nested, len(inside), parent)
        yield from inside


def row_key(stack_id: str, resource_name: str) -> str:
    """Return the key of the row of a resource; scripts make the same of an event."""
    return f"{stack_id}/{resource_name}"


def linked(thing: Answer, relation: str) -> tuple[str, str]:
    """Return the name and the ID of the stack that a link refers to; empty strings if there is no such link."""
    for link in thing["links"]:
        if link["rel"] == relation:
            *_, name, identifier = link["href"].split("/")
            return name, identifier
    return "", ""
