"""What policies have decided in the nested stacks of an operation, when the values were known there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.engine.plan_policies.policy import Code, most_severe
from stoker.engine.records.services import EngineServices
from stoker.store import policy_results
from stoker.store.policy_results import NestedPlan
from stoker.store.records import COMPLETE


async def with_nested_decisions(
    services: EngineServices, operation_id: str, report: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the report on an operation's plan (`Report.to_data`), with what was decided since about nested stacks.

    The operation of a nested stack asks the policies again, about its own plan and right before each of its steps, when
    more values are known. Their results there replace the earlier ones.
    """
    own: dict[_PolicyAtStep, list[Mapping[str, object]]] = {}
    for each in report.get("results", ()):
        own.setdefault((each["source"], each["policy"], each["path"]), []).append(each)
    for each in report.get("asked", ()):
        for path in each["paths"]:
            own.setdefault((each["source"], each["policy"], path), [])
    paths = {path for _, _, path in own if "." in path}
    if not paths:
        return report
    nested = await services.database.read(policy_results.nested_plans, operation_id, paths)
    reports = {prefix: services.sealer.open(plan.body).get("policies") or {} for prefix, plan in nested.items()}
    found: list[Mapping[str, object]] = []
    for evaluated, results in own.items():
        decided = _decided(evaluated, nested, reports)
        found += results if decided is None else decided
    return {**report, "results": found, "verdict": most_severe(found)}


_PolicyAtStep = tuple[str, str, str]
"""The source and the name of a policy, and the path of the step that it is about."""


def _decided(
    evaluated: _PolicyAtStep, nested: Mapping[str, NestedPlan], reports: Mapping[str, Mapping[str, Any]]
) -> Sequence[Mapping[str, object]] | None:
    """Return the results of the innermost nested stack that has decided: none if the policy is satisfied there.

    None stands for no decision.
    """
    source, policy, whole = evaluated
    around = [prefix for prefix in nested if whole.startswith(prefix)]
    for prefix in sorted(around, key=len, reverse=True):
        path, report = whole.removeprefix(prefix), reports[prefix]
        results = [each for each in report.get("results", ()) if _about(each, source, policy) and each["path"] == path]
        if decided := [{**each, "path": whole} for each in results if each["code"] != Code.DEFERRED.value]:
            return decided
        is_evaluated = any(_about(each, source, policy) and path in each["paths"] for each in report.get("asked", ()))
        if is_evaluated and (not results or nested[prefix].status == COMPLETE):
            return []
    return None


def _about(entry: Mapping[str, object], source: str, policy: str) -> bool:
    return bool(entry["source"] == source and entry["policy"] == policy)
