"""Refuse what policies on plans do not permit: every run asks them, whatever began the operation.

All of them are asked about the whole plan before its first change, in a run that continues after a crash, too. Those
about single resources are asked again right before a step acts, when all values are known.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection

from stoker.base.errors import ApprovalRequired, PolicyDenied, TemplateInvalid
from stoker.engine.plan_policies.policy import Code, EnforcementLevel, Policy, Report, Result, Scope, most_severe
from stoker.engine.planning.decide import Target
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.plan import Plan
from stoker.engine.preflight.policy_checks import concerning, evaluate, evaluate_step
from stoker.engine.preflight.policy_document import stack_facts, step_document
from stoker.engine.preflight.policy_sources import applying
from stoker.engine.pricing.costs import costs_of
from stoker.engine.pricing.usage import needs_record, usage_of
from stoker.engine.records.failure import Failure
from stoker.engine.records.stack_view import read_tree
from stoker.engine.running.operation_context import OperationContext
from stoker.engine.running.whole_plan import removal_with_nested, with_nested
from stoker.store import approvals, queries

LOG = logging.getLogger(__name__)


async def check_by_policies(run: OperationContext, written: Mapping[str, str]) -> Plan | None:
    """Ask the policies about the plan, and return it with the steps of all nested stacks; None if there was nothing to
    ask. `written` are the policies of the project and the stack (see `written_policies`).

    Raises PolicyDenied, and ApprovalRequired for a plan without its approval.
    """
    plan = run.planning.plan
    try:
        run.planning.policies = await applying(run.services, run.stack.project_id, run.stack.root_id, written)
    except TemplateInvalid as error:
        raise PolicyDenied(f"Nothing was changed, since policies cannot be read: {error.message}") from error
    policies = concerning(run.planning.policies, run.operation.action)
    if plan is None or not policies:
        return None
    if plan.reaches_below():
        desired = run.planning.desired
        plan = await (with_nested(run, desired) if desired is not None else removal_with_nested(run))
    costs = await _costs(run, plan) if any(reads_costs(policy) for policy in policies) else None
    facts = await _stack(run)
    report = await evaluate(run.services, run.stack.project_id, policies, plan, facts, costs, "operation")
    _keep(run, report)
    for result in report.results:
        LOG.warning("policies on the plan of stack %s: %s", run.stack.name, result.text())
    if denied := report.with_verdict(EnforcementLevel.DENY):
        raise PolicyDenied(_refusal(run, "policies deny it", denied))
    if (unapproved := report.with_verdict(EnforcementLevel.REQUIRE_APPROVAL)) and not await is_approved(run):
        raise ApprovalRequired(_refusal(run, "policies require an approval, which this plan does not have", unapproved))
    return plan


async def check_step_by_policies(run: OperationContext, target: Target, kind: StepKind) -> None:
    """Ask the policies about a resource whose values are all known now. Raises Failure."""
    step = step_document(target.name, target.type_name, target.type, target.properties, kind, run.planned_secrets)
    applicable = [
        policy
        for policy in concerning(run.planning.policies, run.operation.action)
        if policy.scope is Scope.RESOURCE and policy.applies(step)
    ]
    if not applicable:
        return
    document = {"action": run.operation.action, "stack": await _stack(run), "steps": [step]}
    work = partial(evaluate_step, applicable, document, target.name, run.planned_secrets)
    report = await run.services.evaluator.compute_on_thread(run.stack.project_id, work)
    _keep_late(run, target.name, applicable, report)
    if denied := report.with_verdict(EnforcementLevel.DENY):
        raise Failure(PolicyDenied.__name__, (target.name,), "; ".join(result.text() for result in denied))
    if (needed := report.with_verdict(EnforcementLevel.REQUIRE_APPROVAL)) and not await is_approved(run):
        raise Failure(ApprovalRequired.__name__, (target.name,), "; ".join(result.text() for result in needed))


async def is_approved(run: OperationContext) -> bool:
    """Return whether somebody has approved the plan of the operation, or of the operation around a nested stack's."""
    read = run.services.database.read
    return await read(approvals.granted_to_operation, run.operation.id, approvals.BY_POLICY)


def reads_costs(policy: Policy) -> bool:
    """Return whether a policy depends on what the plan costs, which takes requests to services to know."""
    return "costs" in policy.expression


async def _stack(run: OperationContext) -> Mapping[str, object]:
    tags = await run.services.database.read(queries.tags_of, [run.stack.root_id])
    return stack_facts(run.stack, tags.get(run.stack.root_id, ()))


async def _costs(run: OperationContext, plan: Plan) -> Mapping[str, object] | None:
    services, stack = run.services, run.stack
    settings = services.settings
    if settings.prices is None:
        return None

    def on(connection: Connection) -> object:
        tree = read_tree(services, connection, stack) if needs_record(plan) else ()
        return usage_of(plan, {each.stack.parent_resource or "": each for each in tree if each.stack.id != stack.id})

    usages = await services.database.read_on(partial(services.evaluator.compute_on_thread, stack.project_id), on)
    costs = await costs_of(usages, settings.prices, run.cloud, services.clock, settings.validation_seconds)
    return costs.to_data(plan.secrets)


def _keep(run: OperationContext, report: Report) -> None:
    """Store the results with the plan of the operation, which the first commit stores."""
    run.operation.policies_asked = len(report.policies)
    if run.operation.plan is not None:
        sealer = run.services.sealer
        run.operation.plan = sealer.seal({**sealer.open(run.operation.plan), "policies": report.to_data()})


def _keep_late(run: OperationContext, path: str, policies: Sequence[Policy], report: Report) -> None:
    """Put the results about a step in place of the earlier results, for which its values were not known; the next
    commit of the operation stores them.
    """
    if run.operation.plan is None:
        return
    sealer = run.services.sealer
    plan = sealer.open(run.operation.plan)
    recorded = plan.get("policies") or {}
    about = {(policy.source.value, policy.name, path) for policy in policies}
    before: list[Mapping[str, object]] = list(recorded.get("results", ()))
    others = [each for each in before if (each["source"], each["policy"], each["path"]) not in about]
    late = [result.to_data() for result in report.results]
    if sorted(map(_result_key, late)) == sorted(_result_key(each) for each in before if each not in others):
        return
    plan["policies"] = {**recorded, "results": [*late, *others], "verdict": most_severe([*late, *others])}
    run.operation.plan = sealer.seal(plan)


def _result_key(result: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return what a policy says of a step, without the place."""
    return result["source"], result["policy"], result["code"]


def _refusal(run: OperationContext, why: str, results: Sequence[Result]) -> str:
    unchanged = "Nothing was changed, since" if run.operation.epoch == 1 else "Nothing more was changed, since"
    lines = "\n".join(result.text() for result in results)
    failed = any(result.code is Code.FAILED for result in results)
    whom = "\nAsk the operator of the service about policies that could not be evaluated." if failed else ""
    return f"{unchanged} {why} ({len(results)}):\n{lines}{whom}"
