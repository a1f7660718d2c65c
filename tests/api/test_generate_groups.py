"""What repeats in a project becomes groups with nested templates, over HTTP: their deployment writes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.authoring.convert.templates import to_yaml
from stoker_foundation.clock import SystemClock
from testing.project_objects import Objects
from tests.api.rest_stacks import Stacks
from tests.api.test_generate import generated, writes
from tests.api.test_moved_below import below


@pytest.fixture
def served() -> Iterator[ServedCloud]:
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.0)) as served:
        yield served


def body_of(grouped: Mapping[str, Any]) -> dict[str, Any]:
    files = {name: to_yaml(each) for name, each in grouped["files"].items()}
    return {"template": grouped["template"], "environment": grouped["environment"], "files": files}


def deployed(stacks: Stacks, found: Mapping[str, Any]) -> None:
    """Create a stack of what was generated, and update it to the template with groups: both write nothing."""
    before = writes(stacks)
    flat = {"stack_name": "web", "template": found["template"], "environment": found["environment"]}
    made = stacks.send("POST", "", flat)
    assert made.status_code == 201, made.text
    stacks.world.settle(made.json()["stack"]["id"])
    path = f"/web/{stacks.shown('/web')['stack']['id']}"
    grouped = body_of(found["grouped"])
    plan = stacks.send("PUT", f"{path}/preview", grouped).json()["plan"]
    assert plan["summary"]["move"] == len(found["grouped"]["environment"]["moved"]), plan["summary"]
    stacks.update(grouped["template"], grouped["environment"], files=grouped["files"])
    assert writes(stacks) == before
    drift = stacks.shown(f"{path}/drift")["plan"]
    assert set(drift["summary"]) == {"keep"}, drift["summary"]
    assert drift["compared"]["in_sync"] == len(found["resources"]), drift["compared"]
    again = stacks.send("PUT", f"{path}/preview", grouped).json()["plan"]
    assert set(again["summary"]) == {"keep"}, again["summary"]


def three_servers(objects: Objects, name: str = "web") -> dict[str, Any]:
    net = objects.net("shop")
    sub = objects.subnet(net)
    objects.router(sub, "out")
    made: dict[str, Any] = {}
    for number in ("1", "2", "3"):
        port = objects.port(net, f"{name}-{number}")
        volume = objects.volume(f"{name}-{number}", size=int(number))
        made[number] = (objects.server(f"{name}-{number}", port, volumes=(volume,)), port, volume)
        objects.floating_ip(port)
    return made


def test_servers_with_own_parts_get_a_nested_template(stacks: Stacks, objects: Objects) -> None:
    made = three_servers(objects)
    found = generated(stacks, "?groups=true")
    resources = found["grouped"]["template"]["resources"]
    members = {name: each for name, each in resources.items() if each["type"] == "web_server.yaml"}
    assert list(members) == ["web_server_1", "web_server_2", "web_server_3"]
    assert [(each["properties"]["name"], each["properties"]["size"]) for each in members.values()] == [
        ("web-1", 1),
        ("web-2", 2),
        ("web-3", 3),
    ]
    nested = found["grouped"]["files"]["web_server.yaml"]["resources"]
    assert {name: each["type"] for name, each in nested.items()} == {
        "server": "OS::Nova::Server",
        "floating_ip": "OS::Neutron::FloatingIP",
        "port": "OS::Neutron::Port",
        "volume": "OS::Cinder::Volume",
    }
    assert {each["deletion_policy"] for each in nested.values()} == {"Retain"}
    assert nested["server"]["properties"]["networks"] == [{"port": {"get_resource": "port"}}]
    deployed(stacks, found)
    now = below(stacks)
    assert {key: now[f"web_server_{key}.server"] for key in made} == {key: each[0] for key, each in made.items()}
    assert generated(stacks)["grouped"] is None


def test_similar_objects_become_a_group_with_removable_members(stacks: Stacks, objects: Objects) -> None:
    for number in (1, 2, 10):
        objects.volume(f"disk-{number}", size=number, metadata={"n": str(number)})
    for number in range(3):
        objects.volume(f"odd-{number}", description="what %key% and %value.x% are")
    found = generated(stacks, "?groups=true")
    assert found["grouped"]["files"] == {}
    group = found["grouped"]["template"]["resources"]["disk_volumes"]
    assert group["deletion_policy"] == "Retain"
    assert group["properties"]["for_each"] == {"1": {"size": 1}, "2": {"size": 2}, "10": {"size": 10}}
    member_properties = group["properties"]["resource_def"]["properties"]
    assert (member_properties["name"], member_properties["size"], member_properties["metadata"]) == (
        "disk-%key%",
        "%value.size%",
        {"n": "%key%"},
    )
    deployed(stacks, found)
    had, before = below(stacks), writes(stacks)
    grouped = body_of(found["grouped"])
    del group["properties"]["for_each"]["2"], grouped["environment"]["moved"]
    stacks.update(grouped["template"], grouped["environment"])
    assert below(stacks) == {path: each for path, each in had.items() if path != "disk_volumes.2"}
    assert [each.partition(" ")[0] for each in writes(stacks)[len(before) :]] == ["DELETE"]
    before = writes(stacks)
    stack = stacks.shown("/web")["stack"]["id"]
    stacks.send("DELETE", f"/web/{stack}")
    stacks.world.settle(stack)
    assert writes(stacks) == before


def test_members_that_differ_or_are_referenced_are_not_grouped(stacks: Stacks, objects: Objects) -> None:
    net = objects.net("net-1")
    objects.subnet(net)
    objects.net("net-2", description="another")
    two = [objects.volume(f"two-{number}") for number in range(2)]
    same = [objects.volume("same-1") for _ in range(3)]
    ports = [objects.port(net, f"port-{number}") for number in range(3)]
    objects.server("one", *ports)
    found = generated(stacks, "?groups=true")
    assert found["grouped"] is None
    assert {each["physical_resource_id"] for each in found["resources"]} >= {*two, *same, *ports}


def test_a_project_file_with_all_features(stacks: Stacks, objects: Objects) -> None:
    objects.everything()
    three_servers(objects, "app")
    found = generated(stacks, "?groups=true")
    assert "app_server_1" in found["grouped"]["template"]["resources"]
    deployed(stacks, found)
