"""Requests about the policies on plans of a project or a stack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from stoker.contract.request import Reference, Request


class PolicyView(TypedDict):
    """A policy; `scope` is resource or plan, `source` operator, project or stack."""

    name: str
    source: str
    verdict: str
    scope: str
    message: str


class PoliciesView(TypedDict):
    """The policies that apply, in the order of evaluation; `chosen` are those that are set here, as YAML, or None."""

    chosen: str | None
    policies: Sequence[PolicyView]


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
