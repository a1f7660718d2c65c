"""Existing objects that get resources: `imports` in the environment of a stack, over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from testing.project_objects import NEUTRON, Objects
from tests.api.rest_stacks import Stacks, moves, template

NET = {"type": "OS::Neutron::Net", "properties": {"name": "shop"}}
UNNAMED = {"type": "OS::Neutron::Net"}
VOLUME = {"type": "OS::Cinder::Volume", "properties": {"size": 1}}
FAILING = {"type": "OS::Heat::TestResource", "properties": {"fail": True}}


def subnet(net: str, **properties: Any) -> dict[str, Any]:
    values = {"network": {"get_resource": net}, "cidr": "10.1.0.0/24", **properties}
    return {"type": "OS::Neutron::Subnet", "properties": values}


def imports(**objects: str | Mapping[str, Any]) -> dict[str, Any]:
    """An environment that imports objects, by their IDs or what identifies them."""
    return {
        "imports": [
            {"to": name, **({"id": found} if isinstance(found, str) else {"identity": dict(found)})}
            for name, found in objects.items()
        ]
    }


def test_import_makes_no_cloud_writes(stacks: Stacks, objects: Objects) -> None:
    stacks.create(template(v=VOLUME))
    net = objects.net()
    sub = objects.subnet(net)
    before = stacks.writes()
    definition, environment = template(v=VOLUME, net=NET, sub=subnet("net")), imports(net=net, sub=sub)

    plan = stacks.plan(definition, environment)
    done = stacks.update(definition, environment)

    assert plan["summary"] == {"keep": 3, "import": 2}
    assert [(step["path"], step["imports"]) for step in plan["steps"] if "imports" in step] == [
        ("net", net),
        ("sub", sub),
    ]
    assert done["stack_status"] == "UPDATE_COMPLETE"
    assert {"net": net, "sub": sub}.items() <= stacks.objects().items()
    assert stacks.resources()["net"]["resource_status"] == "ADOPT_COMPLETE"
    assert stacks.writes() == before
    assert stacks.plan(definition, environment)["summary"] == {"keep": 3}  # the entry can stay
    assert stacks.plan(definition)["summary"] == {"keep": 3}
    stacks.send("DELETE", stacks.path)
    stacks.world.settle(done["id"])
    assert objects.network(net) is None  # the stack owns what it has imported


def test_import_updates_differing_properties(stacks: Stacks, objects: Objects) -> None:
    stacks.create(template(v=VOLUME))
    net = objects.net()
    down = {"type": "OS::Neutron::Net", "properties": {"name": "store", "admin_state_up": True}}
    plan = stacks.plan(template(v=VOLUME, net=down), imports(net=net))
    assert plan["summary"] == {"keep": 1, "update": 1, "import": 1}
    [step] = [step for step in plan["steps"] if step["path"] == "net"]
    assert [(each["property"], each["before"], each["after"]) for each in step["changes"]] == [
        ("name", "shop", "store")
    ]
    before = stacks.writes()
    stacks.update(template(v=VOLUME, net=down), imports(net=net))
    assert stacks.writes()[len(before) :] == [f"PUT {NEUTRON}/networks/{net}"]
    assert objects.network(net)["name"] == "store"  # type: ignore[index]


def test_a_new_stack_imports_and_an_identity_finds_the_object(stacks: Stacks, objects: Objects) -> None:
    net = objects.net()
    objects.net("other")
    done = stacks.create(template(net=NET, sub=subnet("net")), imports(net={"name": "shop"}))
    assert done["stack_status"] == "CREATE_COMPLETE"
    assert stacks.objects()["net"] == net
    objects.net()  # a second one of this name; the entry is satisfied already
    assert stacks.plan(template(net=NET, sub=subnet("net")), imports(net={"name": "shop"}))["summary"] == {"keep": 2}


def test_identity_must_match_one_object(stacks: Stacks, objects: Objects) -> None:
    stacks.create(template(v=VOLUME))
    output = stacks.refused(template(v=VOLUME, net=NET), imports(net={"name": "shop"}))
    assert "environment: imports[0].identity: neutron lists no object with name=shop" in output.replace(" 1:", ":")
    objects.net()
    net = objects.net(admin_state_up=False)
    output = stacks.refused(template(v=VOLUME, net=NET), imports(net={"name": "shop"}))
    assert "2 objects with name=shop: give the id" in output
    identity = {"name": "shop", "admin_state_up": False}
    stacks.update(template(v=VOLUME, net=UNNAMED), imports(net=identity))
    assert stacks.objects()["net"] == net


def test_import_that_requires_replacement_is_refused_with_properties(stacks: Stacks, objects: Objects) -> None:
    stacks.create(template(v=VOLUME))
    net = objects.net()
    sub = objects.subnet(net, "10.2.0.0/24")
    output = stacks.refused(template(v=VOLUME, net=NET, sub=subnet("net")), imports(net=net, sub=sub))
    assert f"the object {sub} cannot become the resource sub, since what differs needs a new object: cidr" in output
    output = stacks.refused(template(v=VOLUME, net=UNNAMED, sub=subnet("net", cidr="10.2.0.0/24")), imports(sub=sub))
    assert "it gives network a value, and another value needs a new object" in output  # the network is new


def test_unreadable_or_missing_objects_are_not_imported(stacks: Stacks, objects: Objects, served: ServedCloud) -> None:
    stacks.create(template(v=VOLUME))
    foreign = Objects(served, "admin").net()
    for identifier in (foreign, "0b8a7d5e-0000-4000-8000-000000000000", "../routers", "a/b", ""):
        output = stacks.refused(template(v=VOLUME, net=NET), imports(net=identifier))
        assert "imports[0].id" in output
    assert "neutron has no object" in stacks.refused(template(v=VOLUME, net=NET), imports(net=foreign))


def test_an_object_of_another_resource_is_refused_and_its_owner_named(stacks: Stacks, objects: Objects) -> None:
    stacks.create(template(a=NET))
    had = stacks.objects()["a"]
    output = stacks.refused(template(a=NET, b=NET), imports(b=had))
    assert f"the object {had} belongs to the resource a of the stack web" in output
    net = objects.net()
    output = stacks.refused(template(a=NET, b=NET, c=NET), imports(b=net, c={"name": "shop", "id": net}))
    assert f"{net} is also imported as the resource b" in output
    output = stacks.refused(template(a=NET), imports(a=net))
    assert f"the resource a has the object {had} already" in output


@pytest.mark.parametrize(
    ("resources", "entries", "output"),
    [
        ({}, [{"to": "c", "id": "x"}], "the template has no resource c, as which x is imported"),
        ({}, [{"to": "g.0", "id": "x"}], "objects of the type OS::Heat::TestResource cannot be imported"),
        ({"e": {**NET, "external_id": "x"}}, [{"to": "e", "id": "x"}], "external_id"),
        ({"r": {"type": "OS::Heat::RandomString"}}, [{"to": "r", "id": "x"}], "exist only in Stoker's own database"),
        ({}, [{"to": "g", "id": "x"}], "they are nested stacks"),
        (
            {
                "r": {"type": "OS::Neutron::Router"},
                "n": UNNAMED,
                "q": {
                    "type": "OS::Neutron::RouterGateway",
                    "properties": {"router_id": {"get_resource": "r"}, "network_id": {"get_resource": "n"}},
                },
            },
            [{"to": "q", "id": "x"}],
            "they have no identity of their own",
        ),
        ({"b": NET}, [{"to": "b", "id": "x"}, {"to": "b", "id": "y"}], "x is also imported as the resource b"),
        ({"b": NET, "c": NET}, [{"to": "b", "id": "x"}, {"to": "c", "id": "x"}], "x is also imported as"),
    ],
)
def test_invalid_import_is_refused(
    stacks: Stacks, resources: dict[str, Any], entries: list[dict[str, Any]], output: str
) -> None:
    group = {
        "type": "OS::Heat::ResourceGroup",
        "properties": {"count": 1, "resource_def": FAILING | {"properties": {}}},
    }
    stacks.create(template(v=VOLUME, g=group))
    assert output in stacks.refused(template(v=VOLUME, g=group, **resources), {"imports": entries})


@pytest.mark.parametrize(
    ("text", "place", "output"),
    [
        ("imports:\n  - {to: a}\n", "environment 1:2:5: imports[0]", "either the key 'id' or the key 'identity'"),
        ("imports:\n  - {to: a, id: x, identity: {name: b}}\n", "environment 1:2:5: imports[0]", "either the key 'id'"),
        ("imports:\n  - {to: a, id: 5}\n", "imports[0].id", "must be the ID of an object"),
        ("imports:\n  - {to: a, identity: shop}\n", "imports[0].identity", "must be a map of fields"),
        ("imports:\n  - {to: a, identity: {name: [b]}}\n", "imports[0].identity.name", "must be a string, a number"),
        ("imports:\n  - {from: a, id: x}\n", "environment 1:2:", "unknown key 'from'"),
        ("imports:\n  - {to: {stack: x}, id: x}\n", "environment 1:2:", "must be the name of a resource of this stack"),
        ("imports: {a: b}\n", "environment 1:1:", "must be a list, not a map"),
    ],
)
def test_problems_have_positions(stacks: Stacks, text: str, place: str, output: str) -> None:
    stacks.create(template(v=VOLUME))
    asked = {"files": {"names.yaml": text}, "environment_files": ["names.yaml"]}
    message = stacks.refused(template(v=VOLUME, a=NET), {}, **asked)
    assert output in message
    assert place in message


def test_a_resource_that_only_referred_to_an_object_owns_it_after_an_import(stacks: Stacks, objects: Objects) -> None:
    net = objects.net()
    stacks.create(template(net={**NET, "external_id": net}, sub=subnet("net")))
    before = stacks.writes()
    assert stacks.plan(template(net=NET, sub=subnet("net")), imports(net=net))["summary"] == {"keep": 2, "import": 1}
    had = stacks.objects()
    plain = stacks.plan(template(net=NET, sub=subnet("net")))
    assert (plain["summary"]["refuse"], plain["suggested_imports"]) == (1, imports(net=net)["imports"])
    stacks.update(template(net=NET, sub=subnet("net")), imports(net=net))
    assert (stacks.objects(), stacks.writes()) == (had, before)
    stacks.update(template(v=VOLUME))
    assert objects.network(net) is None


@pytest.mark.parametrize("name", ["shop", "store"])
def test_rollback_releases_imported_object_without_deletion(stacks: Stacks, objects: Objects, name: str) -> None:
    stacks.create(template(v=VOLUME))
    had, net = stacks.objects(), objects.net()
    definition = template(v=VOLUME, net={"type": "OS::Neutron::Net", "properties": {"name": name}}, bad=FAILING)
    definition["resources"]["bad"]["depends_on"] = "net"
    done = stacks.update(definition, imports(net=net), disable_rollback=False)
    assert done["stack_status"] == "ROLLBACK_COMPLETE"
    assert stacks.objects() == had
    assert objects.network(net) is not None
    stacks.update(template(v=VOLUME, net=UNNAMED), imports(net=net))  # it belongs to nobody
    assert stacks.objects()["net"] == net


def test_the_rollback_of_a_new_stack_keeps_the_object(stacks: Stacks, objects: Objects) -> None:
    net = objects.net()
    done = stacks.create(template(net=NET, bad=FAILING), imports(net=net), disable_rollback=False)
    assert done["stack_status"] == "ROLLBACK_COMPLETE"
    assert stacks.objects() == {}
    assert objects.network(net) is not None


def test_rollback_restores_the_reference_to_the_object(stacks: Stacks, objects: Objects) -> None:
    net = objects.net()
    refers = template(net={**NET, "external_id": net})
    stacks.create(refers)
    done = stacks.update(template(net=NET, bad=FAILING), imports(net=net), disable_rollback=False)
    assert done["stack_status"] == "ROLLBACK_COMPLETE"
    assert stacks.plan(refers)["summary"] == {"keep": 1}
    stacks.update(template(v=VOLUME))
    assert objects.network(net) is not None


def test_entries_stay_when_resources_are_renamed_replaced_or_removed(stacks: Stacks, objects: Objects) -> None:
    net = objects.net()
    entries = imports(net=net)
    stacks.create(template(net=NET, v=VOLUME), entries)
    both = {**entries, **moves(net="shop")}
    stacks.update(template(shop=NET, v=VOLUME), both)
    assert stacks.objects()["shop"] == net
    assert stacks.plan(template(shop=NET, v=VOLUME), both)["summary"] == {"keep": 2}
    hints = {"type": "OS::Neutron::Net", "properties": {"availability_zone_hints": ["nova"]}}
    stacks.update(template(shop=hints, v=VOLUME), both)
    assert stacks.objects()["shop"] != net
    assert stacks.plan(template(shop=hints, v=VOLUME), both)["summary"] == {"keep": 2}
    stacks.update(template(v=VOLUME), {**entries, "removed": [{"from": "net", "destroy": False}]})


def test_values_of_resources_that_an_import_refers_to_are_read(stacks: Stacks, objects: Objects) -> None:
    stacks.create(template(a={"type": "OS::Neutron::Net", "properties": {"name": "front"}}))
    net = objects.net("front-shop")
    named = {"list_join": ["-", [{"get_attr": ["a", "name"]}, "shop"]]}
    definition = template(
        a={"type": "OS::Neutron::Net", "properties": {"name": "front"}},
        net={"type": "OS::Neutron::Net", "properties": {"name": named}},
    )
    before = stacks.writes()
    assert stacks.plan(definition, imports(net=net))["summary"] == {"keep": 2, "import": 1}
    stacks.update(definition, imports(net=net))
    assert stacks.writes() == before
