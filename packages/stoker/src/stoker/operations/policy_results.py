"""The results of policies for the plans of operations and change sets, one result for each policy and step."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue, EntityNotFound
from stoker.contract.approvals import (
    ListPolicyResults,
    Outcome,
    PolicyResultPage,
    PolicyResultView,
    ShowPolicyResult,
)
from stoker.contract.request import by_name
from stoker.engine.plan_policies.policy import Code, EnforcementLevel
from stoker.engine.records.services import EngineServices
from stoker.operations.change_set_lookup import change_set_rows
from stoker.operations.late_decisions import with_nested_decisions
from stoker.operations.lookup import find_stack
from stoker.store import approvals, policy_results
from stoker.store.policy_results import EvaluatedPlan
from stoker.store.records import COMPLETE, UNFINISHED
from stoker.store.survey_records import ChangeSet

_PLANS_OF_PAGE = 20
"""How many plans are opened for a page: some have a thousand results."""

_NUMBER_DIGITS = 8
_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_OUTCOMES = {Code.FAILED.value: Outcome.NOT_EVALUATED, Code.DEFERRED.value: Outcome.DEFERRED}


async def policy_result_list(
    services: EngineServices, context: RequestContext, request: ListPolicyResults
) -> PolicyResultPage:
    """Return results, newest first. Raises EntityNotFound, and BadValue for a marker that is none."""
    if request.change_set is not None:
        rows = await change_set_rows(services, context, request.stack, request.change_set)
        return {
            "results": [each for row in rows for each in await results_of_change_set(services, row)],
            "marker": None,
        }
    stack_id = None
    if request.stack is not None:
        stack_id = (await find_stack(services, context, by_name(request.stack), deleted=True)).id
    after = _place(request.marker) if request.marker is not None else None
    plans = await services.database.read(
        policy_results.of_project, context.project_id, stack_id, after, _PLANS_OF_PAGE + 1
    )
    page = plans[:_PLANS_OF_PAGE]
    marker = f"{page[-1].created_at!r} {page[-1].id}" if len(plans) > len(page) else None
    return {"results": [each for plan in page for each in await _results(services, plan)], "marker": marker}


async def policy_result_show(
    services: EngineServices, context: RequestContext, request: ShowPolicyResult
) -> PolicyResultView:
    """Return a result. Raises EntityNotFound."""
    if not _UUID.fullmatch(request.result_id):
        raise _not_found(request.result_id)
    start = request.result_id[:-_NUMBER_DIGITS]
    plans = await services.database.read(
        policy_results.with_ids_between, context.project_id, f"{start}{'0' * 8}", f"{start}{'f' * 8}"
    )
    for plan in plans:
        for result in await _results(services, plan):
            if result["id"] == request.result_id:
                return result
    raise _not_found(request.result_id)


def _not_found(result_id: str) -> EntityNotFound:
    return EntityNotFound(f"The result of a policy ({result_id}) could not be found.")


async def results_of_operations(
    services: EngineServices, operation_ids: Sequence[str]
) -> Mapping[str, Sequence[PolicyResultView]]:
    """Return the results of those operations that policies were asked about, by ID."""
    plans = await services.database.read(policy_results.of_operations, operation_ids)
    return {key: await _results(services, plan) for key, plan in plans.items()}


async def results_of_change_set(services: EngineServices, row: ChangeSet) -> Sequence[PolicyResultView]:
    """Return the results of a change set."""
    of_stack = (row.project_id, row.stack_id, row.stack_name)
    return await _results(
        services, EvaluatedPlan(row.id, row.created_at, *of_stack, row.kind, row.status, row.name, row.body)
    )


def objects(result: PolicyResultView) -> bool:
    """Return whether a policy is not satisfied, or could not be evaluated."""
    return result["outcome"] in (Outcome.OBJECTED, Outcome.NOT_EVALUATED)


def _place(marker: str) -> tuple[float, str]:
    time, _, identifier = marker.partition(" ")
    try:
        return float(time), identifier
    except ValueError:
        raise BadValue("The marker must be that of a previous page.") from None


def _result_id(plan_id: str, number: int) -> str:
    """Return the ID of a plan's result: that of the plan, with the number in its last digits, which are random."""
    digits = int(plan_id[-_NUMBER_DIGITS:], 16) ^ (number + 1)
    return f"{plan_id[:-_NUMBER_DIGITS]}{digits:08x}"


async def _results(services: EngineServices, plan: EvaluatedPlan) -> list[PolicyResultView]:
    report: Mapping[str, Any] = services.sealer.open(plan.body).get("policies") or {}
    if plan.change_set is None:
        report = await with_nested_decisions(services, plan.id, report)
    results = [*_results_by_step(report)]
    approved = False
    if plan.change_set is None and any(each["verdict"] == EnforcementLevel.REQUIRE_APPROVAL.value for each in results):
        approved = await services.database.read(_is_approved, plan.id)
    steps = report.get("steps", {})
    return [_view(plan, number, each, steps.get(each["path"], {}), approved) for number, each in enumerate(results)]


def _is_approved(connection: Connection, operation_id: str) -> bool:
    return approvals.granted_to_operation(connection, operation_id, approvals.BY_POLICY)


def _results_by_step(report: Mapping[str, Any]) -> Iterator[Mapping[str, object]]:
    """Yield what each policy says of each step: its results, or what was asked and has none."""
    results: dict[tuple[str, str], list[Mapping[str, object]]] = {}
    for result in report.get("results", ()):
        results.setdefault((result["source"], result["policy"]), []).append(result)
    for evaluated in report.get("asked", ()):
        found = results.pop((evaluated["source"], evaluated["policy"]), [])
        yield from found
        if any(result["code"] == Code.FAILED.value and not result["path"] for result in found):
            continue  # the policy as a whole
        objected = {result["path"] for result in found}
        yield from ({**evaluated, "path": path, "code": None} for path in evaluated["paths"] if path not in objected)
    for found in results.values():
        yield from found


def _view(
    plan: EvaluatedPlan, number: int, result: Mapping[str, Any], step: Mapping[str, str], approved: bool
) -> PolicyResultView:
    diagnostic = result.get("diagnostic") or {}
    return {
        "id": _result_id(plan.id, number),
        "project_id": plan.project_id,
        "stack_id": plan.stack_id,
        "stack_name": plan.stack_name,
        "action": plan.action,
        "operation_id": plan.id if plan.change_set is None else None,
        "change_set_id": plan.id if plan.change_set is not None else None,
        "change_set_name": plan.change_set,
        "policy": result["policy"],
        "source": result["source"],
        "verdict": result["verdict"],
        "outcome": _outcome(plan, result, approved).value,
        "path": result["path"],
        "type": step.get("type"),
        "kind": step.get("kind"),
        "message": diagnostic.get("message") or "",
        "hint": diagnostic.get("hint") or "",
        "time": plan.created_at,
    }


def _outcome(plan: EvaluatedPlan, result: Mapping[str, Any], approved: bool) -> Outcome:
    if result["code"] is None:
        return Outcome.SATISFIED
    found = _OUTCOMES.get(result["code"], Outcome.OBJECTED)
    if found is Outcome.DEFERRED and plan.change_set is None and plan.status not in UNFINISHED:
        return Outcome.SATISFIED if plan.status == COMPLETE else Outcome.NOT_EVALUATED
    if found is Outcome.OBJECTED and approved and result["verdict"] == EnforcementLevel.REQUIRE_APPROVAL.value:
        return Outcome.APPROVED
    return found
