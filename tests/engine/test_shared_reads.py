"""Comparisons of many resources read lists, not each object; and find the same as with a request for each."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.engine.inspection.shared_reads import MANY
from testing.harness import RARE_HEARTBEATS, World
from tests.engine.test_looking_plans import REF, SERVER, change_outside, plan_of, requests_of, template

PORTS = "/network/v2.0/ports"
BUDGET = 30
NETWORK = {"get_resource": "net"}


def many(number: int, groups: int = 0) -> dict[str, Any]:
    port = {"type": "OS::Neutron::Port", "properties": {"network": NETWORK, "tags": ["a"]}}
    volume = {"type": "OS::Cinder::Volume", "properties": {"size": 1, "metadata": {"a": "b"}}}
    properties: dict[str, Any] = dict(SERVER["properties"])
    properties |= {"networks": [{"network": NETWORK}], "security_groups": ["default"]}
    server = {**SERVER, "properties": properties}
    kinds = {"port": port, "volume": volume, "server": server}
    if groups:
        members = {name: {"count": groups, "resource_def": kind} for name, kind in kinds.items()}
        kinds = {name: {"type": "OS::Heat::ResourceGroup", "properties": each} for name, each in members.items()}
    made = {f"{name}{index}": kind for name, kind in kinds.items() for index in range(number)}
    subnet = {"network": NETWORK, "cidr": "10.0.0.0/16"}
    network = {"net": {"type": "OS::Neutron::Net"}, "subnet": {"type": "OS::Neutron::Subnet", "properties": subnet}}
    return template(**network, **{name: {**kind, "depends_on": "subnet"} for name, kind in made.items()})


UNLIMITED = (
    ("/compute/v2.1/os-quota-sets", "quota_set", ("instances", "cores", "ram")),
    ("/volume/v3/os-quota-sets", "quota_set", ("volumes", "gigabytes")),
    ("/network/v2.0/quotas", "quota", ("port",)),
)


async def make(world: World, number: int, groups: int = 0) -> None:
    """Create a stack with a number of objects of each kind, or of groups of them, beyond the usual quotas."""
    token = world.served.token("admin", "admin")
    for path, key, names in UNLIMITED:
        body = {key: dict.fromkeys(names, -1)}
        assert world.served.call("PUT", f"{path}/{world.context.project_id}", body, token).status < 300
    made = await world.create("web", many(number, groups))
    assert made["status"] == "COMPLETE", made["status_reason"]


async def statuses_and_requests(world: World) -> tuple[dict[str, str], list[str]]:
    """The status of each resource, and the services that were asked."""
    asked = requests_of(world)
    await world.ended(world.call("drift_detect", ref=REF, names=None))
    await world.ended(world.engine.services.background.ended())
    found = await world.call("drift_list", ref=REF)
    return {each["name"]: each["status"] for each in found}, asked


@pytest.fixture
async def stack(world: World) -> World:
    await make(world, MANY)
    return world


async def test_few_requests_compare_many_objects(stack: World) -> None:
    found, asked = await statuses_and_requests(stack)
    assert set(found.values()) == {"IN_SYNC"}
    assert len(found) == 2 + 3 * MANY
    assert len(asked) <= BUDGET


async def test_ports_of_all_servers_are_read_in_one_statement(stack: World) -> None:
    questions: list[str] = []

    @event.listens_for(Engine, "before_cursor_execute")
    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if "resources.physical_id IN" in statement:
            questions.append(statement)

    try:
        found, _ = await statuses_and_requests(stack)
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    assert set(found.values()) == {"IN_SYNC"}
    assert len(questions) == 1


async def test_as_many_requests_as_objects_if_there_are_few(world: World) -> None:
    await make(world, 2)
    found, asked = await statuses_and_requests(world)
    assert set(found.values()) == {"IN_SYNC"}
    assert asked.count("cinder") >= 2


async def test_object_missing_from_list_is_read_individually(stack: World) -> None:
    resources = await stack.resources("web")
    for name, collection in (("port3", PORTS), ("volume4", "/volume/v3/volumes")):
        change_outside(stack, "DELETE", f"{collection}/{resources[name]['physical_id']}")
    change_outside(stack, "PUT", f"{PORTS}/{resources['port5']['physical_id']}/tags", {"tags": ["b"]})
    server = resources["server7"]["physical_id"]
    change_outside(stack, "POST", f"/compute/v2.1/servers/{server}/os-interface", {"interfaceAttachment": {}})
    found, asked = await statuses_and_requests(stack)
    differing = {name: status for name, status in found.items() if status != "IN_SYNC"}
    assert differing == {"port3": "DELETED", "volume4": "DELETED", "port5": "MODIFIED", "server7": "MODIFIED"}
    assert len(asked) <= BUDGET


@pytest.mark.parametrize("status", [403, 503])
async def test_a_service_that_does_not_list_makes_its_resources_unknown_alone(stack: World, status: int) -> None:
    stack.served.cloud.faults.add(Fault(on="GET /network/*", do="fail", status=status))
    try:
        found, _ = await statuses_and_requests(stack)
    finally:
        stack.served.cloud.faults.clear()
    assert {found[f"port{index}"] for index in range(MANY)} == {"UNKNOWN"}
    assert {found[f"volume{index}"] for index in range(MANY)} == {"IN_SYNC"}


async def test_plans_and_corrections_share_reads_too(stack: World) -> None:
    asked = requests_of(stack)
    await plan_of(stack, many(MANY), refresh="all")
    assert len(asked) <= BUDGET


@pytest.mark.slow
async def test_a_thousand_of_each_need_at_most_thirty_requests(served: ServedCloud, tmp_path: Path) -> None:
    settings = replace(RARE_HEARTBEATS, max_resources_per_stack=-1)
    world = await World(tmp_path / "many.db", served, settings=settings).start()
    try:
        await make(world, 1, groups=1000)
        began = time.thread_time()
        found, asked = await statuses_and_requests(world)
        seconds = time.thread_time() - began
    finally:
        await world.stop()
    print(f"3000 comparisons: {len(asked)} requests, {seconds:.1f} s of processor time of the engine's event loop")
    assert found == dict.fromkeys(("net", "subnet", "port0", "volume0", "server0"), "IN_SYNC")
    assert len(asked) <= BUDGET


async def test_aws_types_share_reads_with_native_types(world: World) -> None:
    volume = {"type": "AWS::EC2::Volume", "properties": {"Size": 1, "AvailabilityZone": "nova"}}
    await world.create(
        "web",
        template(
            **{f"volume{index}": volume for index in range(10)},
            **{f"own{index}": {"type": "OS::Cinder::Volume", "properties": {"size": 1}} for index in range(MANY - 10)},
        ),
    )
    asked = requests_of(world)
    await plan_of(world, template(), refresh="all")
    assert asked.count("cinder") <= 4
