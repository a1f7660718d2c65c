"""Requests about what changes of stacks need: approvals, windows and policies; about the changes that wait, and about
what policies have said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NotRequired, TypedDict

from stoker.contract.request import Reference, Request
from stoker.contract.views import JSONObject


class RequirementView(TypedDict):
    """That a number of people with a role approve; without a role, of any that may approve."""

    role: str | None
    number: int


class ApprovalView(TypedDict):
    """A review of a request; `verdict` is APPROVED or REJECTED."""

    user_id: str
    user_name: str | None
    verdict: str
    comment: str
    created_at: float


class EmergencyView(TypedDict):
    """Who has used break-glass, when, and why."""

    user_id: str
    user_name: str | None
    reason: str
    created_at: float


class ChangeRequestView(TypedDict):
    """A change that was refused until it is approved.

    `status` is WAITING, APPROVED, REJECTED, USED, EXPIRED, or OUTDATED if the stack has changed since. `requires` is
    all that it needs, `lacks` what is left of that. `opens_at` is when changes of the stack are allowed; None if no
    time is found. `waits_for_caller` says whether the caller's approval is needed.
    """

    id: str
    project_id: str
    stack_id: str | None
    stack_name: str
    action: str
    plan_digest: str
    status: str
    user_id: str | None
    user_name: str | None
    created_at: float
    expires_at: float
    opens_at: float | None
    requires: Sequence[RequirementView]
    lacks: Sequence[RequirementView]
    approvals: Sequence[ApprovalView]
    emergency: EmergencyView | None
    operation: str | None
    waits_for_caller: bool


class ChangeRequestDetails(ChangeRequestView):
    """A request with its plan as a preview has it; None for an action that has none, such as a suspension."""

    plan: JSONObject | None


class ControlView(TypedDict):
    """What changes need. `chosen` is what is set here, None for nothing; the rest includes all others' settings.

    `webhook_key`, which only the answer to a change has, verifies the signatures of requests to webhooks named here.
    """

    chosen: JSONObject | None
    approvals: Sequence[RequirementView]
    automatic: str
    valid_hours: int
    open: bool
    opens_at: float | None
    webhook_key: NotRequired[str]


@dataclass(frozen=True, kw_only=True)
class ListChangeRequests(Request[Sequence[ChangeRequestView]]):
    """List the requests of the caller's project, newest first; those with a status, and of a plan, if given."""

    method = "change_request_list"
    status: Sequence[str] = ()
    plan_digest: str | None = None


@dataclass(frozen=True, kw_only=True)
class OfChangeRequest(Request[ChangeRequestDetails]):
    """A request about a change request of the caller's project."""

    request_id: str


@dataclass(frozen=True, kw_only=True)
class ShowChangeRequest(OfChangeRequest):
    """Show a change request with its plan."""

    method = "change_request_show"


@dataclass(frozen=True, kw_only=True)
class ReviewChangeRequest(OfChangeRequest):
    """Approve or reject a change request; replaces an earlier review by the caller."""

    method = "change_request_judge"  # as engines of the former release know it
    verdict: str
    comment: str = ""


@dataclass(frozen=True, kw_only=True)
class BreakGlass(OfChangeRequest):
    """Allow a change in an emergency, without approvals and outside of windows."""

    method = "change_request_break_glass"
    reason: str


@dataclass(frozen=True, kw_only=True)
class ShowControl(Request[ControlView]):
    """Show what changes of a stack need, or without `ref`, of all stacks of the project."""

    method = "change_control_show"
    ref: Reference | None = None


@dataclass(frozen=True, kw_only=True)
class ChangeControl(Request[ControlView]):
    """Set what changes of a stack need, or without `ref`, of all stacks of the project; None for nothing."""

    method = "change_control_change"
    ref: Reference | None = None
    control: Mapping[str, Any] | None = None


class PolicyView(TypedDict):
    """A policy; `scope` is resource or plan, `source` operator, project or stack."""

    name: str
    source: str
    verdict: str
    scope: str
    message: str


class PoliciesView(TypedDict):
    """The policies that apply, in the order of evaluation; `chosen` are those that are set here, as YAML, or None.

    `webhook_key`, which only the answer to a change has, verifies the signatures of requests to webhooks named here.
    """

    chosen: str | None
    policies: Sequence[PolicyView]
    webhook_key: NotRequired[str]


@dataclass(frozen=True, kw_only=True)
class ShowPlanPolicies(Request[PoliciesView]):
    """Show the policies for the plans of a stack, or without `ref`, of all stacks of the project."""

    method = "plan_policies_show"
    ref: Reference | None = None


@dataclass(frozen=True, kw_only=True)
class ChangePlanPolicies(Request[PoliciesView]):
    """Set the policies, as YAML, for the plans of a stack, or without `ref`, of all stacks of the project; None for
    none.
    """

    method = "plan_policies_change"
    ref: Reference | None = None
    policies: str | None = None


class Outcome(StrEnum):
    """The result of a policy for a step of a plan, or for the plan as a whole."""

    SATISFIED = "satisfied"
    APPROVED = "approved"
    """It requires an approval, which the plan has."""
    OBJECTED = "objected"
    NOT_EVALUATED = "not-evaluated"
    """It could not be evaluated."""
    DEFERRED = "deferred"
    """It depends on values that are known later, and is evaluated again right before the step."""


class PolicyResultView(TypedDict):
    """The result of a policy. `path`, `type` and `kind` are those of a step; empty path and no type for the plan.

    `source` is operator, project or stack, `verdict` deny, require_approval or warn. `operation_id` or `change_set_id`
    is what was planned; `time` is in seconds since the epoch.
    """

    id: str
    project_id: str
    stack_id: str
    stack_name: str
    action: str
    operation_id: str | None
    change_set_id: str | None
    change_set_name: str | None
    policy: str
    source: str
    verdict: str
    outcome: str
    path: str
    type: str | None
    kind: str | None
    message: str
    hint: str
    time: float


class PolicyResultPage(TypedDict):
    """The results of some plans, newest first; `marker` is that of the next page, None for the last one."""

    results: Sequence[PolicyResultView]
    marker: str | None


@dataclass(frozen=True, kw_only=True)
class ListPolicyResults(Request[PolicyResultPage]):
    """List the results of policies for all plans of the project; of a stack; or of a change set, by name, ID or ARN."""

    method = "policy_result_list"
    stack: str | None = None
    change_set: str | None = None
    marker: str | None = None


@dataclass(frozen=True, kw_only=True)
class ShowPolicyResult(Request[PolicyResultView]):
    """Show a result by its ID."""

    method = "policy_result_show"
    result_id: str
