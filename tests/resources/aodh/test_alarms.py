"""Alarms as resources, on the emulated alarming service."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.cloud.session import Cloud
from stoker.plugins.resource import Neighbour, ResourceType
from stoker.resources.aodh import TYPES
from stoker.resources.aodh.alarms import CompositeAlarm, EventAlarm
from stoker.resources.aodh.threshold import Alarm
from tests.resources.crash_support import run_crashing
from tests.resources.resource_harness import ActionFailed, Alone, Bench

GNOCCHI = {"threshold": 80, "aggregation_method": "mean", "comparison_operator": "gt", "granularity": 300}
PART = {"type": "gnocchi_aggregation_by_metrics_threshold", "metrics": ["m"], **GNOCCHI}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "OS::Aodh::Alarm": ({"meter_name": "cpu_util", "threshold": 80}, {"matching_metadata": {"metering.stack": "s"}}),
    "OS::Aodh::CompositeAlarm": (
        {"composite_rule": {"operator": "or", "rules": [PART, PART]}},
        {"composite_rule": {"operator": "and", "rules": [PART, PART]}},
    ),
    "OS::Aodh::EventAlarm": ({}, {"event_type": "compute.*"}),
    "OS::Aodh::GnocchiAggregationByMetricsAlarm": ({"metrics": ["m"], **GNOCCHI}, {"threshold": 90}),
    "OS::Aodh::GnocchiAggregationByResourcesAlarm": (
        {"metric": "cpu", "resource_type": "instance", "query": '{"=": {"server_group": "x"}}', **GNOCCHI},
        {"granularity": 600},
    ),
    "OS::Aodh::GnocchiResourcesAlarm": (
        {"metric": "cpu", "resource_type": "instance", "resource_id": "i", **GNOCCHI},
        {"comparison_operator": "lt"},
    ),
    "OS::Aodh::LBMemberHealthAlarm": (
        {"pool": "p", "stack": "s", "autoscaling_group_id": "g"},
        {"autoscaling_group_id": "h"},
    ),
    "OS::Aodh::PrometheusAlarm": ({"query": "up", "threshold": 1}, {"query": "down"}),
}


async def shown(cloud: Cloud, identifier: str | None) -> dict[str, Any]:
    found: dict[str, Any] = await cloud.get("aodh", f"/alarms/{identifier}")
    return found


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.type_name)
async def test_alarm_lifecycle(
    kind: type[ResourceType], bench: Any, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, change = CASES[kind.type_name]
    if kind.type_name == "OS::Aodh::LBMemberHealthAlarm":
        monkeypatch.setattr("tests.resources.resource_harness.resolve_names", as_given)
    alarms: Bench = bench(kind)
    action = {"alarm_actions": ["http://127.0.0.1:1/up", ""], "ok_queues": ["orders"]}
    alarm = await alarms.create({**first, **action})
    live = await shown(cloud, alarm.physical_id)
    assert live["alarm_actions"] == ["http://127.0.0.1:1/up"]
    assert live["ok_actions"][0].startswith("trust+zaqar://")
    assert live["ok_actions"][0].endswith("?queue_name=orders")
    assert (live["enabled"], live["repeat_actions"], live["severity"]) == (True, True, "low")
    await alarms.update(alarm, {**first, **change, **action, "description": "d", "enabled": False})
    live = await shown(cloud, alarm.physical_id)
    assert (live["description"], live["enabled"]) == ("d", False)
    await alarms.update(alarm, {**first, **change})
    live = await shown(cloud, alarm.physical_id)
    assert (live["description"], live["alarm_actions"], live["ok_actions"]) == ("", [], [])
    await alarms.run("suspend", alarm)
    assert (await shown(cloud, alarm.physical_id))["enabled"] is False
    await alarms.run("resume", alarm)
    assert (await shown(cloud, alarm.physical_id))["enabled"] is True
    await alarms.run("check", alarm)
    assert (await alarms.attribute(alarm, "show", "alarm_id")) == alarm.physical_id
    await alarms.delete(alarm)
    await alarms.delete(alarm)
    with pytest.raises(ActionFailed, match="does not exist"):
        await alarms.run("check", alarm)


async def as_given(schema: Any, values: dict[str, Any], cloud: Cloud) -> dict[str, Any]:
    """Resolve nothing: there is no such pool."""
    return values


async def test_an_alarm_is_created_once_despite_crashes(bench: Any, cloud: Cloud) -> None:
    alarms: Bench = bench(EventAlarm)
    resource = alarms.resource()
    resource.properties = await alarms.finalized({})
    await run_crashing(alarms, "create", resource)
    assert [alarm["alarm_id"] for alarm in await cloud.list("aodh", "/alarms", "")] == [resource.physical_id]


async def test_policy_name_becomes_signed_url(cloud: Cloud, clock: Any, served: Any) -> None:
    class WithPolicy(Alone):
        async def by_name(self, name: str) -> Neighbour | None:
            url = {"ec2_signed_url": "http://127.0.0.1:1/signed"}
            return Neighbour(name, "OS::Heat::ScalingPolicy", "p", {}, url) if name == "up" else None

    alarms = Bench(EventAlarm, cloud, clock, served.advance, neighbours=WithPolicy())
    alarm = await alarms.create({"alarm_actions": ["up", "zaqar://"]})
    kept = ["http://127.0.0.1:1/signed", "zaqar:"]  # Aodh normalizes URLs
    assert (await shown(cloud, alarm.physical_id))["alarm_actions"] == kept


async def test_metadata_and_query_of_a_meter_are_one_query(bench: Any, cloud: Cloud) -> None:
    alarms: Bench = bench(Alarm)
    given = {"meter_name": "cpu_util", "threshold": 5, "query": [{"field": "resource_id", "op": "eq", "value": "i"}]}
    alarm = await alarms.create(
        {**given, "matching_metadata": {"metadata.user_metadata.stack": 1, "metering.tier": "a"}}
    )
    rule = (await shown(cloud, alarm.physical_id))["threshold_rule"]
    assert [(one["field"], one["value"]) for one in rule["query"]] == [
        ("resource_id", "i"),
        ("metadata.user_metadata.stack", "1"),
        ("metadata.user_metadata.tier", "a"),
    ]


async def test_external_changes_are_found(bench: Any, cloud: Cloud) -> None:
    alarms: Bench = bench(CompositeAlarm)
    alarm = await alarms.create(CASES["OS::Aodh::CompositeAlarm"][0])
    live = await shown(cloud, alarm.physical_id)
    changed = {**live, "severity": "critical", "composite_rule": {"and": [PART, PART]}}
    await cloud.put("aodh", f"/alarms/{alarm.physical_id}", changed)
    found = await alarms.kind.observe(alarms.call(alarm, "CHECK", alarm.properties))
    assert found is not None
    assert found.keys() == {"severity", "composite_rule"}


async def test_query_condition_added_by_aodh_is_no_change(bench: Any, cloud: Cloud) -> None:
    """Aodh restricts the query of an ordinary user to the project, again with each change of the alarm."""
    kind = next(one for one in TYPES if one.type_name == "OS::Aodh::GnocchiAggregationByResourcesAlarm")
    alarms: Bench = bench(kind)
    alarm = await alarms.create(CASES[kind.type_name][0])
    first = (await shown(cloud, alarm.physical_id))["gnocchi_aggregation_by_resources_threshold_rule"]["query"]
    assert first.count("created_by_project_id") == 1
    for action in ("suspend", "resume"):
        await alarms.run(action, alarm)
    live = await shown(cloud, alarm.physical_id)
    assert live["gnocchi_aggregation_by_resources_threshold_rule"]["query"] == first
    assert await alarms.kind.observe(alarms.call(alarm, "CHECK", alarm.properties)) == {}
