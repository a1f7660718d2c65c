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

    The operation of a nested stack asks the policies again, about its own plan and right before each of its steps. What
    they say there takes the place of the results that were deferred.
    """
    results: Sequence[Mapping[str, Any]] = report.get("results", ())
    paths = [each["path"] for each in results if _is_deferred(each) and "." in each["path"]]
    if not paths:
        return report
    nested = await services.database.read(policy_results.nested_plans, operation_id, paths)
    reports = {prefix: services.sealer.open(plan.body).get("policies") or {} for prefix, plan in nested.items()}
    found = [each for result in results for each in _decided(result, nested, reports)]
    return {**report, "results": found, "verdict": most_severe(found)}


def _is_deferred(result: Mapping[str, Any]) -> bool:
    return bool(result["code"] == Code.DEFERRED.value)


def _decided(
    result: Mapping[str, Any], nested: Mapping[str, NestedPlan], reports: Mapping[str, Mapping[str, Any]]
) -> Sequence[Mapping[str, Any]]:
    """Return the outcome for a result: itself if nothing was decided, nothing if the policy is satisfied."""
    if not _is_deferred(result):
        return [result]
    around = [prefix for prefix in nested if result["path"].startswith(prefix)]
    for prefix in sorted(around, key=len, reverse=True):  # the innermost stack knows most
        path, report = result["path"].removeprefix(prefix), reports[prefix]
        own = [each for each in report.get("results", ()) if _same_policy(each, result) and each["path"] == path]
        if decided := [{**each, "path": result["path"]} for each in own if not _is_deferred(each)]:
            return decided
        asked = any(_same_policy(each, result) and path in each["paths"] for each in report.get("asked", ()))
        if asked and (not own or nested[prefix].status == COMPLETE):
            return []
    return [result]


def _same_policy(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return (one["source"], one["policy"]) == (other["source"], other["policy"])
