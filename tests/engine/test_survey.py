"""What the cloud has of all stacks, compared with the record: through the emulated cloud."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from stoker.engine.inspection.survey import ExpectedObject, Finding, Found, Presence, SurveyResult, survey
from testing.harness import World

NETWORKS = "/network/v2.0/networks"
NET = "OS::Neutron::Net"
TEMPLATE: dict[str, Any] = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "net": {"type": NET},
        "other": {"type": NET},
        "group": {"type": "OS::Neutron::SecurityGroup", "properties": {"rules": []}},
        "key": {"type": "OS::Nova::KeyPair", "properties": {"name": "mine", "save_private_key": True}},
        "config": {"type": "OS::Heat::SoftwareConfig"},
    },
}


async def surveyed(world: World, *sought: ExpectedObject) -> SurveyResult:
    return await survey(world.engine.services, lambda _type, _uuid, identifier: identifier, sought)


def create(world: World, name: str) -> str:
    made = world.served.call("POST", NETWORKS, {"network": {"name": name}}, token=world.context.token)
    return str(made.json["network"]["id"])


def delete(world: World, path: str) -> None:
    assert world.served.call("DELETE", path, token=world.context.token).status == 204


async def net_of(world: World, resource: str = "net") -> str:
    return str((await world.resources("web"))[resource]["physical_id"])


def findings_of(result: SurveyResult, finding: Finding) -> list[tuple[str, str, str, str]]:
    return [(it.type, it.physical_id, it.stack, it.resource) for it in result.found if it.finding is finding]


async def test_consistent_cloud_has_no_findings(world: World) -> None:
    await world.create("web", TEMPLATE)
    create(world, "backend")  # a user's
    assert (await surveyed(world)).found == ()


async def test_unowned_objects_with_stack_names_are_found(world: World) -> None:
    await world.create("web", TEMPLATE)
    mine = await net_of(world)
    name = world.served.call("GET", f"{NETWORKS}/{mine}", token=world.context.token).json["network"]["name"]
    orphan, double = create(world, "lost-net-abcdefghij23"), create(world, name)
    create(world, "lost-net-abcdefghij18")  # no name of ours has these digits
    result = await surveyed(world)
    assert sorted(findings_of(result, Finding.ORPHANED)) == sorted([(NET, orphan, "", ""), (NET, double, "web", "net")])
    assert findings_of(result, Finding.LOST) == findings_of(result, Finding.UNKNOWN) == []


async def test_missing_recorded_objects_are_found(world: World) -> None:
    await world.create("web", TEMPLATE)
    gone = await net_of(world)
    delete(world, f"{NETWORKS}/{gone}")
    assert world.served.call("DELETE", "/compute/v2.1/os-keypairs/mine", token=world.context.token).status == 202
    result = await surveyed(world)
    assert sorted(findings_of(result, Finding.LOST)) == [
        (NET, gone, "web", "net"), ("OS::Nova::KeyPair", "mine", "web", "key"),
    ]  # fmt: skip
    assert findings_of(result, Finding.UNKNOWN) == findings_of(result, Finding.ORPHANED) == []


async def test_each_collection_is_listed_once_however_many_objects_it_has(world: World) -> None:
    nets = {f"net{number}": {"type": NET} for number in range(20)}
    await world.create("web", {**TEMPLATE, "resources": nets})
    await world.create("more", {**TEMPLATE, "resources": nets})
    counter = Fault(on=f"GET {NETWORKS}*", do="delay", seconds=0.0)
    world.in_cloud(lambda: world.served.cloud.faults.add(counter))
    assert (await surveyed(world)).found == ()
    assert counter.hits == 1


@pytest.mark.parametrize("status", [403, 404, 503])
async def test_a_list_that_cannot_be_read_is_unknown(world: World, status: int) -> None:
    await world.create("web", TEMPLATE)
    sought = ExpectedObject(world.context.project_id, NET, await net_of(world))
    delete(world, f"{NETWORKS}/{await net_of(world, 'other')}")
    world.in_cloud(lambda: world.served.cloud.faults.add(Fault(on=f"GET {NETWORKS}*", do="fail", status=status)))
    result = await surveyed(world, sought)
    assert [type_name for type_name, *_ in findings_of(result, Finding.UNKNOWN)] == [
        "OS::Neutron::Net, OS::Neutron::ProviderNet, AWS::EC2::VPC"
    ]
    assert findings_of(result, Finding.LOST) == []
    assert result.sought == {sought: Presence.UNKNOWN}


async def test_unlistable_objects_are_unknown(world: World) -> None:
    container = {"type": "OS::Swift::Container"}
    await world.create("web", {**TEMPLATE, "resources": {"container": container}})
    [found] = (await surveyed(world)).found
    assert (found.finding, found.type, found.stack) == (Finding.UNKNOWN, "OS::Swift::Container", "web")


async def test_a_project_without_a_credential_is_unknown(world: World) -> None:
    sought = ExpectedObject("0" * 32, NET, "a")
    result = await surveyed(world, sought)
    assert result.sought == {sought: Presence.UNKNOWN}
    assert result.found == (Found(Finding.UNKNOWN, "0" * 32, "", reason="no stack of this project has a credential"),)


async def test_sought_objects_are_found_or_not(world: World) -> None:
    await world.create("web", TEMPLATE)
    there = ExpectedObject(world.context.project_id, NET, create(world, "backend"))
    gone = ExpectedObject(world.context.project_id, NET, "a" * 8 + "-0000-4000-8000-" + "b" * 12)
    result = await surveyed(world, there, gone)
    assert result.sought == {there: Presence.EXISTS, gone: Presence.ABSENT}
