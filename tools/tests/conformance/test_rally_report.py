"""What Rally's JSON report tells, as one result for each scenario."""

from __future__ import annotations

from typing import Any

from tools.conformance.rally import results
from tools.conformance.report import Result, show


def workload(scenario: str, **changes: Any) -> dict[str, Any]:
    passed = {"criterion": "failure_rate", "success": True, "detail": "0.00% <= 0.00% - Passed"}
    return {
        "scenario": {scenario: {}},
        "data": [{"error": []}],
        "sla_results": {"sla": [passed]},
        "contexts_results": [{"plugin_name": "users@openstack", "setup": {"error": None}, "cleanup": {"error": None}}],
    } | changes


def report(*workloads: dict[str, Any]) -> dict[str, Any]:
    return {"tasks": [{"subtasks": [{"workloads": [item]} for item in workloads]}]}


def test_scenario_that_ran_as_it_should_has_passed() -> None:
    assert list(results(report(workload("HeatStacks.one"), workload("HeatStacks.two")))) == [
        Result("HeatStacks.one", "success"),
        Result("HeatStacks.two", "success"),
    ]


def test_errors_of_runs_and_criteria_are_the_reason() -> None:
    failed = {"criterion": "failure_rate", "success": False, "detail": "50.00% - Failed"}
    refused = {"error": ["HTTPBadRequest", "ERROR: template:5:3: no such network", "Traceback …"]}
    item = workload("HeatStacks.one", data=[{"error": []}, refused], sla_results={"sla": [failed]})
    assert list(results(report(item))) == [
        Result("HeatStacks.one", "fail", "50.00% - Failed\nHTTPBadRequest: ERROR: template:5:3: no such network")
    ]


def test_failed_cleanup_is_a_failure() -> None:
    left = {"plugin_name": "cleanup@openstack", "setup": {"error": None}, "cleanup": {"error": "a stack is left"}}
    [result] = results(report(workload("HeatStacks.one", contexts_results=[left])))
    assert (result.status, result.reason) == ("fail", "cleanup@openstack, cleanup: a stack is left")


def test_exit_status_tells_whether_anything_failed(capsys: Any) -> None:
    passed, failed = Result("HeatStacks.one", "success"), Result("HeatStacks.two", "fail", "no network")
    assert (show([passed]), show([passed, failed]), show([])) == (0, 1, 1)
    assert "FAILED  HeatStacks.two\n    no network\n" in capsys.readouterr().out
