"""Stacks that heal themselves: what is noticed, what is replaced, when nothing is done, and how often it is tried."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import ActionInProgress, BadValue
from stoker.cloud.credentials import TokenCredential
from stoker.engine.inspection.health import unhealthy_in
from stoker.engine.ownership.healing import heal
from stoker.engine.ownership.healing_schedule import LONGEST_PAUSE, MOST_FAILURES, interval_of, next_attempt
from stoker.engine.settings import EngineSettings
from stoker.plugins.registry import Registry
from stoker.store import queries
from stoker.store.records import COMPLETE, FAILED, HEALING, Operation
from testing.harness import World

REF = {"name": "web", "id": None}
SERVER = {
    "type": "OS::Nova::Server",
    "properties": {"flavor": "m1.tiny", "image": "cirros", "networks": [{"network": "private"}]},
}
GROUPS = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "scaling": {
            "type": "OS::Heat::AutoScalingGroup",
            "properties": {"min_size": 1, "max_size": 3, "desired_capacity": 2, "resource": SERVER},
        },
        "counted": {"type": "OS::Heat::ResourceGroup", "properties": {"count": 1, "resource_def": SERVER}},
        "net": {"type": "OS::Neutron::Net"},
        "volume": {"type": "OS::Cinder::Volume", "properties": {"size": 1}},
    },
}


@pytest.fixture
async def world(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    settings = EngineSettings(lease_seconds=5000.0, heartbeat_seconds=5.0, stack_action_timeout=10_000_000)
    world = World(tmp_path / "stoker.db", served, settings=settings)
    yield await world.start()
    await world.stop()


async def operations(world: World, stack_id: str) -> list[Operation]:
    return await world.database.read(queries.operations_of, stack_id)


async def passes(world: World, seconds: float) -> None:
    """Let time pass, more quickly than by `World.turn`, while nothing but health checks happens."""
    for _ in range(int(seconds / 5)):
        world.clock.advance(5)  # type: ignore[attr-defined]
        for _ in range(5):
            await world.turn()


async def healed(world: World, stack_id: str, attempts: int = 1) -> dict[str, Any]:
    """The stack after that many attempts."""
    for _ in range(4000):
        begun = [one for one in await operations(world, stack_id) if one.cause == HEALING]
        if len(begun) >= attempts and all(one.finished_at for one in begun):
            return await world.settle(stack_id)
        await world.turn()
    raise AssertionError("the stack is not healed")


async def asked(world: World, method: str, service: str, path: str, **how: Any) -> Any:
    """Do something to an object behind Stoker's back, and return the answer."""
    cloud = await world.pool.cloud(TokenCredential(world.context.token))
    return (await cloud.request(method, service, path, **how)).body


async def stopped(world: World, server_id: str) -> None:
    await asked(world, "POST", "nova", f"/servers/{server_id}/action", json={"os-stop": None})


async def identifiers(world: World) -> dict[str, str]:
    return {
        row["physical_id"]: row["name"]
        for row in await world.listed(REF, nested_depth=2)
        if row["type"] not in ("OS::Heat::AutoScalingGroup", "OS::Heat::ResourceGroup")
    }


async def test_healing_replaces_failed_objects_only(world: World) -> None:
    made = await world.create("web", GROUPS, tags=["stoker:heal=10"])
    before = await identifiers(world)
    groups = await world.resources("web")
    inside = [{"name": None, "id": groups[name]["physical_id"]} for name in ("scaling", "counted")]
    lost, gone = [(await world.listed(group))[0]["physical_id"] for group in inside]
    net = groups["net"]["physical_id"]
    events = await world.call("event_list", ref=REF)
    await passes(world, 60)
    assert await world.call("event_list", ref=REF) == events, "a health check of healthy objects leaves no trace"

    await stopped(world, lost)
    await asked(world, "DELETE", "nova", f"/servers/{gone}")
    await asked(world, "DELETE", "neutron", f"/v2.0/networks/{net}")
    while {lost, gone, net} & set(after := await identifiers(world)):
        await world.turn()
    shown = await world.settle(made["id"])

    assert (shown["action"], shown["status"]) == ("UPDATE", COMPLETE), shown["status_reason"]
    assert len(after := await identifiers(world)) == len(before) and set(before) - set(after) == {lost, gone, net}
    reported = [event["status_reason"] for event in await world.call("event_list", ref=REF, nested_depth=2)]
    assert "the server is SHUTOFF" in reported and "the object does not exist any more" in reported
    started = [reason for reason in reported if reason.startswith("Healing of")]
    assert all(reason.endswith("started (attempt 1 of 5)") for reason in started) and "net" in "".join(started)
    await passes(world, 60)
    assert len(await operations(world, made["id"])) == 1 + len(started), "what is healthy again is left alone"


async def test_healing_is_limited_to_marked_resources(world: World) -> None:
    template = {"heat_template_version": "2021-04-16", "resources": {"server": SERVER}}
    made = await world.create("web", template)
    server_id = (await world.resources("web"))["server"]["physical_id"]
    await stopped(world, server_id)
    await passes(world, 60)
    assert len(await operations(world, made["id"])) == 1, "the stack does not ask for it"

    broken = {
        **template,
        "resources": {"server": SERVER, "bad": {"type": "OS::Heat::TestResource", "properties": {"fail": True}}},
    }
    shown = await world.update("web", broken, tags=["stoker:heal=10"], disable_rollback=True)
    assert shown["status"] == FAILED
    await passes(world, 60)
    assert len(await operations(world, made["id"])) == 2, "a user's update has failed"

    await world.update("web", template, tags=["stoker:heal=10"])
    await world.call("stack_action", ref=REF, action="suspend")
    await world.settle(made["id"])
    await passes(world, 60)
    assert len(await operations(world, made["id"])) == 4, "the stack is suspended"


async def test_user_operation_or_stack_policy_prevents_healing(world: World) -> None:
    template = {"heat_template_version": "2021-04-16", "resources": {"server": SERVER}}
    made = await world.create("web", template, tags=["stoker:heal=10"])
    stale = await world.database.read(queries.stack_by_id, made["id"])
    assert stale is not None
    await stopped(world, (await world.resources("web"))["server"]["physical_id"])
    policy = {"Statement": {"Effect": "Allow", "Action": "Update:*", "Principal": "*", "Resource": "*"}}
    await world.call("stack_settings_change", ref=REF, changes={"policy": policy})
    await passes(world, 60)
    assert len(await operations(world, made["id"])) == 1

    await world.call("stack_settings_change", ref=REF, changes={"policy": None})
    [found] = await unhealthy_in(world.engine.services, stale)
    await world.call("stack_action", ref=REF, action="check")
    with pytest.raises(ActionInProgress):
        await heal(world.engine.submissions.components, stale, [found], 1)
    await world.settle(made["id"])
    with pytest.raises(ActionInProgress, match="has changed since"):
        await heal(world.engine.submissions.components, stale, [], 1)
    assert (await healed(world, made["id"]))["status"] == COMPLETE, "what the check has found is healed"


async def test_a_locked_stack_is_healed_when_it_is_unlocked(world: World) -> None:
    template = {"heat_template_version": "2021-04-16", "resources": {"server": SERVER}}
    made = await world.create("web", template, tags=["stoker:heal=10"])
    await world.call("stack_lock", ref=REF, reason="an inspection")
    await stopped(world, (await world.resources("web"))["server"]["physical_id"])
    await passes(world, 60)
    assert len(await operations(world, made["id"])) == 1
    row = (await world.resources("web"))["server"]
    assert (row["action"], row["status"]) == ("CREATE", COMPLETE), "nothing is marked, either"
    await world.call("stack_unlock", ref=REF)
    assert (await healed(world, made["id"]))["status"] == COMPLETE


async def test_healing_backs_off_and_stops(world: World) -> None:
    parts = {"net": {"type": "OS::Neutron::Net", "properties": {"name": "one"}}}
    made = await world.create(
        "web", {"heat_template_version": "2021-04-16", "resources": parts}, tags=["stoker:heal=10"]
    )
    net = (await world.resources("web"))["net"]["physical_id"]
    fault = Fault(on="POST /network/v2.0/networks", do="fail", status=400)
    world.in_cloud(lambda: world.served.cloud.faults.add(fault))
    await asked(world, "DELETE", "neutron", f"/v2.0/networks/{net}")

    shown = await healed(world, made["id"], MOST_FAILURES)
    await passes(world, 400)

    attempts = [one for one in reversed(await operations(world, made["id"])) if one.cause == HEALING]
    assert len(attempts) == MOST_FAILURES and {one.status for one in attempts} == {FAILED}
    pauses = [later.created_at - (one.finished_at or 0) for one, later in itertools.pairwise(attempts)]
    for pause, least in zip(pauses, (10, 20, 40, 80), strict=True):
        assert least <= pause < least + 26
    reasons = [event["status_reason"] for event in await world.call("event_list", ref=REF)]
    assert "Healing of net started (attempt 5 of 5)" in reasons
    assert shown["status"] == FAILED

    world.in_cloud(world.served.cloud.faults.clear)
    await world.call("stack_action", ref=REF, action="check")
    await world.settle(made["id"])
    shown = await healed(world, made["id"], MOST_FAILURES + 1)
    assert shown["status"] == COMPLETE, "a user's check begins the count again"


def attempt(created: float, status: str = COMPLETE, cause: str | None = HEALING, action: str = "UPDATE") -> Operation:
    return Operation(
        id=str(created),
        stack_id="s",
        action=action,
        status=status,
        inputs="i",
        created_at=created,
        started_at=created,
        finished_at=created + 5,
        deadline=None,
        cause=cause,
    )


def test_healing_backoff_delay() -> None:
    mine = attempt(10, cause=None)
    assert next_attempt([mine], 60) == 0
    assert next_attempt([attempt(100), mine], 60) == 165
    assert next_attempt([attempt(900), attempt(100), mine], 60) == 905 + 120
    assert next_attempt([*[attempt(1000 - step) for step in range(20)], mine], 60) == 1005 + LONGEST_PAUSE
    rolled_back = [attempt(102, action="ROLLBACK"), attempt(100, FAILED)]
    assert next_attempt([*rolled_back, mine], 60) == 107 + 60
    failed = [attempt(1000 - step, FAILED) for step in range(MOST_FAILURES)]
    assert next_attempt([*failed, mine], 60) is None
    assert next_attempt([mine, *failed], 60) == 0
    assert next_attempt([attempt(200_000), attempt(100), mine], 60) == 200_065, "what was long ago is forgotten"


@pytest.mark.parametrize("tag", ["stoker:heal=", "stoker:heal=9", "stoker:heal=often", "stoker:heal=1e3"])
async def test_invalid_heal_tag_is_refused(world: World, tag: str) -> None:
    assert interval_of("stoker:heal=120", 60) == 120 and interval_of("stoker:heal", 60) == 60
    with pytest.raises(BadValue, match="the interval must be an integer of at least 10"):
        await world.call("stack_create", name="web", template=GROUPS, tags=[tag])


def test_ha_restarter_can_be_disabled() -> None:
    for options, enabled in (({}, True), ({"restart_on_signal": False}, False)):
        assert getattr(Registry.from_entry_points(options).types.get("OS::Heat::HARestarter"), "enabled") is enabled  # noqa: B009


async def test_ha_restarter_replaces_instance_and_dependents(world: World) -> None:
    attached = {"volume_id": {"get_resource": "volume"}, "instance_uuid": {"get_resource": "server"}}
    parts = {
        "server": SERVER,
        "volume": {"type": "OS::Cinder::Volume", "properties": {"size": 1}},
        "attached": {"type": "OS::Cinder::VolumeAttachment", "properties": attached},
        "restarter": {"type": "OS::Heat::HARestarter", "properties": {"InstanceId": {"get_resource": "server"}}},
        "old": {"type": "OS::Heat::HARestarter", "properties": {"anything": 1}},
    }
    outputs = {"url": {"value": {"get_attr": ["restarter", "AlarmUrl"]}}}
    made = await world.create(
        "web", {"heat_template_version": "2021-04-16", "resources": parts, "outputs": outputs}, disable_rollback=True
    )
    assert made["status"] == COMPLETE, made["status_reason"]
    before = await world.resources("web")
    await world.call("resource_signal", ref=REF, name="old", details=None)
    assert len(await operations(world, made["id"])) == 1, "without InstanceId it is a placeholder"

    await world.call("resource_signal", ref=REF, name="restarter", details={"current": "alarm"})
    await world.call("resource_signal", ref=REF, name="restarter", details={"current": "alarm"})
    shown = await healed(world, made["id"])

    assert shown["status"] == COMPLETE, shown["status_reason"]
    after = await world.resources("web")
    changed = {name for name in after if after[name]["physical_id"] != before[name]["physical_id"]}
    assert changed == {"server"}
    volume = await asked(world, "GET", "cinder", f"/volumes/{after['volume']['physical_id']}")
    assert [each["server_id"] for each in volume["volume"]["attachments"]] == [after["server"]["physical_id"]]
    reasons = [event["status_reason"] for event in await world.call("event_list", ref=REF)]
    assert "replacement of server started" in reasons and "restarter has received a signal" in reasons
    await world.call("resource_signal", ref=REF, name="restarter", details=None)
    assert len(await operations(world, made["id"])) == 2, "a repeated alarm has to wait"
    await passes(world, 90)
    await world.call("resource_signal", ref=REF, name="restarter", details=None)
    await healed(world, made["id"], 2)
    assert (await world.delete("web"))["status"] == COMPLETE
