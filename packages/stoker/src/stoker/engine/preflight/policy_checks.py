"""Judge a plan, or a step right before it acts, by policies."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from stoker.base.diagnostics import Diagnostic
from stoker.base.redaction import Redactor
from stoker.engine.plan_policies.evaluation import Outcome, evaluated
from stoker.engine.plan_policies.policy import (
    CODES,
    Code,
    EnforcementLevel,
    EvaluatedPolicy,
    Policy,
    Report,
    Result,
    Scope,
)
from stoker.engine.planning.plan import Plan
from stoker.engine.preflight.model import placed
from stoker.engine.preflight.policy_document import plan_document
from stoker.engine.records.services import EngineServices

_SEVERITIES: Mapping[EnforcementLevel, str] = {
    EnforcementLevel.DENY: "error",
    EnforcementLevel.REQUIRE_APPROVAL: "error",
    EnforcementLevel.WARN: "warning",
}


def concerning(policies: Sequence[Policy], action: str) -> tuple[Policy, ...]:
    """Return the policies that apply to operations with this action."""
    return tuple(policy for policy in policies if policy.concerns(action))


async def evaluate(
    services: EngineServices,
    project_id: str,
    policies: Sequence[Policy],
    plan: Plan,
    stack: Mapping[str, object],
    costs: Mapping[str, object] | None,
    phase: str,
) -> Report:
    """Return what policies say of a plan whose steps have their subjects, with those that ask webhooks.

    `phase` is "operation" if the plan is about to be carried out, and "preview" if it is only shown.
    """
    asking = [policy for policy in concerning(policies, plan.action) if policy.webhook]
    written = [policy for policy in policies if not policy.webhook]
    report = await services.evaluator.compute_on_thread(project_id, partial(evaluate_plan, written, plan, stack, costs))
    if asking:
        from stoker.engine.preflight.webhook_policies import Phase, answered  # only with webhooks

        report = report.joined(await answered(services, project_id, asking, plan, stack, costs, Phase(phase)))
    return report


def evaluate_plan(
    policies: Sequence[Policy], plan: Plan, stack: Mapping[str, object], costs: Mapping[str, object] | None
) -> Report:
    """Return what policies say of a plan whose steps have their subjects; blocks while a helper process evaluates.

    `stack` is that of `stack_facts`; `costs` are those of the plan as JSON data, None without a price list.
    """
    concerned = concerning(policies, plan.action)
    if not concerned:
        return Report()
    results = []
    document = plan_document(plan, stack, costs)
    for outcome in evaluated(concerned, document):
        if outcome.holds:
            continue
        step = plan.steps[outcome.index] if outcome.index is not None else None
        diagnostic = outcome_diagnostic(outcome, plan.secrets)
        if step is not None:
            name = step.name.rpartition(".")[2] if step.depth else step.name
            diagnostic = placed(step.subject, name, diagnostic, ())
        results.append(result_of(outcome, step.name if step is not None else "", diagnostic))
    steps = {step["path"]: {"type": step["type"], "kind": step["kind"]} for step in document["steps"]}
    return Report.of(len(concerned), results, _applicable(concerned, document["steps"]), steps)


def _applicable(policies: Sequence[Policy], steps: Sequence[Mapping[str, Any]]) -> Iterator[EvaluatedPolicy]:
    """Yield which of the policies say something, and about which steps."""
    for policy in policies:
        if policy.scope is Scope.PLAN:
            yield EvaluatedPolicy.of(policy, [""])
        elif paths := [step["path"] for step in steps if policy.applies(step)]:
            yield EvaluatedPolicy.of(policy, paths)


def evaluate_step(
    policies: Sequence[Policy], plan: Mapping[str, object], path: str, secrets: Collection[str]
) -> Report:
    """Return what policies say of the only step of a plan's document; blocks as above."""
    found = [outcome for outcome in evaluated(policies, plan) if not outcome.holds]
    return Report.of(
        len(policies), (result_of(outcome, path, outcome_diagnostic(outcome, secrets)) for outcome in found)
    )


def result_of(outcome: Outcome, path: str, diagnostic: Diagnostic) -> Result:
    """Return the result of a policy that is not satisfied. One that cannot be evaluated denies, unless it only warns:
    nobody can approve what nothing has looked at.
    """
    policy = outcome.policy
    verdict, code = policy.verdict, CODES[policy.verdict]
    if outcome.deferred:
        code = Code.DEFERRED
    elif outcome.holds is None:
        verdict, code = (verdict if verdict is EnforcementLevel.WARN else EnforcementLevel.DENY), Code.FAILED
    return Result(code, policy.name, policy.source, verdict, path, diagnostic)


def outcome_diagnostic(outcome: Outcome, secrets: Collection[str]) -> Diagnostic:
    """Return what is wrong with a plan by a policy that is not satisfied, without a place."""
    policy = outcome.policy
    if outcome.deferred:
        message = "it depends on values that are known later, and is evaluated again right before the step"
    elif outcome.holds is None:
        message = f"the policy could not be evaluated: {outcome.message}"
    else:
        message = outcome.message or policy.message or "the plan does not satisfy the policy's expression"
    message = str(Redactor(secrets).redact(message))
    return Diagnostic(policy.name, message, hint=policy.hint, severity=_SEVERITIES[policy.verdict])
