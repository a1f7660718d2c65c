"""Ask the webhooks of policies about a plan."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import Any

import orjson

from stoker.base.diagnostics import Diagnostic
from stoker.base.ids import new_id
from stoker.base.redaction import Redactor
from stoker.base.webhooks import WebhookFailed, post
from stoker.engine.plan_policies.policy import (
    CODES,
    Code,
    EnforcementLevel,
    EvaluatedPolicy,
    OnFailure,
    Policy,
    Report,
    Result,
    Source,
)
from stoker.engine.planning.plan import Plan
from stoker.engine.preflight.policy_document import plan_document
from stoker.engine.records.services import EngineServices
from stoker_foundation.clock import isoformat

EVENT = "plan.judge"
LONGEST_QUESTION = 5 * 1024 * 1024
"""Bytes of a request."""
LONGEST_TEXT = 1000
"""Characters of an answer's message, and of its hint."""

_ALLOW = "allow"


class Phase(StrEnum):
    """Whether the plan is only shown, or about to be carried out."""

    PREVIEW = "preview"
    OPERATION = "operation"


async def answered(
    services: EngineServices,
    project_id: str,
    policies: Sequence[Policy],
    plan: Plan,
    stack: Mapping[str, object],
    costs: Mapping[str, object] | None,
    phase: Phase,
) -> Report:
    """Return what the webhooks say of a plan whose steps have their subjects; `policies` are those that have one.

    `stack` is that of `stack_facts`; `costs` are those of the plan as JSON data.
    """
    document = await services.evaluator.compute_on_thread(project_id, partial(plan_document, plan, stack, costs))
    facts = {"type": EVENT, "phase": phase.value, "project_id": project_id, "action": plan.action, "plan": document}
    asking = (_answer(services, project_id, policy, facts) for policy in policies)
    redactor = Redactor(plan.secrets)
    results = [
        _result(policy, answer, redactor)
        for policy, answer in zip(policies, await asyncio.gather(*asking), strict=True)
        if answer["verdict"] != _ALLOW
    ]
    return Report.of(len(policies), results, [EvaluatedPolicy.of(policy, [""]) for policy in policies])


async def _answer(
    services: EngineServices, project_id: str, policy: Policy, facts: Mapping[str, object]
) -> Mapping[str, object]:
    """Return the answer of a policy's webhook; `failed` says that there is none."""
    settings, now = services.settings.webhooks, services.clock.now()
    if policy.source is Source.COMMAND:
        return {
            "verdict": EnforcementLevel.WARN,
            "message": "a webhook is asked only by policies that are set",
            "deferred": True,
        }
    try:
        if settings is None:
            raise WebhookFailed("no secret for webhooks is configured", temporary=False)
        body = orjson.dumps({"id": new_id(), "time": isoformat(now), "policy": policy.name, **facts})
        if len(body) > LONGEST_QUESTION:
            raise WebhookFailed(f"the plan is longer than {LONGEST_QUESTION} bytes", temporary=False)
        key = settings.key_of(None if policy.source is Source.OPERATOR else project_id)
        return _read(await post(settings, policy.webhook, key, body, EVENT, now))
    except WebhookFailed as error:
        verdict = EnforcementLevel.DENY if policy.on_failure is OnFailure.DENY else EnforcementLevel.WARN
        return {"verdict": verdict, "message": f"the webhook has not judged the plan: {error}", "failed": True}


def _read(content: bytes) -> Mapping[str, Any]:
    """Return an answer: `verdict`, `message` and `hint`. Raises WebhookFailed."""
    try:
        answer = orjson.loads(content)
    except orjson.JSONDecodeError:
        raise WebhookFailed("its answer is not JSON", temporary=False) from None
    verdict = answer.get("verdict") if isinstance(answer, dict) else None
    if verdict != _ALLOW and verdict not in set(EnforcementLevel):
        known = ", ".join((_ALLOW, *EnforcementLevel))
        raise WebhookFailed(f"its answer has no verdict that is one of {known}", temporary=False)
    return {"verdict": verdict, **{key: _text(answer.get(key)) for key in ("message", "hint")}}


def _text(value: object) -> str:
    """Return a string of an answer as one printable line."""
    words = "".join(each if each.isprintable() else " " for each in value).split() if isinstance(value, str) else []
    return " ".join(words)[:LONGEST_TEXT]


def _result(policy: Policy, answer: Mapping[str, Any], redactor: Redactor) -> Result:
    verdict = EnforcementLevel(answer["verdict"])
    code = Code.FAILED if answer.get("failed") else Code.DEFERRED if answer.get("deferred") else CODES[verdict]
    message = answer["message"] or f"the webhook answers with {verdict.value}"
    severity = "warning" if verdict is EnforcementLevel.WARN else "error"
    hint = answer.get("hint") or policy.hint
    diagnostic = Diagnostic(policy.name, str(redactor.redact(message)), hint=hint, severity=severity)
    return Result(code, policy.name, policy.source, verdict, "", diagnostic)
