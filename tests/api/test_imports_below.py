"""Imports and removals in nested stacks and groups: entries with paths, over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from testing.project_objects import NEUTRON, Objects
from tests.api.rest_stacks import Stacks, moves, template
from tests.api.test_imports import FAILING, NET, VOLUME, imports, subnet
from tests.api.test_moved_below import below

MEMBER = {
    "heat_template_version": "2021-04-16",
    "parameters": {"name": {"type": "string"}, "network": {"type": "string"}},
    "resources": {
        "port": {
            "type": "OS::Neutron::Port",
            "properties": {"network": {"get_param": "network"}, "name": {"get_param": "name"}},
        }
    },
    "outputs": {"address": {"value": {"get_attr": ["port", "mac_address"]}}},
}
FILES = {"member.yaml": yaml.safe_dump(MEMBER)}


def group(*keys: str) -> dict[str, Any]:
    values = {"name": "%key%", "network": {"get_resource": "net"}}
    member = {"type": "member.yaml", "properties": values}
    return {"type": "OS::Heat::ResourceGroup", "properties": {"for_each": list(keys), "resource_def": member}}


def removed(*paths: str) -> dict[str, Any]:
    return {"removed": [{"from": path, "destroy": False} for path in paths]}


def ports(objects: Objects) -> set[str]:
    return {each["id"] for each in objects.send("GET", f"{NEUTRON}/ports")["ports"]}


def test_nested_group_import_makes_no_cloud_writes(stacks: Stacks, objects: Objects) -> None:
    net = objects.net()
    blue, green = objects.port(net, "blue"), objects.port(net, "green")
    objects_by_path: dict[str, str | Mapping[str, Any]] = {"group.blue.port": blue}
    objects_by_path |= {"net": {"name": "shop"}, "group.green.port": {"name": "green"}}
    entries = imports(**objects_by_path)
    definition, before = template(net=NET, group=group("blue", "green")), stacks.writes()

    done = stacks.create(definition, entries, files=FILES)

    assert done["stack_status"] == "CREATE_COMPLETE"
    assert stacks.writes() == before
    assert {"net": net, "group.blue.port": blue, "group.green.port": green}.items() <= below(stacks).items()
    assert stacks.plan(definition, entries, files=FILES)["summary"].keys() == {"keep"}
    assert stacks.plan(definition, files=FILES)["summary"].keys() == {"keep"}
    stacks.send("DELETE", stacks.path)
    stacks.world.settle(done["id"])
    assert blue not in ports(objects)  # the stack owns what it has imported


def test_a_plan_shows_each_difference_and_nothing_else_is_changed(stacks: Stacks, objects: Objects) -> None:
    stacks.create(template(net=NET, group=group("red")), files=FILES)
    net = stacks.objects()["net"]
    blue, green = objects.port(net, "blue"), objects.port(net, "theirs")
    definition = template(net=NET, group=group("red", "blue", "green"))
    entries, before = imports(**{"group.blue.port": blue, "group.green.port": green}), stacks.writes()

    plan = stacks.plan(definition, entries, files=FILES)
    done = stacks.update(definition, entries, files=FILES)

    assert plan["summary"]["import"] == 2
    steps = {step["path"]: step for step in plan["steps"]}
    assert (steps["group.blue.port"]["kind"], steps["group.blue.port"]["imports"]) == ("keep", blue)
    assert (steps["group.green.port"]["kind"], steps["group.green.port"]["imports"]) == ("update", green)
    changes = [(each["property"], each["before"], each["after"]) for each in steps["group.green.port"]["changes"]]
    assert changes == [("name", "theirs", "green")]
    assert done["stack_status"] == "UPDATE_COMPLETE"
    assert stacks.writes()[len(before) :] == [f"PUT /network/v2.0/ports/{green}"]
    assert stacks.plan(definition, entries, files=FILES)["summary"].keys() == {"keep"}


def test_attributes_of_imported_objects_are_known_in_the_plan(stacks: Stacks, objects: Objects) -> None:
    tier: dict[str, Any] = template(net=NET)
    tier["outputs"] = {"net": {"value": {"get_resource": "net"}}}
    files = {"tier.yaml": yaml.safe_dump(tier), "front.yaml": yaml.safe_dump(_front())}
    net = objects.net()
    sub = objects.subnet(net)
    definition = template(
        tier={"type": "tier.yaml"},
        front={"type": "front.yaml", "properties": {"network": {"get_attr": ["tier", "net"]}}},
    )
    entries = imports(**{"tier.net": net, "front.subnet": sub})
    stacks.create(template(v=VOLUME))
    before = stacks.writes()
    plan = stacks.plan(template(v=VOLUME, **definition["resources"]), entries, files=files)
    assert plan["summary"] == {"keep": 3, "create": 2, "import": 2}, plan["summary"]
    stacks.update(template(v=VOLUME, **definition["resources"]), entries, files=files)
    assert stacks.writes() == before
    assert {"tier.net": net, "front.subnet": sub}.items() <= below(stacks).items()


def _front() -> dict[str, Any]:
    values = {"network": {"get_param": "network"}, "cidr": "10.1.0.0/24"}
    resources = {"subnet": {"type": "OS::Neutron::Subnet", "properties": values}}
    return {**template(**resources), "parameters": {"network": {"type": "string"}}}


@pytest.mark.parametrize("disable_rollback", [True, False])
def test_failed_nested_import_keeps_the_object_and_rollback_releases_it(
    stacks: Stacks, objects: Objects, disable_rollback: bool
) -> None:
    stacks.create(template(net=NET, group=group("red")), files=FILES)
    had, net = below(stacks), stacks.objects()["net"]
    blue = objects.port(net, "blue")
    definition = template(net=NET, group=group("red", "blue"), bad={**FAILING, "depends_on": "group"})
    entries = imports(**{"group.blue.port": blue})
    done = stacks.update(definition, entries, files=FILES, disable_rollback=disable_rollback)
    assert blue in ports(objects)
    if disable_rollback:
        assert done["stack_status"] == "UPDATE_FAILED"
        assert below(stacks)["group.blue.port"] == blue
    else:
        assert done["stack_status"] == "ROLLBACK_COMPLETE"
        assert below(stacks) == had
    stacks.update(template(net=NET, group=group("red", "blue")), entries, files=FILES)
    assert below(stacks)["group.blue.port"] == blue


def test_the_rollback_of_a_new_stack_keeps_the_objects(stacks: Stacks, objects: Objects) -> None:
    net = objects.net()
    blue = objects.port(net, "blue")
    definition = template(net=NET, group=group("blue"), bad={**FAILING, "depends_on": "group"})
    entries = imports(**{"net": net, "group.blue.port": blue})
    done = stacks.create(definition, entries, files=FILES, disable_rollback=False)
    assert done["stack_status"] == "ROLLBACK_COMPLETE"
    assert stacks.objects() == {}
    assert blue in ports(objects)


def test_a_member_and_a_resource_in_it_are_forgotten(stacks: Stacks, objects: Objects) -> None:
    definition = template(net=NET, group=group("red", "blue", "green"))
    stacks.create(definition, files=FILES)
    had, before = below(stacks), stacks.writes()
    entries = removed("group.blue")
    plan = stacks.plan(template(net=NET, group=group("red", "green")), entries, files=FILES)
    assert plan["summary"]["forget"] >= 1 and "delete" not in plan["summary"]
    stacks.update(template(net=NET, group=group("red", "green")), entries, files=FILES)
    assert had["group.blue.port"] in ports(objects)
    assert "group.blue.port" not in below(stacks)
    plain = {**MEMBER, "resources": {"none": {"type": "OS::Heat::None"}}, "outputs": {}}
    entries = removed("group.blue", "group.red.port", "group.green.port")
    stacks.update(template(net=NET, group=group("red", "green")), entries, files={"member.yaml": yaml.safe_dump(plain)})
    assert {had["group.red.port"], had["group.green.port"]} <= ports(objects)
    assert stacks.writes() == before
    stacks.update(
        template(net=NET, group=group("red", "blue")),
        imports(**{"group.red.port": had["group.red.port"], "group.blue.port": had["group.blue.port"]}),
        files=FILES,
    )
    assert {"group.red.port": had["group.red.port"], "group.blue.port": had["group.blue.port"]}.items() <= below(
        stacks
    ).items()
    assert stacks.writes() == before


def test_import_entries_follow_moves_of_their_parents(stacks: Stacks, objects: Objects) -> None:
    net = objects.net()
    blue = objects.port(net, "new")
    moved = moves(**{"group": "ports", "ports.blue": "ports.new"})
    entries = {**imports(**{"net": net, "group.blue.port": blue}), **moved}
    definition = template(net=NET, ports=group("new"))
    stacks.create(definition, entries, files=FILES)
    assert below(stacks)["ports.new.port"] == blue
    assert stacks.plan(definition, entries, files=FILES)["summary"].keys() == {"keep"}


@pytest.mark.parametrize(
    ("entries", "output"),
    [
        (imports(**{"group.pink.port": "x"}), "the template has no resource group.pink.port, as which x is imported"),
        (imports(**{"group.blue.gate": "x"}), "the template has no resource group.blue.gate, as which x is imported"),
        (imports(**{"net.port": "x"}), "net is no nested stack: it has the type OS::Neutron::Net"),
        (imports(**{"group.blue": "x"}), "objects of the type member.yaml cannot be imported: they are nested stacks"),
        (imports(**{"group.blue.port": "0b8a7d5e-0000-4000-8000-000000000000"}), "neutron has no object"),
        (removed("group.blue"), "the template has the resource group.blue, so it is not removed"),
        (removed("group.red.port"), "the template has the resource group.red.port, so it is not removed"),
        (removed("old.port"), "old is removed with all objects in it, also that of old.port"),
    ],
)
def test_impossible_nested_imports_are_refused(stacks: Stacks, entries: dict[str, Any], output: str) -> None:
    old = {"type": "member.yaml", "properties": {"name": "old", "network": {"get_resource": "net"}}}
    stacks.create(template(net=NET, group=group("red"), old=old), files=FILES)
    message = stacks.refused(template(net=NET, group=group("red", "blue")), entries, files=FILES)
    assert output in message


def test_an_object_of_another_resource_is_refused(stacks: Stacks, objects: Objects) -> None:
    stacks.create(template(net=NET, group=group("red")), files=FILES)
    red = below(stacks)["group.red.port"]
    definition = template(net=NET, group=group("red", "blue", "green"))
    output = stacks.refused(definition, imports(**{"group.blue.port": red}), files=FILES)
    assert f"the object {red} belongs to the resource port of the stack web" in output
    objects.port(stacks.objects()["net"], "twice")
    entries = imports(**{"group.blue.port": {"name": "twice"}, "group.green.port": {"name": "twice", "status": "DOWN"}})
    assert "is also imported as the resource group.blue.port" in stacks.refused(definition, entries, files=FILES)


def test_a_subnet_beside_an_imported_network_of_a_nested_stack(stacks: Stacks, objects: Objects) -> None:
    """An object that needs a new one is refused before anything is done."""
    tier = {"heat_template_version": "2021-04-16", "resources": {"net": NET, "sub": subnet("net")}}
    files = {"tier.yaml": yaml.safe_dump(tier)}
    net = objects.net()
    sub = objects.subnet(net, "10.2.0.0/24")
    stacks.create(template(v=VOLUME))
    entries = imports(**{"tier.net": net, "tier.sub": sub})
    output = stacks.refused(template(v=VOLUME, tier={"type": "tier.yaml"}), entries, files=files)
    assert (
        f"the object {sub} cannot become the resource tier.sub, since what differs needs a new object: cidr" in output
    )


def test_an_import_whose_value_is_only_known_by_the_deployment_is_refused_before_it(
    stacks: Stacks, objects: Objects
) -> None:
    """Unless the value is the ID of an object that is imported, too, which is known."""
    net = objects.net()
    addresses = objects.subnet(net, "10.7.0.0/24")
    inner = {**template(net=NET), "outputs": {"id": {"value": {"get_resource": "net"}}}}
    values = {"cidr": "10.7.0.0/24", "network": {"get_param": "n"}}
    box = template(addresses={"type": "OS::Neutron::Subnet", "properties": values})
    box["parameters"] = {"n": {"type": "string"}}
    given = {"n": {"get_attr": ["tier", "id"]}}
    definition = template(tier={"type": "tier.yaml"}, box={"type": "box.yaml", "properties": given})
    files = {"tier.yaml": yaml.safe_dump(inner), "box.yaml": yaml.safe_dump(box)}
    before = stacks.writes()
    request = {"stack_name": "web", "template": definition, "files": files}
    alone = stacks.send("POST", "", {**request, "environment": imports(**{"box.addresses": addresses})})
    assert alone.status_code == 400, alone.text
    assert "is not known before the deployment: it gives network a value" in alone.text
    assert "import it in a later deployment" in alone.text and stacks.writes() == before

    done = stacks.create(definition, imports(**{"box.addresses": addresses, "tier.net": net}), files=files)
    assert done["stack_status"] == "CREATE_COMPLETE" and stacks.writes() == before
    assert {"box.addresses": addresses, "tier.net": net}.items() <= below(stacks).items()
