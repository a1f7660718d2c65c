"""Requests about events, and the feed of events for API processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NotRequired, TypedDict

from stoker.contract.approvals import PolicyResultView
from stoker.contract.request import ADDED, OfStack, Request
from stoker.contract.views import EventView, FailureView, JSONObject


class EventCode(StrEnum):
    """What an event says that changes no state: it repeats the action and the status that the resource has."""

    DRIFT_FOUND = "drift-found"
    """A look without a request has found that the object differs, or does not exist."""
    DRIFT_ENDED = "drift-ended"
    """A later look has found that it does not differ any more."""
    DRIFT_ACCEPTED = "drift-accepted"
    """A user has accepted the values of the object."""


@dataclass(frozen=True, kw_only=True)
class ListEvents(OfStack[Sequence[EventView]]):
    """List events of the stack, of one of its resources, or of the tree of stacks below it; oldest first.

    With `operation_id`, those that were recorded while this operation of the stack was in progress.
    """

    method = "event_list"
    resource_name: str | None = None
    filters: Mapping[str, Sequence[str]] | None = None
    limit: int | None = None
    marker: str | None = None
    sort_keys: Sequence[str] | None = None
    sort_dir: str | None = None
    nested_depth: int = 0
    operation_id: str | None = field(default=None, metadata=ADDED)


@dataclass(frozen=True, kw_only=True)
class ShowEvent(OfStack[EventView]):
    """Show an event with the properties that the resource had."""

    method = "event_show"
    resource_name: str
    event_id: str


class DatedEvent(EventView):
    """`after_change` says whether the stack had been updated before.

    `operation_id` is the operation in which it was recorded, and `client_request_token` the token of its request.
    `policy_results` is what policies have said of the plan of the operation that begins with the event.
    """

    after_change: bool
    operation_id: NotRequired[str | None]
    client_request_token: NotRequired[str | None]
    policy_results: NotRequired[Sequence[PolicyResultView]]


@dataclass(frozen=True, kw_only=True)
class ListEventsInDetail(OfStack[Sequence[DatedEvent]]):
    """List events of a stack with the properties that the resources had, newest first."""

    method = "event_page"
    limit: int
    marker: str | None = None


class NewEvent(EventView):
    """`above` has the IDs of the stacks that contain the event's stack."""

    above: Sequence[str]


class NewEvents(TypedDict):
    """`last` is the place of the last event, `more` whether there are more than these."""

    events: Sequence[NewEvent]
    last: int
    more: bool


@dataclass(frozen=True, kw_only=True)
class GetNewEvents(Request[NewEvents]):
    """Get events after the place `after` (None: only that place), of the stacks with these IDs.

    The value for each ID is the depth down to which events of nested stacks are included.
    """

    method = "event_news"
    watched: Mapping[str, int]
    after: int | None = None


class OperationView(TypedDict):
    """An operation in the history of a stack; `duration` is in seconds."""

    id: str
    stack_id: str
    action: str
    status: str
    reason: str
    reason_code: NotRequired[str | None]
    failure: NotRequired[FailureView | None]
    request_id: str | None
    user_id: str | None
    user_name: str | None
    created_at: float
    started_at: float | None
    finished_at: float | None
    duration: float | None
    observe: bool
    parent_operation: str | None
    engine: str | None


class OperationDetails(OperationView):
    """An operation with its plan."""

    plan: JSONObject | None


@dataclass(frozen=True, kw_only=True)
class ListOperations(OfStack[Sequence[OperationView]]):
    """List what was done to the stack, newest first; `marker` is the ID of the last operation of the previous page."""

    method = "operation_list"
    limit: int | None = None
    marker: str | None = None


@dataclass(frozen=True, kw_only=True)
class ShowOperation(OfStack[OperationDetails]):
    """Show an operation with its plan."""

    method = "operation_show"
    operation_id: str
