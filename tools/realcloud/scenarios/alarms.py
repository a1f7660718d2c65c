"""Alarms of Aodh that change the size of a group, from measures in Gnocchi."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import uuid4

from tools.realcloud.scenarios.trials import Failed, Place, Trial

_HIGH_SECONDS, _LOW_SECONDS = 75, 300
"""Seconds during which the load is high, and then low."""
_SLACK = 120.0
"""Seconds for Aodh to notice, to notify, and for the group to change."""
_LARGEST = 3
_METRIC = "load"
_RESOURCES = "/v1/resource/instance"


def alarms(place: Place) -> Iterator[Trial]:
    """Groups that grow while their load is high, and shrink when it is low."""
    of_resource = {"resource_id": {"get_param": "resource"}, "metric": _METRIC, "resource_type": "instance"}
    of_metrics = {"metrics": [{"get_param": "metric"}]}
    for url in ("alarm_url", "signal_url"):
        for type_name, rule in (
            ("OS::Aodh::GnocchiResourcesAlarm", of_resource),
            ("OS::Aodh::GnocchiAggregationByMetricsAlarm", of_metrics),
        ):
            yield Trial(f"{type_name}, {url} of the policies", partial(_scaled, place, type_name, rule, url))


def _scaled(place: Place, type_name: str, rule: Mapping[str, Any], url: str) -> str:
    """Let a group grow to its largest size, and shrink to its smallest."""
    identifier = str(uuid4())
    try:
        metric = _measured(place, identifier)
        template = _template(type_name, rule, url)
        known = {"resource": identifier, "metric": metric}
        stack = place.create(f"alarms-{url.replace('_', '-')}", template, parameters=known)
        began = time.monotonic()
        place.expect(stack, "CREATE_COMPLETE")
        grown = _grown(place, stack, _LARGEST, began)
        shrunk = _grown(place, stack, 1, began)
        place.delete(stack)
    finally:
        place.account.send("metric", "DELETE", f"{_RESOURCES}/{identifier}")
    return f"{_LARGEST} members after {grown:.0f} s, 1 after {shrunk:.0f} s; the load was high for {_HIGH_SECONDS} s."


def _template(type_name: str, rule: Mapping[str, Any], url: str) -> dict[str, Any]:
    prefix = "trust+" if url == "signal_url" else ""  # Aodh then sends a token of a trust

    def policy(adjustment: int) -> dict[str, Any]:
        properties = {
            "auto_scaling_group_id": {"get_resource": "group"},
            "adjustment_type": "change_in_capacity",
            "scaling_adjustment": adjustment,
        }
        return {"type": "OS::Heat::ScalingPolicy", "properties": properties}

    def alarm(operator: str, called: str) -> dict[str, Any]:
        properties = {
            "comparison_operator": operator,
            "threshold": 50,
            "granularity": 1,
            "evaluation_periods": 1,
            "aggregation_method": "mean",
            "repeat_actions": True,
            "alarm_actions": [{"list_join": ["", [prefix, {"get_attr": [called, url]}]]}],
        }
        return {"type": type_name, "properties": {**rule, **properties}}

    group = {"min_size": 1, "max_size": _LARGEST, "cooldown": 0, "resource": {"type": "OS::Neutron::Net"}}
    return {
        "heat_template_version": "2021-04-16",
        "parameters": {"resource": {"type": "string"}, "metric": {"type": "string"}},
        "resources": {
            "group": {"type": "OS::Heat::AutoScalingGroup", "properties": group},
            "out": policy(1),
            "in": policy(-1),
            "high": alarm("gt", "out"),
            "low": alarm("lt", "in"),
        },
        "outputs": {"size": {"value": {"get_attr": ["group", "current_size"]}}},
    }


def _measured(place: Place, identifier: str) -> str:
    """Create a resource with measures of the near future, one a second, and return the ID of its metric."""
    body = {"id": identifier, "metrics": {_METRIC: {"archive_policy_name": "high"}}}
    made = place.account.ask("metric", "POST", _RESOURCES, json=body)
    metric = str(made["metrics"][_METRIC])
    now = datetime.now(UTC)
    measures = [
        {
            "timestamp": (now + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%S"),
            "value": 90 if second < _HIGH_SECONDS else 10,
        }
        for second in range(_HIGH_SECONDS + _LOW_SECONDS)
    ]
    place.account.ask("metric", "POST", f"/v1/metric/{metric}/measures", json=measures)
    return metric


def _grown(place: Place, stack: str, size: int, began: float) -> float:
    """Wait until the group has a size, and return the seconds since the beginning."""
    deadline = time.monotonic() + _HIGH_SECONDS + _SLACK
    while time.monotonic() < deadline:
        if (found := place.outputs(stack)["size"]) == size:
            return time.monotonic() - began
        time.sleep(2.0)
    raise Failed(f"the group has {found} members instead of {size}")
