"""Stacks that leave and come back: export, abandon, adopt."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import ActionInProgress, BadValue, EntityNotFound, NotSupported, TemplateInvalid
from stoker.engine.settings import EngineSettings
from stoker.store import queries
from stoker.store.sealing import Sealer
from testing.harness import RARE_HEARTBEATS, World

HERE = Path(__file__).parent
CHILD = """
heat_template_version: 2021-04-16
parameters: {cidr: {type: string}}
resources:
  net: {type: OS::Neutron::Net}
  subnet: {type: OS::Neutron::Subnet, properties: {network: {get_resource: net}, cidr: {get_param: cidr}}}
outputs:
  id: {value: {get_resource: subnet}}
"""
FILES = {"child.yaml": CHILD}


@pytest.fixture
async def world(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    settings = replace(RARE_HEARTBEATS, enable_stack_abandon=True, enable_stack_adopt=True)
    world = await World(tmp_path / "stoker.db", served, settings=settings).start()
    yield world
    await world.stop()


def ref(name: str) -> dict[str, Any]:
    return {"name": name, "id": None}


def template(**resources: Any) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": resources}


def group(count: int, **properties: Any) -> dict[str, Any]:
    definition = {"type": "child.yaml", "properties": {"cidr": "10.%index%.0.0/24"}}
    return {"type": "OS::Heat::ResourceGroup", "properties": {"count": count, "resource_def": definition, **properties}}


async def abandon(world: World, name: str) -> dict[str, Any]:
    document = await world.call("stack_abandon", ref=ref(name))
    copied: dict[str, Any] = json.loads(json.dumps(document))
    return copied


async def adopt(world: World, name: str, document: Any, **arguments: Any) -> dict[str, Any]:
    return await world.create(name, None, adopt_stack_data=document, **arguments)


async def ids(world: World, name: str) -> dict[str, Any]:
    """Physical ids of all leaves of a tree."""
    rows = await world.listed(ref(name), nested_depth=4)
    nested = {row["parent_resource"] for row in rows}
    return {
        f"{row['parent_resource']}.{row['name']}": row["physical_id"]
        for row in rows
        if row["name"] not in nested and row["nested_id"] is None
    }


def sent(world: World) -> int:
    """How many requests have changed the cloud, apart from logging in and trusts."""
    entries = world.in_cloud(lambda: world.served.cloud.journal.select({}))
    return sum(entry["service"] != "keystone" for entry in entries)


async def test_abandoned_stack_is_adopted_with_the_same_objects(world: World) -> None:
    tree = (HERE / "crashing.yaml").read_text()
    files = {"member.yaml": (HERE / "crashing-member.yaml").read_text()}
    stack = await world.create("home", tree, files=files, tags=["kept"])
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    before, changes = await ids(world, "home"), sent(world)
    document = await abandon(world, "home")
    with pytest.raises(EntityNotFound):
        await world.call("stack_show", ref=ref("home"))
    assert (await world.call("stack_list", show_nested=True))["stacks"] == []
    back = await adopt(world, "home", document)
    assert (back["action"], back["status"]) == ("ADOPT", "COMPLETE"), back["status_reason"]
    assert await ids(world, "home") == before
    assert back["tags"] == ["kept"]
    assert sent(world) == changes
    again = await world.update("home", tree, files=files)
    assert again["status"] == "COMPLETE", again["status_reason"]
    assert (await ids(world, "home"), sent(world)) == (before, changes)
    gone = await world.delete("home")
    assert gone["status"] == "COMPLETE", gone["status_reason"]


async def test_export_changes_nothing(world: World) -> None:
    await world.create("stay", template(net={"type": "OS::Neutron::Net"}))
    document = await world.call("stack_export", ref=ref("stay"))
    keys = {
        "name", "id", "action", "status", "environment", "files", "template", "resources", "project_id",
        "stack_user_project_id", "tags",
    }  # fmt: skip
    assert set(document) == keys
    entry = document["resources"]["net"]
    assert set(entry) == {"name", "resource_id", "type", "action", "status", "metadata", "resource_data"}
    assert entry["resource_id"] == (await world.resources("stay"))["net"]["physical_id"]
    assert (await world.call("stack_show", ref=ref("stay")))["status"] == "COMPLETE"


async def test_document_of_abandoned_stack_can_be_read_again(world: World) -> None:
    created = await world.create("lost", template(net={"type": "OS::Neutron::Net"}))
    document = await abandon(world, "lost")
    again = await world.call("stack_export", ref={"name": "lost", "id": created["id"]})
    assert again["resources"] == document["resources"]


async def test_adopted_groups_keep_members_and_removed_names(world: World) -> None:
    await world.create("many", template(group=group(3)), files=FILES)
    smaller = group(2, removal_policies=[{"resource_list": ["1"]}])
    await world.update("many", template(group=smaller), files=FILES)
    before = await ids(world, "many")
    assert {name.partition(".")[0] for name in before} == {"0", "2"}
    document = await abandon(world, "many")
    back = await adopt(world, "many", document)
    assert back["status"] == "COMPLETE", back["status_reason"]
    assert await ids(world, "many") == before
    await world.update("many", template(group=group(3, removal_policies_mode="append")), files=FILES)
    assert {name.partition(".")[0] for name in await ids(world, "many")} == {"0", "2", "3"}


async def test_members_of_a_scaling_group_keep_their_names(world: World) -> None:
    member = {"type": "OS::Neutron::Net"}
    scaling = {
        "type": "OS::Heat::AutoScalingGroup",
        "properties": {"min_size": 1, "max_size": 3, "desired_capacity": 2, "resource": member},
    }
    await world.create("scale", template(group=scaling))
    before = await ids(world, "scale")
    assert len(before) == 2
    back = await adopt(world, "scale", await abandon(world, "scale"))
    assert back["status"] == "COMPLETE", back["status_reason"]
    assert await ids(world, "scale") == before


HIDING = {
    "heat_template_version": "2021-04-16",
    "parameters": {"word": {"type": "string", "hidden": True}},
    "resources": {
        "random": {"type": "OS::Heat::RandomString"},
        "told": {
            "type": "OS::Heat::Value",
            "metadata": {"password": {"get_param": "word"}},
            "properties": {"value": {"get_param": "word"}},
        },
    },
    "outputs": {
        "random": {"value": {"get_attr": ["random", "value"]}},
        "told": {"value": {"get_attr": ["told", "value"]}},
    },
}


async def test_hidden_values_are_exported_sealed_and_adopted(world: World) -> None:
    stack = await world.create("hush", HIDING, parameters={"word": "very secret"})
    outputs = world.outputs(stack)
    document = await abandon(world, "hush")
    text = json.dumps(document)
    assert "very secret" not in text and outputs["random"] not in text
    assert document["environment"]["parameters"] == {"word": "******"}
    back = await adopt(world, "hush", document)
    assert back["status"] == "COMPLETE", back["status_reason"]
    assert world.outputs(back) == outputs
    assert await world.call("resource_metadata", ref=ref("hush"), name="told") == {"password": "******"}
    rows = await world.database.read(queries.resources_of, back["id"])
    (row,) = [each for each in rows if each.name == "told"]
    assert row.state is not None
    assert world.engine.services.sealer.open(row.state)["metadata"] == {"password": "very secret"}


async def test_sealed_values_must_be_given_again_on_other_installation(world: World) -> None:
    await world.create("far", HIDING, parameters={"word": "very secret"})
    document = await abandon(world, "far")
    document["sealed"] = Sealer(["another installation's key"]).seal({"for": "adoption"})
    with pytest.raises(TemplateInvalid, match=r"parameters\.word"):
        await adopt(world, "far", document)
    back = await adopt(world, "far", document, parameters={"word": "very secret"})
    assert back["status"] == "FAILED"
    assert "random string" in back["status_reason"]


async def test_sealed_part_is_bound_to_the_project(world: World) -> None:
    await world.create("mine", HIDING, parameters={"word": "very secret"})
    document = await abandon(world, "mine")
    world.context = replace(world.context, project_id="another")
    with pytest.raises(BadValue, match="another project"):
        await world.call("stack_create", name="mine", template=None, adopt_stack_data=document)


async def test_request_parameters_override_adopted_document(world: World) -> None:
    body = {
        **template(word={"type": "OS::Heat::Value", "properties": {"value": {"get_param": "text"}}}),
        "parameters": {"text": {"type": "string"}},
        "outputs": {"word": {"value": {"get_attr": ["word", "value"]}}},
    }
    await world.create("text", body, parameters={"text": "old"})
    document = await abandon(world, "text")
    back = await adopt(world, "text", document, parameters={"text": "new"})
    assert world.outputs(back) == {"word": "new"}


async def test_failed_adoption_keeps_the_objects(world: World) -> None:
    resources = {"net": {"type": "OS::Neutron::Net"}, "other": {"type": "OS::Neutron::Net", "depends_on": "net"}}
    await world.create("oops", template(**resources))
    document = await abandon(world, "oops")
    kept = document["resources"]["net"]["resource_id"]
    document["resources"]["other"]["resource_id"] = "nowhere"
    failed = await adopt(world, "oops", document, disable_rollback=False)
    assert (failed["action"], failed["status"]) == ("ROLLBACK", "COMPLETE")
    assert await world.resources("oops") == {}
    assert world.served.call("GET", f"/network/v2.0/networks/{kept}", token=world.served.token()).status == 200
    await world.delete("oops")
    del document["resources"]["other"]["resource_id"]
    failed = await adopt(world, "oops", document)
    assert (failed["action"], failed["status"]) == ("ADOPT", "FAILED")
    assert "resource_id" in failed["status_reason"]


async def test_foreign_user_cannot_be_adopted(world: World) -> None:
    handle = {"type": "OS::Heat::WaitConditionHandle", "properties": {"signal_transport": "NO_SIGNAL"}}
    await world.create("user", template(handle=handle))
    document = await abandon(world, "user")
    back = await adopt(world, "user", document)
    assert back["status"] == "COMPLETE", back["status_reason"]
    document = await abandon(world, "user")
    users = world.served.call("GET", "/identity/v3/users", token=world.served.token()).json["users"]
    victim = next(user["id"] for user in users if user["name"] == "demo")
    document["resources"]["handle"]["resource_id"] = victim
    stolen = await adopt(world, "user", document)
    assert stolen["status"] == "FAILED"
    await world.delete("user")
    left = world.served.call("GET", "/identity/v3/users", token=world.served.token()).json["users"]
    assert victim in {user["id"] for user in left}


async def test_refusals(world: World) -> None:
    await world.create("busy", template(net={"type": "OS::Neutron::Net"}))
    world.in_cloud(
        lambda: world.served.cloud.faults.add(Fault(on="POST /network/v2.0/networks", do="fail", status=503))
    )
    more = template(net={"type": "OS::Neutron::Net"}, more={"type": "OS::Neutron::Net"})
    view = await world.call("stack_update", ref=ref("busy"), template=more)
    with pytest.raises(ActionInProgress):
        await world.call("stack_abandon", ref=ref("busy"))
    world.in_cloud(world.served.cloud.faults.clear)
    await world.settle(view["id"])
    world.engine.services.settings = EngineSettings()
    for method in ("stack_abandon", "stack_export"):
        with pytest.raises(NotSupported, match="enable_stack_abandon"):
            await world.call(method, ref=ref("busy"))
    with pytest.raises(NotSupported, match="enable_stack_adopt"):
        await world.call("stack_create", name="no", template=None, adopt_stack_data={"template": more})


@pytest.mark.parametrize(
    "document", [{"resources": []}, {"resources": {"a": 1}}, {"resources": {"a": {"resource_id": 5}}}, {"files": 3}]
)
async def test_documents_of_another_form_are_refused(world: World, document: Any) -> None:
    with pytest.raises(BadValue):
        await world.call("stack_create", name="bad", template=None, adopt_stack_data=document)
    assert (await world.call("stack_list"))["stacks"] == []


async def test_an_association_of_a_floating_ip_in_novas_former_form_comes_back(world: World) -> None:
    """Its ID says nothing about its two ends, and stays as it is."""
    resources: dict[str, Any] = {
        "net": {"type": "OS::Neutron::Net"},
        "subnet": {
            "type": "OS::Neutron::Subnet",
            "properties": {"network": {"get_resource": "net"}, "cidr": "10.40.0.0/24"},
        },
        "router": {"type": "OS::Neutron::Router", "properties": {"external_gateway_info": {"network": "public"}}},
        "interface": {
            "type": "OS::Neutron::RouterInterface",
            "properties": {"router": {"get_resource": "router"}, "subnet": {"get_resource": "subnet"}},
        },
        "server": {
            "type": "OS::Nova::Server",
            "depends_on": "subnet",
            "properties": {"image": "cirros", "flavor": "m1.tiny", "networks": [{"network": {"get_resource": "net"}}]},
        },
        "address": {"type": "OS::Nova::FloatingIP", "depends_on": "interface", "properties": {"pool": "public"}},
        "link": {
            "type": "OS::Nova::FloatingIPAssociation",
            "properties": {"floating_ip": {"get_resource": "address"}, "server_id": {"get_resource": "server"}},
        },
    }
    stack = await world.create("home", template(**resources))
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    before = await ids(world, "home")
    back = await adopt(world, "home", await abandon(world, "home"))
    assert (back["action"], back["status"]) == ("ADOPT", "COMPLETE"), back["status_reason"]
    assert await ids(world, "home") == before
    await world.call("stack_action", ref=ref("home"), action="check")
    checked = await world.settle(back["id"])
    assert (checked["action"], checked["status"]) == ("CHECK", "COMPLETE"), checked["status_reason"]
    resources["server"]["properties"]["name"] = "other"
    again = await world.update("home", template(**resources))
    assert again["status"] == "COMPLETE", again["status_reason"]
    assert await ids(world, "home") == before
    assert (await world.delete("home"))["status"] == "COMPLETE"
