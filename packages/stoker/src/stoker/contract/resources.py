"""Requests about the resources of a stack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from stoker.contract.request import Answer, OfStack, Request
from stoker.contract.views import DriftSummary, JSONObject, ResourceRow, ResourceView, StackLocation


class ResourceList(TypedDict):
    """Resources, and the place of each stack that they are in by its ID."""

    resources: Sequence[ResourceRow]
    stacks: Mapping[str, StackLocation]


@dataclass(frozen=True, kw_only=True)
class OfResource(OfStack[Answer]):
    """A request about the resource `name` of the stack `ref`."""

    name: str


@dataclass(frozen=True, kw_only=True)
class ListResources(OfStack[ResourceList]):
    """List the stack's resources, and those of nested stacks down to `nested_depth`."""

    method = "resource_list"
    filters: Mapping[str, Sequence[str]] | None = None
    nested_depth: int = 0
    with_detail: bool = False


@dataclass(frozen=True, kw_only=True)
class ShowResource(OfResource[ResourceView]):
    """Show a resource with its attributes, and those of `with_attr` beside the declared ones."""

    method = "resource_show"
    with_attr: Sequence[str] | None = None


@dataclass(frozen=True, kw_only=True)
class ShowResourceMetadata(OfResource[JSONObject]):
    """Show a resource's metadata."""

    method = "resource_metadata"


class DescribedResource(ResourceView):
    """`drift` is the result of the last detection, None if the resource was never checked; agents do not get it."""

    drift: NotRequired[DriftSummary | None]


@dataclass(frozen=True, kw_only=True)
class DescribeResource(OfResource[DescribedResource]):
    """Show a resource with its metadata, as recorded: no service is called."""

    method = "resource_describe"


@dataclass(frozen=True, kw_only=True)
class SignalResource(OfResource[None]):
    """Deliver a signal to a resource, by its name or, if that is unambiguous, its physical ID."""

    method = "resource_signal"
    details: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class MarkResourceUnhealthy(OfStack[None]):
    """Have the next update replace a resource, or revoke that."""

    method = "resource_mark_unhealthy"
    name: str
    mark_unhealthy: bool
    resource_status_reason: str | None = None


class StackId(TypedDict):
    """The ID of a stack."""

    id: str


@dataclass(frozen=True, kw_only=True)
class FindStackOfObject(Request[StackId]):
    """Find the project's stack that has a resource with this physical ID."""

    method = "stack_of_object"
    physical_id: str
