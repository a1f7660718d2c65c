"""Requests about what policies have said of plans: of operations and of change sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypedDict

from stoker.contract.request import Request


class Outcome(StrEnum):
    """What a policy has said about a step of a plan, or about the plan as a whole."""

    SATISFIED = "satisfied"
    APPROVED = "approved"
    """It requires an approval, which the plan has."""
    OBJECTED = "objected"
    NOT_EVALUATED = "not-evaluated"
    """It could not be evaluated."""
    DEFERRED = "deferred"
    """It depends on values that are known later, and is evaluated again right before the step."""


class PolicyResultView(TypedDict):
    """What a policy has said. `path`, `type` and `kind` are those of a step; empty path and no type for the plan.

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
    """List what policies have said of all plans of the project; of a stack; or of a change set, by name, ID or ARN."""

    method = "policy_result_list"
    stack: str | None = None
    change_set: str | None = None
    marker: str | None = None


@dataclass(frozen=True, kw_only=True)
class ShowPolicyResult(Request[PolicyResultView]):
    """Show a result by its ID."""

    method = "policy_result_show"
    result_id: str
