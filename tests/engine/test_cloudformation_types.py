"""Types spelled as CloudFormation does, and those of their kin, through the engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import BaseTestServer, TestServer

from openstack_emulator.testing import ServedCloud
from stoker.base.errors import (
    BadValue,
    Forbidden,
    RequestLimitExceeded,
    ResourceActionNotSupported,
    TemplateInvalid,
)
from stoker.engine.settings import EngineSettings
from testing.harness import RARE_HEARTBEATS, World

SIGNALS = "http://cfn.example:8000/v1/waitcondition"
REF = {"name": "web", "id": None}


@pytest.fixture
async def world(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    settings = replace(RARE_HEARTBEATS, type_options={"heat_waitcondition_server_url": SIGNALS})
    world = World(tmp_path / "stoker.db", served, settings=settings)
    await world.start()
    yield world
    await world.stop()


def template(**resources: Any) -> dict[str, Any]:
    outputs = resources.pop("Outputs", {})
    return {"AWSTemplateFormatVersion": "2010-09-09", "Resources": resources, "Outputs": outputs}


def shown(**values: Any) -> dict[str, Any]:
    return {name: {"Value": value} for name, value in values.items()}


async def complete(world: World, definition: dict[str, Any], action: str = "create") -> dict[str, Any]:
    stack: dict[str, Any] = await getattr(world, action)("web", definition)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    return stack


# -- groups of instances ----------------------------------------------------------------------------------------------


def instances(flavor: str = "m1.tiny", size: int = 3, policy: dict[str, Any] | None = None) -> dict[str, Any]:
    launch = {"ImageId": "cirros", "InstanceType": flavor}
    group: dict[str, Any] = {
        "Type": "OS::Heat::InstanceGroup",
        "Properties": {"AvailabilityZones": [], "LaunchConfigurationName": {"Ref": "launch"}, "Size": size},
    }
    if policy is not None:
        group["UpdatePolicy"] = {"RollingUpdate": policy}
    return template(
        launch={"Type": "AWS::AutoScaling::LaunchConfiguration", "Properties": launch},
        group=group,
        Outputs=shown(addresses={"Fn::GetAtt": ["group", "InstanceList"]}, id={"Ref": "group"}),
    )


def flavors(world: World) -> list[str]:
    token = world.served.token("demo", "demo")
    found = world.served.call("GET", "/compute/v2.1/servers/detail", token=token).json["servers"]
    listed = world.served.call("GET", "/compute/v2.1/flavors", token=token).json["flavors"]
    names = {flavor["id"]: flavor["name"] for flavor in listed}
    return sorted(names.get(server["flavor"].get("id"), server["flavor"].get("original_name")) for server in found)


async def test_instances_are_tagged_with_their_group(world: World) -> None:
    outputs = world.outputs(await complete(world, instances(size=2)))
    assert len(outputs["addresses"].split(",")) == 2
    token = world.served.token("demo", "demo")
    servers = world.served.call("GET", "/compute/v2.1/servers/detail", token=token).json["servers"]
    assert {server["metadata"]["metering.groupname"] for server in servers} == {outputs["id"]}
    assert (await world.delete("web"))["status"] == "COMPLETE"


async def test_a_new_launch_configuration_is_for_new_instances_without_a_policy(world: World) -> None:
    await complete(world, instances(size=1))
    await complete(world, instances("m1.small", size=2), "update")
    assert flavors(world) == ["m1.small", "m1.tiny"]


async def test_a_new_launch_configuration_reaches_all_instances_with_a_policy(world: World) -> None:
    policy = {"MinInstancesInService": 1, "MaxBatchSize": 1, "PauseTime": "PT10S"}
    await complete(world, instances(size=2, policy=policy))
    began = world.clock.now()
    await complete(world, instances("m1.small", size=2, policy=policy), "update")
    assert flavors(world) == ["m1.small", "m1.small"]
    assert world.clock.now() - began >= 10


async def test_new_metadata_of_a_launch_configuration_reaches_the_instances(world: World) -> None:
    definition = instances(size=1, policy={})
    await complete(world, definition)
    definition["Resources"]["launch"]["Metadata"] = {"role": "web"}
    await complete(world, definition, "update")
    nested = {"name": None, "id": (await world.resources("web"))["group"]["physical_id"]}
    (member,) = await world.listed(nested)
    assert await world.call("resource_metadata", ref=nested, name=member["name"]) == {"role": "web"}


@pytest.mark.parametrize("pause", ["PT2H", "ten seconds", "PT"])
async def test_invalid_pause_time_is_refused(world: World, pause: str) -> None:
    stack = await world.create("web", instances(size=1, policy={"PauseTime": pause}))
    assert stack["status"] == "FAILED"
    assert "PauseTime" in stack["status_reason"]


@pytest.mark.parametrize(("device", "missing"), [({}, "Ebs"), ({"Ebs": {"VolumeSize": 1}}, "Ebs.SnapshotId")])
async def test_block_device_without_snapshot_is_refused_with_alternative(
    world: World, device: dict[str, Any], missing: str
) -> None:
    given = {"ImageId": "cirros", "InstanceType": "m1.tiny", "BlockDeviceMappings": [{"DeviceName": "vdb", **device}]}
    instead = {
        "AWS::EC2::Instance": "AWS::EC2::Volume and attach it with the property Volumes",
        "AWS::AutoScaling::LaunchConfiguration": "OS::Heat::AutoScalingGroup whose members",
    }
    for kind, way in instead.items():
        body = {"AWSTemplateFormatVersion": "2010-09-09", "Resources": {"it": {"Type": kind, "Properties": given}}}
        with pytest.raises(TemplateInvalid, match=rf"BlockDeviceMappings\[0\] has no {missing}: .*{way}"):
            await world.create("web", body)
    assert (await world.call("stack_list"))["stacks"] == []


async def test_a_launch_configuration_must_be_referred_to(world: World) -> None:
    definition = instances()
    definition["Resources"]["group"]["Properties"]["LaunchConfigurationName"] = "launch"
    with pytest.raises(TemplateInvalid, match=r"LaunchConfigurationName: .* refer to a launch configuration"):
        await world.create("web", definition)
    definition["Resources"]["group"]["Properties"]["LaunchConfigurationName"] = {"Ref": "value"}
    definition["Resources"]["value"] = {"Type": "OS::Heat::Value", "Properties": {"value": 1}}
    stack = await world.create("web", definition)
    assert "is not the reference of a launch configuration" in stack["status_reason"]


async def test_members_are_what_the_environment_says(world: World) -> None:
    environment = {"resource_registry": {"OS::Heat::ScaledResource": "member.yaml"}}
    member = (
        "heat_template_version: 2021-04-16\n"
        "parameters: {ImageId: {type: string}, InstanceType: {type: string}, Tags: {type: json}}\n"
        "resources: {value: {type: OS::Heat::TestResource, properties: {value: {get_param: ImageId}}}}\n"
        "outputs: {PublicIp: {value: {get_attr: [value, output]}}}\n"
    )
    stack = await world.create("web", instances(size=2), environment=environment, files={"member.yaml": member})
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert world.outputs(stack)["addresses"] == "cirros,cirros"


async def test_auto_scaling_group_with_server_properties(world: World) -> None:
    like = {"Type": "OS::Nova::Server", "Properties": {"image": "cirros", "flavor": "m1.tiny"}}
    group = {
        "Type": "AWS::AutoScaling::AutoScalingGroup",
        "Properties": {"AvailabilityZones": [], "InstanceId": {"Ref": "like"}, "MinSize": 1, "MaxSize": 2},
    }
    await complete(world, template(like=like, group=group))
    assert flavors(world) == ["m1.tiny", "m1.tiny"]


async def test_contradictory_group_sizes_are_refused(world: World) -> None:
    properties = {"AvailabilityZones": [], "MinSize": 3, "MaxSize": 2, "VPCZoneIdentifier": ["a", "b"]}
    definition = template(group={"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": properties})
    with pytest.raises(TemplateInvalid) as refused:
        await world.create("web", definition)
    output = str(refused.value)
    assert "MaxSize" in output and "exactly one of InstanceId" in output and "VPCZoneIdentifier" in output


# -- handles ----------------------------------------------------------------------------------------------------------


def waiting(handle: str, word: str = "a") -> dict[str, Any]:
    return template(
        handle={"Type": handle},
        word={"Type": "OS::Heat::Value", "Properties": {"value": word}},
        Outputs=shown(url={"Ref": "handle"}),
    )


@pytest.mark.parametrize(
    ("handle", "stays"),
    [("AWS::CloudFormation::WaitConditionHandle", True), ("OS::Heat::UpdateWaitConditionHandle", False)],
)
async def test_a_handle_and_its_url(world: World, handle: str, stays: bool) -> None:
    before = world.outputs(await complete(world, waiting(handle)))["url"]
    assert before.startswith("http://cfn.example:8000/v1/waitcondition/arn%3Aopenstack%3Aheat")
    assert "Timestamp=" in before
    world.clock.advance(5)  # type: ignore[attr-defined]
    after = world.outputs(await complete(world, waiting(handle), "update"))["url"]
    assert (after == before) is stays
    assert (await world.delete("web"))["status"] == "COMPLETE"


@pytest.mark.parametrize(
    "details",
    [{}, {"Status": "SUCCESS"}, {"Status": "MAYBE", "Data": "", "Reason": "", "UniqueId": "1"}],
)
async def test_an_invalid_signal(world: World, details: dict[str, Any]) -> None:
    await complete(world, waiting("AWS::CloudFormation::WaitConditionHandle"))
    with pytest.raises(BadValue):
        await world.call("resource_signal", ref=REF, name="handle", details=details)


# -- chains -----------------------------------------------------------------------------------------------------------


def chain(types: list[str], **more: Any) -> dict[str, Any]:
    properties = {"resources": types, "resource_properties": {"value": "v"}, **more}
    outputs = {"all": ["output"], "first": ["resource.0.output"], "by": ["attributes", "output"], "refs": ["refs"]}
    return {
        "heat_template_version": "2021-04-16",
        "resources": {"chain": {"type": "OS::Heat::ResourceChain", "properties": properties}},
        "outputs": {name: {"value": {"get_attr": ["chain", *path]}} for name, path in outputs.items()},
    }


@pytest.mark.parametrize(("concurrent", "order"), [(False, {"0": [], "1": ["0"], "2": ["1"]}), (True, None)])
async def test_resource_chain_is_created_sequentially(
    world: World, concurrent: bool, order: dict[str, list[str]] | None
) -> None:
    stack = await complete(world, chain(["OS::Heat::TestResource"] * 3, concurrent=concurrent))
    outputs = world.outputs(stack)
    assert outputs["all"] == ["v", "v", "v"] and outputs["first"] == "v"
    assert outputs["by"] == {"0": "v", "1": "v", "2": "v"}
    rows = await world.resources("web", 1)
    needed = {name: [other for other in "012" if name in rows[other]["required_by"]] for name in "012"}
    assert needed == (order or {"0": [], "1": [], "2": []})
    stack = await complete(world, chain(["OS::Heat::TestResource"] * 2, concurrent=concurrent), "update")
    assert world.outputs(stack)["refs"] == outputs["refs"][:2]


async def test_a_resource_chain_of_an_unknown_type(world: World) -> None:
    with pytest.raises(TemplateInvalid, match="OS::Heat::Nonesuch"):
        await world.create("web", chain(["OS::Heat::Nonesuch"]))


# -- nested stacks ----------------------------------------------------------------------------------------------------

INNER = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Parameters": {"Word": {"Type": "String"}},
    "Resources": {"value": {"Type": "OS::Heat::TestResource", "Properties": {"value": {"Ref": "Word"}}}},
    "Outputs": {"Said": {"Value": {"Fn::GetAtt": ["value", "output"]}}},
}


@pytest.fixture
async def shelf() -> AsyncIterator[BaseTestServer]:
    """Where a template can be fetched."""

    async def serve(request: web.Request) -> web.Response:
        return web.json_response(INNER)

    async def broken(request: web.Request) -> web.Response:
        name = request.match_info["name"]
        url = str(request.url.with_name("endless.template" if name == "endless" else "unknown-type.template"))
        inner: dict[str, Any] = {
            "unknown-type": {"Type": "No::Such::Type"},
            "slow": {"Type": "OS::Heat::TestResource", "Properties": {"wait_secs": 1000}},
            "unknown-image": {
                "Type": "OS::Nova::Server",
                "Properties": {"image": "no-such-image", "flavor": "m1.tiny"},
            },
        }
        resource = inner.get(name, {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": url}})
        body = {**INNER, "Parameters": {"Word": {"Type": "String", "Default": ""}}, "Resources": {"it": resource}}
        return web.json_response([] if name == "no-mapping" else {**body, "Outputs": {}})

    application = web.Application()
    application.router.add_get("/inner.template", serve)
    application.router.add_get("/{name:no-mapping|slow|unknown-type|unknown-image|deep|endless}.template", broken)
    async with TestServer(application) as server:
        yield server


@pytest.fixture
async def near(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    """A world whose operator lets templates be fetched from this machine."""
    settings = EngineSettings(type_options={"template_fetch_networks": ["127.0.0.0/8"]})
    world = await World(tmp_path / "near.db", served, settings=settings).start()
    yield world
    await world.stop()


def nested(url: str, word: str = "hello") -> dict[str, Any]:
    properties = {"TemplateURL": url, "Parameters": {"Word": word}}
    return template(
        inner={"Type": "AWS::CloudFormation::Stack", "Properties": properties},
        Outputs=shown(said={"Fn::GetAtt": ["inner", "Outputs.Said"]}, id={"Ref": "inner"}),
    )


async def test_a_template_is_fetched(near: World, shelf: BaseTestServer) -> None:
    url = str(shelf.make_url("/inner.template"))
    before = near.outputs(await complete(near, nested(url)))
    assert before["said"] == "hello"
    assert before["id"].startswith("arn:openstack:heat::")
    after = near.outputs(await complete(near, nested(url, "bye"), "update"))
    assert after == {**before, "said": "bye"}
    assert (await near.delete("web"))["status"] == "COMPLETE"


async def test_template_is_not_fetched_from_internal_addresses(world: World, shelf: BaseTestServer) -> None:
    with pytest.raises(TemplateInvalid, match="no public address"):
        await world.create("web", nested(str(shelf.make_url("/inner.template"))))


@pytest.mark.parametrize("path", ["/nothing", "file:///etc/hostname"])
async def test_unfetchable_template_fails(near: World, shelf: BaseTestServer, path: str) -> None:
    url = path if path.startswith("file:") else str(shelf.make_url(path))
    with pytest.raises(TemplateInvalid) as refused:
        await near.create("web", nested(url))
    [found] = refused.value.diagnostics
    assert url in found.message
    assert found.path == ("Resources", "inner", "Properties")
    assert (await near.call("stack_list"))["stacks"] == []


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/no-mapping.template", "must"),
        ("/unknown-type.template", "No::Such::Type"),
        ("/unknown-image.template", "no-such-image"),
        ("/deep.template", "No::Such::Type"),
        ("/endless.template", "max_nested_stack_depth"),
    ],
)
async def test_a_broken_template_is_found_before_anything_is_created(
    near: World, shelf: BaseTestServer, path: str, message: str
) -> None:
    url = str(shelf.make_url(path))
    with pytest.raises((TemplateInvalid, RequestLimitExceeded), match=message):
        await near.create("web", nested(url))
    assert (await near.call("stack_list"))["stacks"] == []


async def test_nested_stack_with_shorter_timeout(near: World, shelf: BaseTestServer) -> None:
    definition = nested(str(shelf.make_url("/slow.template")))
    definition["Resources"]["inner"]["Properties"]["TimeoutInMinutes"] = 1
    began = near.clock.now()
    stack = await near.create("web", {**definition, "Outputs": {}}, timeout_mins=60)
    assert (stack["action"], stack["status"]) == ("CREATE", "FAILED")
    assert "inner" in stack["status_reason"]
    assert 60 <= near.clock.now() - began < 600


async def test_parameters_of_a_fetched_template_are_checked_unless_unknown(near: World, shelf: BaseTestServer) -> None:
    definition = nested(str(shelf.make_url("/inner.template")))
    properties = definition["Resources"]["inner"]["Properties"]
    properties["Parameters"] = {"Wrong": "hello"}
    with pytest.raises(TemplateInvalid, match="Word"):
        await near.create("web", definition)
    definition["Resources"]["word"] = {"Type": "OS::Heat::RandomString"}
    properties["Parameters"] = {"Word": {"Ref": "word"}}
    before = near.outputs(await complete(near, definition))
    properties["TemplateURL"] = str(shelf.make_url("/unknown-type.template"))
    with pytest.raises(TemplateInvalid, match="No::Such::Type"):
        await near.update("web", definition)
    assert near.outputs(await near.call("stack_show", ref=REF)) == before


# -- users ------------------------------------------------------------------------------------------------------------


def users(policies: list[str]) -> dict[str, Any]:
    return template(
        user={"Type": "AWS::IAM::User", "Properties": {"Policies": policies}},
        policy={"Type": "OS::Heat::AccessPolicy", "Properties": {"AllowedResources": ["word"]}},
        word={"Type": "OS::Heat::Value", "Properties": {"value": "w"}},
        other={"Type": "OS::Heat::Value", "Properties": {"value": "w"}, "Metadata": {"a": "b"}},
        key={"Type": "AWS::IAM::AccessKey", "Properties": {"UserName": {"Ref": "user"}}},
        Outputs=shown(secret={"Fn::GetAtt": ["key", "SecretAccessKey"]}, key={"Ref": "key"}),
    )


async def test_a_user_has_keys(world: World) -> None:
    definition = users(["policy"])
    definition["Resources"]["user"]["DependsOn"] = "policy"
    outputs = world.outputs(await complete(world, definition))
    assert len(outputs["secret"]) == len(outputs["key"]) == 32
    with pytest.raises(ResourceActionNotSupported):
        await world.call("resource_signal", ref=REF, name="user")
    assert (await world.delete("web"))["status"] == "COMPLETE"


async def test_a_user_sees_what_its_policies_allow(world: World) -> None:
    definition = users(["policy"])
    definition["Resources"]["user"]["DependsOn"] = "policy"
    await complete(world, definition)
    stack = await world.call("stack_show", ref=REF)
    shown = await world.resources("web")
    owner = world.context
    world.context = replace(owner, user_id=shown["user"]["physical_id"], project_id=stack["stack_user_project_id"])
    by_id = {"name": "web", "id": stack["id"]}
    assert await world.call("resource_metadata", ref=by_id, name="word") == {}
    for name in ("other", "user"):
        with pytest.raises(Forbidden):
            await world.call("resource_metadata", ref=by_id, name=name)
    world.context = owner


async def test_an_unknown_policy(world: World) -> None:
    stack = await world.create("web", users(["elsewhere"]))
    assert "'elsewhere' is not an access policy of this stack" in stack["status_reason"]


@pytest.mark.parametrize("kind", ["nested", "instances"])
async def test_a_plan_with_unknown_values(near: World, shelf: BaseTestServer, kind: str) -> None:
    """Neither a template that must be fetched nor another resource's properties keep a plan from being made."""
    definition = nested(str(shelf.make_url("/inner.template"))) if kind == "nested" else instances(size=2)
    for _ in range(2):
        answer = await near.call("stack_preview", name="web", template=definition)
        assert {step["kind"] for step in answer["plan"]["steps"]} == {"create"}
    await complete(near, definition)
    answer = await near.call("stack_update_preview", ref=REF, template=definition)
    assert {step["kind"] for step in answer["plan"]["steps"]} <= {"keep"}
