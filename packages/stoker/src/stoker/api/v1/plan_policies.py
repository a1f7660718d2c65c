"""Handlers of the policies on plans of projects and stacks."""

from __future__ import annotations

from typing import Any

from stoker.api.requests import Body
from stoker.api.v1.call import RestCall
from stoker.api.values import STRING, Field
from stoker.contract.approvals import ChangePlanPolicies, ShowPlanPolicies
from stoker.contract.request import Reference

BODY = Body({"plan_policies": Field(STRING, required=True)})


def show(call: RestCall) -> dict[str, Any]:
    """Show the policies on plans that apply, in order; `chosen` are those of this stack or project, as YAML."""
    return {"plan_policies": call.execute(ShowPlanPolicies(ref=_ref(call)))}


def update(call: RestCall) -> dict[str, Any]:
    """Set the policies on plans of this stack or project: a YAML document, as the operator's files."""
    return {"plan_policies": call.execute(ChangePlanPolicies(ref=_ref(call), policies=call.body["plan_policies"]))}


def delete(call: RestCall) -> dict[str, Any]:
    """Remove the policies of this stack or project; those of others apply still."""
    return {"plan_policies": call.execute(ChangePlanPolicies(ref=_ref(call), policies=None))}


def _ref(call: RestCall) -> Reference | None:
    return call.ref if "stack_id" in call.path else None
