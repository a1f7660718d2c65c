"""Requests about the events of operations, with what checks of plans have found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from stoker.contract.approvals import PolicyResultView
from stoker.contract.events import DatedEvent
from stoker.contract.request import Request
from stoker.contract.stacks import OperationEntry
from stoker.contract.views import JSONObject


class DatedOperation(OperationEntry):
    """An operation with its status and times, in seconds since the epoch; `ended_at` is None until it has ended."""

    status: str
    reason: str
    created_at: float
    ended_at: float | None
    client_request_token: NotRequired[str | None]


class OperationEvent(TypedDict):
    """Something that happened in an operation.

    It has an `event`, or what a check of the plan has found (`finding`: `code`, `verdict`, `path`, `type` of the
    resource, `diagnostic`), or what a policy has said of it (`policy_result`), or none of these: then it is about the
    operation as a whole.
    """

    id: str
    operation: DatedOperation
    stack_id: str
    stack_name: str
    project_id: str
    time: float
    event: DatedEvent | None
    finding: JSONObject | None
    policy_result: NotRequired[PolicyResultView | None]


class OperationEventPage(TypedDict):
    """A page, newest first; `marker` is that of the next page, None for the last one."""

    events: Sequence[OperationEvent]
    marker: str | None


@dataclass(frozen=True, kw_only=True)
class ListOperationEvents(Request[OperationEventPage]):
    """List events of the operations of a stack, of one operation, or of the creation of a change set.

    With `failed`, only failures: of the stack, of resources, and of checks.
    """

    method = "operation_events"
    limit: int
    stack: str | None = None
    change_set: str | None = None
    operation_id: str | None = None
    failed: bool = False
    marker: str | None = None
