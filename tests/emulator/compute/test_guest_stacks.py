"""Stacks whose servers run: guests that have died are replaced, and a group follows the load of its guests."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.cfn.query_service import QueryService

from .guest_cloud import RealNova, guest_cloud

pytestmark = pytest.mark.guests

BUSY_SECONDS = 6
BUSY = f"""#!/bin/sh
(end=$(($(date +%s) + {BUSY_SECONDS})); while [ $(date +%s) -lt $end ]; do :; done; echo IDLE AGAIN) &
"""


@pytest.fixture(scope="module")
def cloud() -> Iterator[RealNova]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("openstack_emulator.guests.local.LocalDriver.metering_interval", 0.5)
        with guest_cloud() as nova:
            yield nova


@pytest.fixture(scope="module")
def engine(cloud: RealNova, tmp_path_factory: pytest.TempPathFactory) -> Iterator[QueryService]:
    with QueryService(tmp_path_factory.mktemp("engine"), cloud.served) as service:
        cloud.served.cloud.extra_endpoints["cloudformation"] = f"{service.url}/v1"  # so that alarms may call it
        yield service


def server(user_data: str) -> dict[str, Any]:
    return {
        "type": "OS::Nova::Server",
        "properties": {
            "flavor": "m1.tiny",
            "image": "cirros",
            "networks": [{"network": "private"}],
            "metadata": {"metering.server_group": {"get_param": "OS::stack_id"}},
            "user_data_format": "RAW",
            "user_data": user_data,
        },
    }


def group(user_data: str, **more: Any) -> dict[str, Any]:
    properties = {"min_size": 1, "max_size": 2, "cooldown": 1, "resource": server(user_data), **more}
    return {"type": "OS::Heat::AutoScalingGroup", "properties": properties}


def create(engine: QueryService, name: str, resources: dict[str, Any], **more: Any) -> None:
    template = {"heat_template_version": "2021-04-16", "resources": resources}
    engine.call("stack_create", name=name, template=template, **more)


def state(engine: QueryService, name: str) -> str:
    shown = engine.call("stack_show", ref={"name": name, "id": None})
    assert shown["status"] != "FAILED", shown["status_reason"]
    return f"{shown['action']}_{shown['status']}"


def members(engine: QueryService, name: str) -> dict[str, str]:
    """The servers of the group by the names of the members."""
    found = engine.call("resource_list", ref={"name": name, "id": None}, nested_depth=1)["resources"]
    return {row["name"]: row["physical_id"] for row in found if row["type"] == "OS::Nova::Server"}


def kill_guest(server_id: str) -> None:
    """Kill the process that a guest runs in, as if the kernel had no memory left."""
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if server_id.encode() in place.read_bytes() and int(place.parent.name) != os.getpid():
                os.kill(int(place.parent.name), signal.SIGKILL)


def test_dead_or_stopped_guests_are_replaced(cloud: RealNova, engine: QueryService) -> None:
    resources = {"group": group("#!/bin/sh\necho ALIVE\n", desired_capacity=2)}
    create(engine, "heals", resources, tags=["stoker:heal=10"])
    cloud.until(lambda: state(engine, "heals") == "CREATE_COMPLETE", 60)
    before = members(engine, "heals")
    killed, stopped = before.values()
    cloud.until(lambda: "ALIVE" in cloud.console(killed))
    kill_guest(killed)
    cloud.until(lambda: cloud.status(killed) == "SHUTOFF")
    cloud.act(stopped, "os-stop")

    cloud.until(lambda: not set(before.values()) & set(members(engine, "heals").values()), 90)
    cloud.until(lambda: state(engine, "heals") == "UPDATE_COMPLETE", 60)
    after = members(engine, "heals")
    assert len(after) == 2 and {cloud.status(key) for key in after.values()} == {"ACTIVE"}
    for key in after.values():
        cloud.until(lambda key=key: "ALIVE" in cloud.console(key))  # type: ignore[misc]
    events = engine.call("event_list", ref={"name": "heals", "id": None}, nested_depth=1)
    assert "the server is SHUTOFF" in [event["status_reason"] for event in events]


def test_an_event_alarm_has_a_dead_guest_replaced_at_once(cloud: RealNova, engine: QueryService) -> None:
    traits = [{"field": "traits.instance_id", "op": "eq", "value": {"get_resource": "server"}}]
    alarm = {
        "event_type": "compute.instance.power_off.end",
        "query": traits,
        "alarm_actions": [{"get_attr": ["restarter", "AlarmUrl"]}],
    }
    resources = {
        "server": server("#!/bin/sh\necho ALIVE\n"),
        "restarter": {"type": "OS::Heat::HARestarter", "properties": {"InstanceId": {"get_resource": "server"}}},
        "stopped": {"type": "OS::Aodh::EventAlarm", "properties": alarm},
    }
    create(engine, "alarmed", resources)
    cloud.until(lambda: state(engine, "alarmed") == "CREATE_COMPLETE", 60)
    [killed] = members(engine, "alarmed").values()
    cloud.until(lambda: "ALIVE" in cloud.console(killed))
    kill_guest(killed)

    cloud.until(lambda: state(engine, "alarmed") == "UPDATE_COMPLETE", 60)
    [new] = members(engine, "alarmed").values()
    assert new != killed
    cloud.until(lambda: "ALIVE" in cloud.console(new))


def test_group_scales_with_guest_load(cloud: RealNova, engine: QueryService) -> None:
    def alarm(policy: str, comparison: str, threshold: float) -> dict[str, Any]:
        properties = {
            "resource_type": "instance",
            "metric": "cpu_util",
            "aggregation_method": "mean",
            "granularity": 1,
            "evaluation_periods": 1,
            "comparison_operator": comparison,
            "threshold": threshold,
            "query": {
                "str_replace": {
                    "template": '{"=": {"server_group": "stack"}}',
                    "params": {"stack": {"get_param": "OS::stack_id"}},
                }
            },
            "alarm_actions": [{"get_attr": [policy, "alarm_url"]}],
            "repeat_actions": True,
        }
        return {"type": "OS::Aodh::GnocchiAggregationByResourcesAlarm", "properties": properties}

    def policy(amount: int) -> dict[str, Any]:
        properties = {
            "auto_scaling_group_id": {"get_resource": "group"},
            "adjustment_type": "change_in_capacity",
            "scaling_adjustment": amount,
            "cooldown": 1,
        }
        return {"type": "OS::Heat::ScalingPolicy", "properties": properties}

    resources = {
        "group": group(BUSY),
        "grow": policy(1),
        "shrink": policy(-1),
        "busy": alarm("grow", "gt", 20.0),
        "idle": alarm("shrink", "lt", 10.0),
    }
    create(engine, "scales", resources)
    cloud.until(lambda: state(engine, "scales") == "CREATE_COMPLETE", 60)

    def size_with_alarms() -> int:
        cloud.other("POST", "/control/evaluations", {})
        return len(members(engine, "scales"))

    reaches: Callable[[int], None] = lambda size: cloud.until(lambda: size_with_alarms() == size, 90)  # noqa: E731
    reaches(2)
    reaches(1)
    [last] = members(engine, "scales").values()
    assert cloud.status(last) == "ACTIVE"
    cloud.until(lambda: "IDLE AGAIN" in cloud.console(last), 90)
