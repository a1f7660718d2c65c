"""Load balancers of instances, and groups that register their members with them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.base.errors import TemplateInvalid
from stoker.engine.settings import EngineSettings
from testing.harness import World

SIGNALS = "http://cfn.example:8000/v1/waitcondition"
CONFIGURATION = "/etc/haproxy/haproxy.cfg"
SMALL = """
HeatTemplateFormatVersion: "2012-12-12"
Parameters: {KeyName: {Type: String}, LbFlavor: {Type: String, Default: m1.tiny}}
Resources:
  LB_instance:
    Type: AWS::EC2::Instance
    Properties: {ImageId: cirros, InstanceType: {Ref: LbFlavor}, KeyName: {Ref: KeyName}}
Outputs: {PublicIp: {Value: {"Fn::GetAtt": [LB_instance, PublicIp]}}}
"""
MakeWorld = Callable[..., Awaitable[World]]


@pytest.fixture
async def make_world(served: ServedCloud, tmp_path: Path) -> AsyncIterator[MakeWorld]:
    worlds: list[World] = []

    async def make(template: str | None = SMALL) -> World:
        options = {"heat_waitcondition_server_url": SIGNALS}
        if template is not None:
            (tmp_path / "balancer.template").write_text(template)
            options["loadbalancer_template"] = str(tmp_path / "balancer.template")
        settings = EngineSettings(type_options=options, enable_stack_abandon=True, enable_stack_adopt=True)
        worlds.append(World(tmp_path / "stoker.db", served, settings=settings))
        return await worlds[-1].start()

    yield make
    for world in worlds:
        await world.stop()


def balancer(**properties: Any) -> dict[str, Any]:
    health = {"HealthyThreshold": 2, "Interval": 30, "Target": "HTTP:80/up", "Timeout": 5, "UnhealthyThreshold": 3}
    listeners = [{"InstancePort": 8080, "LoadBalancerPort": 80, "Protocol": "HTTP"}]
    body = {"AvailabilityZones": [], "Listeners": listeners, "HealthCheck": health, **properties}
    return {"Type": "AWS::ElasticLoadBalancing::LoadBalancer", "Properties": body}


def template(**resources: Any) -> dict[str, Any]:
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Parameters": {"LbImageId": {"Type": "String", "Default": "cirros"}},
        "Resources": resources,
        "Outputs": {"name": {"Value": {"Fn::GetAtt": ["balancer", "DNSName"]}}},
    }


def scaled(size: int = 1, flavor: str = "m1.tiny", **group: Any) -> dict[str, Any]:
    launch = {"ImageId": "cirros", "InstanceType": flavor}
    body = {"AvailabilityZones": [], "LaunchConfigurationName": {"Ref": "launch"}, "MinSize": size, "MaxSize": 3}
    scaling = {"AutoScalingGroupName": {"Ref": "group"}, "AdjustmentType": "ChangeInCapacity"}
    return {
        "balancer": balancer(),
        "launch": {"Type": "AWS::AutoScaling::LaunchConfiguration", "Properties": launch},
        "group": {
            "Type": "AWS::AutoScaling::AutoScalingGroup",
            "Properties": {**body, "LoadBalancerNames": [{"Ref": "balancer"}], **group},
            "UpdatePolicy": {"AutoScalingRollingUpdate": {"MinInstancesInService": 1, "MaxBatchSize": 1}},
        },
        **{
            name: {"Type": "AWS::AutoScaling::ScalingPolicy", "Properties": {**scaling, "ScalingAdjustment": amount}}
            for name, amount in (("up", 1), ("down", -1))
        },
    }


async def configured(world: World) -> str:
    """HAProxy's configuration, as the agent in the server reads it."""
    nested = {"name": None, "id": (await world.resources("web"))["balancer"]["physical_id"]}
    metadata = await world.call("resource_metadata", ref=nested, name="LB_instance")
    content = metadata["AWS::CloudFormation::Init"]["config"]["files"][CONFIGURATION]["content"]
    assert isinstance(content, str)
    return content


def addresses(world: World) -> dict[str, str]:
    """The first address of each server of the project, by ID."""
    token = world.served.token("demo", "demo")
    servers = world.served.call("GET", "/compute/v2.1/servers/detail", token=token).json["servers"]
    return {server["id"]: next(iter(server["addresses"].values()))[0]["addr"] for server in servers}


async def members(world: World) -> set[str]:
    """The addresses of the group's instances."""
    group = (await world.resources("web"))["group"]["physical_id"]
    rows = await world.listed({"name": None, "id": group})
    return {addresses(world)[row["physical_id"]] for row in rows}


def balanced(content: str) -> set[str]:
    return {line.split()[2].partition(":")[0] for line in content.splitlines() if line.strip().startswith("server ")}


async def test_a_load_balancer_of_given_instances(make_world: MakeWorld) -> None:
    world = await make_world()
    servers = {
        name: {"Type": "AWS::EC2::Instance", "Properties": {"ImageId": "cirros", "InstanceType": "m1.tiny"}}
        for name in ("a", "b")
    }
    definition = template(balancer=balancer(Instances=[{"Ref": "a"}]), **servers)
    stack = await world.create("web", definition)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    rows = await world.resources("web", depth=1)
    found = addresses(world)
    assert world.outputs(stack)["name"] == found[rows["LB_instance"]["physical_id"]]
    content = await configured(world)
    first = found[rows["a"]["physical_id"]]
    assert "bind *:80\n" in content and "option httpchk GET /up\n" in content and "timeout check 5s\n" in content
    assert f"    server server1 {first}:8080 check port 80 inter 30s fall 3 rise 2\n" in content
    definition["Resources"]["balancer"]["Properties"]["Instances"] = [{"Ref": "b"}]
    assert (await world.update("web", definition))["status"] == "COMPLETE"
    assert balanced(await configured(world)) == {found[rows["b"]["physical_id"]]}
    after = await world.resources("web", depth=1)
    assert after["LB_instance"]["physical_id"] == rows["LB_instance"]["physical_id"]
    document = await world.call("stack_abandon", ref={"name": "web", "id": None})
    await world.settle(stack["id"])
    stack = await world.create("web", None, adopt_stack_data=document)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    adopted = await world.resources("web", depth=1)
    assert adopted["LB_instance"]["physical_id"] == rows["LB_instance"]["physical_id"]
    assert balanced(await configured(world)) == {found[rows["b"]["physical_id"]]}
    for action in ("suspend", "resume", "check"):
        await world.call("stack_action", ref={"name": "web", "id": None}, action=action)
        assert (await world.settle(stack["id"]))["status"] == "COMPLETE"
    assert (await world.delete("web"))["status"] == "COMPLETE"
    assert addresses(world) == {}


async def test_members_of_a_group_are_registered_and_removed(make_world: MakeWorld) -> None:
    world = await make_world()
    stack = await world.create("web", template(**scaled(size=1)))
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert balanced(await configured(world)) == await members(world)
    group = (await world.resources("web"))["group"]["physical_id"]
    for policy, size in (("up", 2), ("down", 1)):
        await world.call("resource_signal", ref={"name": "web", "id": None}, name=policy)
        await world.settle(group)
        assert len(await members(world)) == size
        assert balanced(await configured(world)) == await members(world)
    updated = await world.update("web", template(**scaled(size=2, flavor="m1.small")))
    assert updated["status"] == "COMPLETE", updated["status_reason"]
    assert balanced(await configured(world)) == await members(world)
    without = scaled()
    del without["group"], without["up"], without["down"]
    assert (await world.update("web", template(**without)))["status"] == "COMPLETE"
    assert balanced(await configured(world)) == set()
    assert (await world.delete("web"))["status"] == "COMPLETE"


async def test_instances_are_registered_while_a_change_of_the_load_balancer_keeps_them(make_world: MakeWorld) -> None:
    world = await make_world(None)
    group = {"AvailabilityZones": [], "LaunchConfigurationName": {"Ref": "launch"}, "Size": 1}
    resources = {
        **{name: value for name, value in scaled().items() if name in ("balancer", "launch")},
        "group": {
            "Type": "OS::Heat::InstanceGroup",
            "Properties": {**group, "LoadBalancerNames": [{"Ref": "balancer"}]},
        },
    }
    created = await world.call("stack_create", name="web", template=template(**resources))
    await answered(world, created["id"])
    assert balanced(await configured(world)) == await members(world) != set()
    secured = {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "web"}}
    resources = {**resources, "secured": secured, "balancer": balancer(SecurityGroups=[{"Ref": "secured"}])}
    await world.call("stack_update", ref={"name": "web", "id": None}, template=template(**resources))
    await answered(world, created["id"])
    assert balanced(await configured(world)) == await members(world) != set()
    metadata = (await world.resources("web", depth=1))["CfnLBAccessKey"]
    assert metadata["status"] == "COMPLETE"
    assert (await world.delete("web"))["status"] == "COMPLETE"


async def answered(world: World, stack_id: str) -> None:
    """Wait until the operation ends; the server of the load balancer reports that it is set up."""
    signal = {"Status": "SUCCESS", "UniqueId": "1", "Reason": "", "Data": ""}
    for _ in range(2000):
        rows = await world.resources("web", depth=1)
        waiting = rows.get("WaitCondition")
        if waiting is not None and (waiting["action"], waiting["status"]) == ("CREATE", "IN_PROGRESS"):
            ref = {"name": None, "id": rows["balancer"]["physical_id"]}
            await world.call("resource_signal", ref=ref, name="WaitHandle", details=signal)
        if world.engine.runs.get(stack_id) is None:
            break
        await world.turn()
    stack = await world.settle(stack_id)
    assert stack["status"] == "COMPLETE", stack["status_reason"]


async def test_impossible_requests_are_refused(make_world: MakeWorld) -> None:
    world = await make_world("HeatTemplateFormatVersion: '2012-12-12'\nResources: {}\n")
    health = {"HealthyThreshold": 2, "Interval": 3, "Target": "HTTPS:80", "Timeout": 5, "UnhealthyThreshold": 3}
    listener = {"InstancePort": 80, "LoadBalancerPort": 80, "Protocol": "TCP"}
    with pytest.raises(TemplateInvalid) as refused:
        await world.create("web", template(balancer=balancer(HealthCheck=health, Listeners=[listener, listener])))
    for words in ("no resource LB_instance", "Interval (3)", "'HTTPS:80' is not", "port 80 is used twice"):
        assert words in str(refused.value)


async def test_reference_of_other_type_is_refused(make_world: MakeWorld) -> None:
    world = await make_world()
    resources = {name: value for name, value in scaled(LoadBalancerNames=["launch"]).items() if name != "balancer"}
    definition = template(**resources)
    del definition["Outputs"]
    stack = await world.create("web", definition)
    assert stack["status"] == "FAILED"
    assert "'launch' is not the reference of a load balancer" in stack["status_reason"]
