"""Checking a template without making anything of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import BadValue, CloudError, ResourceTypeUnavailable, TemplateInvalid
from testing.harness import World

HEAD = "heat_template_version: 2021-04-16\n"
LEAF = HEAD + "parameters: {size: {type: number, default: 4}}\nresources: {}\n"
MIDDLE = (
    HEAD
    + """
parameters: {size: {type: number, default: 7}}
resources:
  leaf:
    type: leaf.yaml
    properties: {size: {get_param: size}, colour: red}
"""
)
ROOT = HEAD + "resources: {middle: {type: middle.yaml, properties: {size: 5}}}\n"
FILES = {"middle.yaml": MIDDLE, "leaf.yaml": LEAF}


async def validated(world: World, template: str, **more: Any) -> dict[str, Any]:
    answer: dict[str, Any] = await world.call("validate_template", template=template, files=FILES, **more)
    return answer


async def test_parameters_of_nested_stacks_are_reported_where_that_is_asked_for(world: World) -> None:
    assert "NestedParameters" not in await validated(world, ROOT)
    middle = (await validated(world, ROOT, show_nested=True))["NestedParameters"]["middle"]
    assert (middle["Type"], middle["Parameters"]["size"]["Value"]) == ("middle.yaml", 5)
    leaf = middle["NestedParameters"]["leaf"]
    assert (leaf["Type"], leaf["Parameters"]["size"]["Default"]) == ("leaf.yaml", 4)


async def test_mistakes_in_the_template_itself_are_reported_and_those_in_others_by_a_preview(world: World) -> None:
    with pytest.raises(TemplateInvalid, match="unknown property 'colour'"):
        await validated(world, MIDDLE)
    await validated(world, ROOT)
    with pytest.raises(TemplateInvalid, match="unknown property 'colour'"):
        await world.call("stack_preview", name="web", template=ROOT, files=FILES)


async def test_a_nested_template_that_cannot_be_read_is_reported(world: World) -> None:
    with pytest.raises(TemplateInvalid, match=r"middle\.yaml: the document is a single value"):
        await world.call("validate_template", template=ROOT, files={"middle.yaml": "broken"})


@pytest.mark.parametrize("rule", [{"do": "fail", "status": 503}, {"do": "drop"}], ids=lambda rule: rule["do"])
async def test_unavailable_service_does_not_invalidate_template(world: World, rule: dict[str, Any]) -> None:
    address = '{type: "OS::Neutron::FloatingIP", properties: {floating_network: public}}'
    fault = Fault(on="GET /network/v2.0/networks", **rule)
    world.in_cloud(lambda: world.served.cloud.faults.add(fault))
    creation = asyncio.ensure_future(
        world.call("stack_create", name="web", template=f"{HEAD}resources: {{address: {address}}}")
    )
    await world.until(creation.done)
    with pytest.raises(CloudError) as caught:
        creation.result()
    assert caught.value.transient
    assert fault.hits


QUEUE = HEAD + "resources: {queue: {type: OS::Zaqar::Queue}}\n"


@pytest.fixture
async def without_messaging(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    services = served.call("GET", "/identity/v3/services?type=messaging", token=served.token()).json["services"]
    for service in services:
        assert served.call("DELETE", f"/identity/v3/services/{service['id']}", token=served.token()).status == 204
    world = await World(tmp_path / "stoker.db", served).start()
    yield world
    await world.stop()


async def test_missing_service_is_reported_unless_ignored(without_messaging: World) -> None:
    world = without_messaging
    with pytest.raises(ResourceTypeUnavailable, match="HEAT-E99001 Service zaqar is not available"):
        await validated(world, QUEUE)
    await validated(world, QUEUE, ignore_errors=["99001"])
    with pytest.raises(ResourceTypeUnavailable):
        await world.call("stack_create", name="web", template=QUEUE)


async def test_an_unknown_error_code_is_refused(world: World) -> None:
    with pytest.raises(BadValue, match="unknown codes 1, x; only 99001 can be ignored"):
        await validated(world, ROOT, ignore_errors=["x", "99001", "1"])


PORT_BY_NAME = (
    HEAD
    + """
parameters: {network: {type: string, constraints: [{custom_constraint: neutron.network}]}}
resources:
  port: {type: OS::Neutron::Port, properties: {network: {get_param: network}}}
"""
)
MIDDLE_OF_PORTS = (
    HEAD
    + """
parameters: {network: {type: string}}
resources: {deep: {type: port.yaml, properties: {network: {get_param: network}}}}
"""
)
PORTS = {"middle.yaml": MIDDLE_OF_PORTS, "port.yaml": PORT_BY_NAME}
NET_AND_PORT = (
    HEAD
    + """
resources:
  net: {type: OS::Neutron::Net, properties: {name: NAME}}
  subnet: {type: OS::Neutron::Subnet, properties: {network: {get_resource: net}, cidr: 10.9.0.0/24}}
  ports: {type: middle.yaml, depends_on: subnet, properties: {network: control}}
"""
)


@pytest.mark.parametrize("name", ["control", "{list_join: ['', [con, trol]]}"])
async def test_nested_stack_may_refer_to_objects_of_the_tree(world: World, name: str) -> None:
    stack = await world.create("web", NET_AND_PORT.replace("NAME", name), files=PORTS)
    assert stack["status"] == "COMPLETE", stack["status_reason"]


async def test_nested_stack_may_not_refer_to_missing_objects(world: World) -> None:
    creation = asyncio.ensure_future(world.create("web", NET_AND_PORT.replace("NAME", "other"), files=PORTS))
    await world.until(creation.done)
    with pytest.raises(TemplateInvalid, match="there is no network 'control'"):
        creation.result()


async def test_unknown_name_lists_existing_names(world: World) -> None:
    text = (
        HEAD
        + """
resources:
  near: {type: OS::Nova::Server, properties: {flavor: m1.smal, image: cirros, networks: [{network: public}]}}
  far: {type: OS::Nova::Server, properties: {flavor: huge, image: cirros, networks: [{network: public}]}}
  group: {type: OS::Neutron::Port, properties: {network: public, qos_policy: gold}}
"""
    )
    with pytest.raises(TemplateInvalid) as refused:
        await world.create("web", text)
    reported = {item.path[1]: item.message for item in refused.value.diagnostics if item.rule == "constraint"}
    assert reported["near"] == "there is no flavor 'm1.smal'; did you mean 'm1.small'?"
    assert reported["far"].startswith("there is no flavor 'huge'; there are m1.tiny, m1.small, ")
    assert reported["far"].endswith(", …")
    assert reported["group"] == "there is no qos policy 'gold'"


async def test_null_gateway_and_missing_allocation_pools(world: World) -> None:
    def subnet(cidr: str, **more: Any) -> dict[str, Any]:
        return {"type": "OS::Neutron::Subnet", "properties": {"network": {"get_resource": "net"}, "cidr": cidr, **more}}

    gateways = {name: {"value": {"get_attr": [name, "gateway_ip"]}} for name in ("chosen", "none")}
    template = {
        "heat_template_version": "2021-04-16",
        "resources": {
            "net": {"type": "OS::Neutron::Net"},
            "chosen": subnet("10.1.0.0/24", allocation_pools=[]),
            "none": subnet("10.2.0.0/24", gateway_ip=None),
        },
        "outputs": {**gateways, "pools": {"value": {"get_attr": ["chosen", "allocation_pools"]}}},
    }
    outputs = world.outputs(await world.create("nets", template))
    assert (outputs["chosen"], outputs["none"]) == ("10.1.0.1", None)
    assert outputs["pools"] == [{"start": "10.1.0.2", "end": "10.1.0.254"}]


async def test_protocols_are_numbers_too(world: World) -> None:
    rules = "[{protocol: 112}, {protocol: '50'}, {protocol: tcp}]"
    group = f"{{type: OS::Neutron::SecurityGroup, properties: {{rules: {rules}}}}}"
    stack = await world.create("web", f"{HEAD}resources: {{group: {group}}}")
    assert stack["status"] == "COMPLETE", stack["status_reason"]


async def test_a_name_may_look_like_an_id(world: World) -> None:
    name = "5d0f2a55-21a0-4b4a-9a70-2f1b2a6f7a10"
    await world.create("nets", f"{HEAD}resources: {{net: {{type: OS::Neutron::Net, properties: {{name: {name}}}}}}}")
    subnet = f"{{type: OS::Neutron::Subnet, properties: {{network: {name}, cidr: 10.9.0.0/24}}}}"
    stack = await world.create("subnets", f"{HEAD}resources: {{subnet: {subnet}}}")
    assert stack["status"] == "COMPLETE", stack["status_reason"]
