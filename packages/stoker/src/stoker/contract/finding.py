"""Requests that look for resources in all stacks of a project, or of all projects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from stoker.contract.request import Request


class FoundResource(TypedDict):
    """A resource that matches. `path` leads to it from the root of its tree, which `stack_id` and `stack_name` name;
    `nested_stack_id` and `nested_stack_name` are those of the stack that it is in, the same for a root.

    `owns` says whether its object is its own: false for one that it only refers to, null where that is not recorded.
    """

    id: str
    path: str
    name: str
    type: str
    action: str
    status: str
    physical_id: str | None
    owns: bool | None
    stack_id: str
    stack_name: str
    nested_stack_id: str
    nested_stack_name: str
    project_id: str


class FoundPage(TypedDict):
    """A page of resources. `next` is the marker of the next page; null if there is none.

    `unsearchable` counts the resources, up to `most_counted`, whose objects' names and addresses are not recorded yet,
    so that they can only be found by their own names, IDs and types.
    """

    resources: Sequence[FoundResource]
    next: str | None
    unsearchable: int
    most_counted: int


@dataclass(frozen=True, kw_only=True)
class FindResources(Request[FoundPage]):
    """Find resources by one word and, with it or alone, by the type.

    `text` is the ID or name of an object, an IP address, or the name of a resource; `id`, `name` and `address` are only
    that. `marker` is the ID of the last resource of the previous page.
    """

    method = "resource_find"
    text: str | None = None
    id: str | None = None
    name: str | None = None
    address: str | None = None
    type: str | None = None
    global_tenant: bool = False
    limit: int | None = None
    marker: str | None = None


class OrphanView(TypedDict):
    """An object without an owner (`status` ORPHANED), or of which that is not known (UNKNOWN), for the reason `why`.

    `physical_id` and `name` are null for all objects of a type that could not be read, for the reason `detail`. The
    resource and the stack are those that had the object last, null if they are not known.
    """

    status: str
    why: str
    type: str
    physical_id: str | None
    name: str | None
    resource: str | None
    stack_name: str | None
    detail: str | None


@dataclass(frozen=True, kw_only=True)
class FindOrphans(Request[Sequence[OrphanView]]):
    """Find the project's objects that Stoker has made and no resource has."""

    method = "orphan_find"
