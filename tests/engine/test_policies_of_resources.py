"""CloudFormation's CreationPolicy and UpdateReplacePolicy: what a creation waits for, and what a replacement leaves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.base.errors import BadValue, NotSupported, ResourceActionNotSupported, TemplateInvalid
from stoker_foundation.clock import ManualClock
from testing.harness import RARE_HEARTBEATS, World

REF = {"name": "web", "id": None}
THING = "OS::Heat::TestResource"


def template(**resources: Any) -> dict[str, Any]:
    return {"AWSTemplateFormatVersion": "2010-09-09", "Resources": resources}


def condition(count: Any = 2, timeout: str = "PT12H", **keys: Any) -> dict[str, Any]:
    policy = {"ResourceSignal": {"Count": count, "Timeout": timeout}}
    return {"Type": "AWS::CloudFormation::WaitCondition", "CreationPolicy": policy, **keys}


def instance(flavor: str = "m1.tiny", device: str = "a", policy: Mapping[str, Any] | None = None) -> dict[str, Any]:
    properties = {"ImageId": "cirros", "InstanceType": flavor, "UserData": device}
    return {
        "Type": "AWS::EC2::Instance",
        "CreationPolicy": policy or {"ResourceSignal": {"Timeout": "PT12H"}},
        "Properties": properties,
    }


async def begin(world: World, definition: dict[str, Any], **arguments: Any) -> str:
    created = await world.call("stack_create", name="web", template=definition, disable_rollback=True, **arguments)
    return str(created["id"])


async def awaiting(world: World, stack_id: str, name: str) -> None:
    """Let things happen until the resource waits for signals."""
    run = world.engine.runs[stack_id]

    def waits() -> bool:
        state = run.current.get(name)
        return state is not None and bool(state.stored.progress.get("made_before_signals"))

    await world.until(waits)


async def signal(world: World, name: str, identifier: str, status: str = "SUCCESS", reason: str = "") -> None:
    details = {"UniqueId": identifier, "Status": status, "Reason": reason, "Data": ""}
    await world.call("resource_signal", ref=REF, name=name, details=details)


async def status_of(world: World, name: str) -> str:
    shown = (await world.resources("web"))[name]
    return f"{shown['action']}_{shown['status']}"


# -- creation policies ------------------------------------------------------------------------------------------------


async def test_creation_policy_counts_distinct_signals(world: World) -> None:
    stack_id = await begin(world, template(ready=condition(count="2")))
    await awaiting(world, stack_id, "ready")
    await signal(world, "ready", "one")
    await signal(world, "ready", "one")
    for _ in range(20):
        await world.turn()
    assert await status_of(world, "ready") == "CREATE_IN_PROGRESS"
    await signal(world, "ready", "two")
    assert (await world.settle(stack_id))["status"] == "COMPLETE"
    events = await world.call("event_list", ref=REF, resource_name="ready")
    received = [event["status_reason"] for event in events if event["action"] == "SIGNAL"]
    assert sorted(received) == [f"Received SUCCESS signal with UniqueId {name}" for name in ("one", "two")]


async def test_a_failure_fails_the_creation_with_its_reason(world: World) -> None:
    stack_id = await begin(world, template(server=instance()))
    await awaiting(world, stack_id, "server")
    await signal(world, "server", "i-1", "FAILURE", "no space left")
    stack = await world.settle(stack_id)
    assert stack["status"] == "FAILED"
    assert "WaitConditionFailure" in stack["status_reason"] and "i-1: no space left" in stack["status_reason"]


async def test_a_completed_action_can_be_reported_as_failed_later(world: World) -> None:
    stack_id = await begin(world, template(ready=condition()))
    await awaiting(world, stack_id, "ready")
    await signal(world, "ready", "one")
    await signal(world, "ready", "one", "FAILURE")
    assert "Received 1 FAILURE signal(s)" in (await world.settle(stack_id))["status_reason"]


async def test_creation_policy_times_out(world: World) -> None:
    """Without a Timeout it is five minutes from the beginning of the creation."""
    began = world.clock.now()
    definition = condition(CreationPolicy={"ResourceSignal": {}})
    stack = await world.settle(await begin(world, template(ready=definition)))
    assert 300 <= world.clock.now() - began < 400
    assert "1 of 1 resource signal(s) not received within 300 seconds" in stack["status_reason"]
    assert "openstack console log show" in stack["status_reason"]


async def test_signals_and_the_deadline_survive_a_restart(served: ServedCloud, tmp_path: Path) -> None:
    clock = ManualClock(1_700_000_000.0)
    world = await World(tmp_path / "stoker.db", served, clock=clock, settings=RARE_HEARTBEATS).start()
    began = clock.now()
    stack_id = await begin(world, template(ready=condition(count=3, timeout="PT50M")))
    await awaiting(world, stack_id, "ready")
    await signal(world, "ready", "one")
    await world.stop()
    clock.advance(1500)
    world = await World(tmp_path / "stoker.db", served, clock=clock, settings=RARE_HEARTBEATS).start()
    try:
        await awaiting(world, stack_id, "ready")
        await signal(world, "ready", "two")
        stack = await world.settle(stack_id)
        assert "1 of 3 resource signal(s) not received within 3000 seconds" in stack["status_reason"]
        assert 1500 + 3000 <= clock.now() - began < 1500 + 3100  # time without an engine does not count
    finally:
        await world.stop()


async def test_a_replacement_waits_too_and_other_updates_do_not(world: World) -> None:
    stack_id = await begin(world, template(server=instance()))
    await awaiting(world, stack_id, "server")
    await signal(world, "server", "first")
    assert (await world.settle(stack_id))["status"] == "COMPLETE"
    assert (await world.update("web", template(server=instance("m1.small"))))["status"] == "COMPLETE"
    await world.call("stack_update", ref=REF, template=template(server=instance("m1.small", device="b")))
    await awaiting(world, stack_id, "server")
    assert await status_of(world, "server") == "CREATE_IN_PROGRESS"
    await signal(world, "server", "first")
    assert (await world.settle(stack_id))["status"] == "COMPLETE"


def group(percent: int, count: int = 3) -> dict[str, Any]:
    launch = {"ImageId": "cirros", "InstanceType": "m1.tiny"}
    scaled = {
        "Type": "AWS::AutoScaling::AutoScalingGroup",
        "CreationPolicy": {
            "ResourceSignal": {"Count": count, "Timeout": "PT12H"},
            "AutoScalingCreationPolicy": {"MinSuccessfulInstancesPercent": percent},
        },
        "Properties": {
            "AvailabilityZones": [],
            "LaunchConfigurationName": {"Ref": "launch"},
            "MinSize": 1,
            "MaxSize": 3,
        },
    }
    return template(launch={"Type": "AWS::AutoScaling::LaunchConfiguration", "Properties": launch}, group=scaled)


async def test_minimum_successful_instances_suffice(world: World) -> None:
    """50 % of three are two."""
    stack_id = await begin(world, group(50))
    await awaiting(world, stack_id, "group")
    await signal(world, "group", "one", "FAILURE")
    await signal(world, "group", "two")
    for _ in range(20):
        await world.turn()
    assert await status_of(world, "group") == "CREATE_IN_PROGRESS"
    await signal(world, "group", "three")
    assert (await world.settle(stack_id))["status"] == "COMPLETE"


async def test_update_waits_for_missing_signals_of_group(world: World) -> None:
    stack_id = await begin(world, group(100, count=2))
    await awaiting(world, stack_id, "group")
    await signal(world, "group", "one")
    await signal(world, "group", "two", "FAILURE")
    assert (await world.settle(stack_id))["status"] == "FAILED"
    await world.call("stack_update", ref=REF, template=group(100, count=2))
    await awaiting(world, stack_id, "group")
    await signal(world, "group", "two")
    assert (await world.settle(stack_id))["status"] == "COMPLETE"


async def test_creation_policy_on_unsupported_resources(world: World) -> None:
    plain = instance()
    del plain["CreationPolicy"]
    stack_id = await begin(world, template(ready=condition(), plain=plain))
    await awaiting(world, stack_id, "ready")
    await world.until(lambda: "plain" in world.engine.runs[stack_id].current)
    none: list[dict[str, Any]] = [
        {},
        {"UniqueId": "a"},
        {"UniqueId": "a", "Status": "OK"},
        {"UniqueId": 1, "Status": "SUCCESS"},
        {"UniqueId": "a" * 65, "Status": "SUCCESS"},
        {"UniqueId": "a", "Status": "SUCCESS", "id": "a"},
    ]
    for details in none:
        with pytest.raises(BadValue):
            await world.call("resource_signal", ref=REF, name="ready", details=details)
    with pytest.raises(ResourceActionNotSupported):
        await signal(world, "plain", "one")
    await signal(world, "ready", "one")
    await signal(world, "ready", "two")
    await world.settle(stack_id)
    with pytest.raises(NotSupported, match="is not being created"):
        await signal(world, "ready", "three")


async def test_more_signals_than_are_awaited_are_not_kept(world: World) -> None:
    """The bound on what anybody who may signal can have the engine store."""
    stack_id = await begin(world, group(50, count=4))
    await world.until(lambda: "creation_signals" in _data(world, stack_id, "group"))
    for number in range(20):
        await signal(world, "group", f"{number}", "SUCCESS" if number else "FAILURE")
        if stack_id not in world.engine.runs or "creation_signals" not in _data(world, stack_id, "group"):
            break
        assert len(_data(world, stack_id, "group")["creation_signals"]) <= 5
    assert (await world.settle(stack_id))["status"] == "COMPLETE"


def _data(world: World, stack_id: str, name: str) -> Mapping[str, Any]:
    state = world.engine.runs[stack_id].current.get(name)
    return state.stored.data if state is not None else {}


@pytest.mark.parametrize(
    ("resource", "words"),
    [
        (condition(count=0), "0 is less than 1"),
        (condition(timeout="5 minutes"), "is not a duration such as PT1M30S"),
        (condition(timeout="PT13H"), "is more than PT12H"),
        (condition(CreationPolicy={"ResourceSignals": {}}), "ResourceSignals"),
        (condition(CreationPolicy={"ResourceSignal": {"Number": 1}}), "Number"),
        (condition(CreationPolicy={"AutoScalingCreationPolicy": {}}), "AutoScalingCreationPolicy"),
        (condition(CreationPolicy="PT5M"), "must be a map"),
        (condition(count={"Fn::GetAtt": ["other", "output"]}), "must not depend on resources"),
        (condition(Properties={"Timeout": 10}), "Timeout cannot be combined with a creation policy"),
        ({"Type": "AWS::CloudFormation::WaitCondition"}, "property 'Handle' is required"),
        ({"Type": THING, "UpdateReplacePolicy": "Keep"}, "there is no update replace policy 'Keep'"),
        ({"Type": THING, "UpdateReplacePolicy": {"Ref": "AWS::Region"}}, "is a literal string"),
        ({"Type": "OS::Neutron::Net", "UpdateReplacePolicy": "Snapshot"}, "cannot be kept as a snapshot"),
    ],
)
async def test_invalid_policies_are_refused(world: World, resource: dict[str, Any], words: str) -> None:
    with pytest.raises(TemplateInvalid) as caught:
        await world.create("web", template(it=resource, other={"Type": THING}))
    assert words in caught.value.message


async def test_a_creation_policy_without_effect(world: World) -> None:
    """As in Heat, a creation policy does not make a resource wait whose type does not support it."""
    definition = template(it={"Type": THING, "CreationPolicy": {"ResourceSignal": {"Count": 2}}})
    await complete(world, definition, "create")
    assert await status_of(world, "it") == "CREATE_COMPLETE"


async def test_parameters_in_a_creation_policy(world: World) -> None:
    definition = template(ready=condition(count={"Ref": "Count"}))
    definition["Parameters"] = {"Count": {"Type": "Number", "Default": 1}}
    stack_id = await begin(world, definition)
    await awaiting(world, stack_id, "ready")
    await signal(world, "ready", "one")
    assert (await world.settle(stack_id))["status"] == "COMPLETE"


# -- update replace policies ------------------------------------------------------------------------------------------


def volume(size: int, **policies: str) -> dict[str, Any]:
    hints = {"replaced_with": f"size {size}"}
    return {"Type": "OS::Cinder::Volume", "Properties": {"size": size, "scheduler_hints": hints}, **policies}


def sizes(world: World) -> list[int]:
    listed = world.served.call("GET", "/volume/v3/volumes/detail", token=world.served.token("demo", "demo"))
    return sorted(found["size"] for found in listed.json["volumes"])


def backups(world: World) -> int:
    listed = world.served.call("GET", "/volume/v3/backups", token=world.served.token("demo", "demo"))
    return len(listed.json["backups"])


async def complete(world: World, definition: dict[str, Any], action: str = "update") -> None:
    stack = await getattr(world, action)("web", definition)
    assert stack["status"] == "COMPLETE", stack["status_reason"]


@pytest.mark.parametrize(
    ("policies", "left", "copies"),
    [
        ({}, [2], 0),
        ({"UpdateReplacePolicy": "Delete"}, [2], 0),
        ({"UpdateReplacePolicy": "Delete", "DeletionPolicy": "Retain"}, [2], 0),
        ({"UpdateReplacePolicy": "Retain"}, [1, 2], 0),
        ({"UpdateReplacePolicy": "Snapshot"}, [2], 1),
        ({"UpdateReplacePolicy": "Retain", "DeletionPolicy": "Snapshot"}, [1, 2], 0),
        ({"DeletionPolicy": "Retain"}, [1, 2], 0),
    ],
)
async def test_update_replace_policy_retains_or_copies(
    world: World, policies: dict[str, str], left: list[int], copies: int
) -> None:
    """Without an update replace policy the deletion policy decides, as in Heat."""
    await complete(world, template(it=volume(1, **policies)), "create")
    await complete(world, template(it=volume(2, **policies)))
    assert (sizes(world), backups(world)) == (left, copies)


async def test_update_replace_policy_of_new_template_applies(world: World) -> None:
    await complete(world, template(it=volume(1)), "create")
    await complete(world, template(it=volume(2, UpdateReplacePolicy="Retain")))
    assert sizes(world) == [1, 2]


async def test_update_replace_policy_applies_to_replacements_only(world: World) -> None:
    """A removal from the template and the deletion of the stack follow the deletion policy."""
    both = template(gone=volume(1, UpdateReplacePolicy="Retain"), it=volume(2, UpdateReplacePolicy="Retain"))
    await complete(world, both, "create")
    await complete(world, template(it=both["Resources"]["it"]))
    assert sizes(world) == [2]
    assert (await world.delete("web"))["status"] == "COMPLETE"
    assert sizes(world) == []


async def test_a_replacement_that_is_rolled_back_leaves_nothing(world: World) -> None:
    """The one that serves again keeps its own policies: its removal afterwards is no replacement."""
    policy = {"UpdateReplacePolicy": "Retain"}
    await complete(world, template(it=volume(1, **policy)), "create")
    failing = {"Type": THING, "DependsOn": "it", "Properties": {"fail": True}}
    stack = await world.update("web", template(it=volume(2, **policy), last=failing), disable_rollback=False)
    assert (stack["action"], stack["status"]) == ("ROLLBACK", "COMPLETE")
    assert sizes(world) == [1]
    await complete(world, template(other={"Type": THING}))
    assert sizes(world) == []


@pytest.mark.parametrize(("policy", "servers"), [("Delete", 1), ("Retain", 2)])
async def test_a_failed_creation_is_replaced_under_the_policy_too(world: World, policy: str, servers: int) -> None:
    """Its object goes before the new one is made, and the plan says the same of it."""
    definition = template(server={**instance(), "UpdateReplacePolicy": policy})
    stack_id = await begin(world, definition)
    await awaiting(world, stack_id, "server")
    await signal(world, "server", "one", "FAILURE")
    assert (await world.settle(stack_id))["status"] == "FAILED"
    plan = (await world.call("stack_update_preview", ref=REF, template=definition))["plan"]
    retained = [step for step in plan["steps"] if "object-retained" in {each["code"] for each in step["reasons"]}]
    assert len(retained) == servers - 1
    await world.call("stack_update", ref=REF, template=definition)
    await awaiting(world, stack_id, "server")
    await signal(world, "server", "one")
    assert (await world.settle(stack_id))["status"] == "COMPLETE"
    listed = world.served.call("GET", "/compute/v2.1/servers", token=world.served.token("demo", "demo"))
    assert len(listed.json["servers"]) == servers
