"""What outputs show of the compute service's availability zones."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.faults import Fault
from testing.harness import World

ZONES = "GET /compute/v2.1/os-availability-zone"
VALUE: dict[str, Any] = {"Fn::Join": [",", {"Fn::GetAZs": ""}]}
TEMPLATE: dict[str, Any] = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Resources": {"v": {"Type": "OS::Heat::Value", "Properties": {"value": VALUE}}},
    "Outputs": {"az": {"Value": VALUE, "Export": {"Name": "azs"}}},
}
HOLDER: dict[str, Any] = {
    "heat_template_version": "2021-04-16",
    "resources": {"inside": {"type": "zones.yaml"}},
    "outputs": {"az": {"value": {"get_attr": ["inside", "az"]}}},
}
WITHOUT: dict[str, Any] = {**TEMPLATE, "Outputs": {"az": {"Value": {"Fn::GetAtt": ["v", "value"]}}}}


def refuse_zones(world: World) -> Any:
    """The fault by which the compute service tells its zones no more, with its `hits`."""
    return world.in_cloud(lambda: world.served.cloud.faults.add(Fault(on=ZONES, do="fail", status=403)))


async def test_outputs_show_the_zones_that_are_exported(world: World) -> None:
    stack = await world.create("zones", TEMPLATE)
    (exported,) = await world.call("export_list")
    assert exported["value"] == "nova"
    assert world.outputs(stack) == {"az": "nova"}
    shown = await world.call("output_show", ref={"name": "zones", "id": None}, key="az")
    assert shown["output_value"] == "nova"
    described = await world.call("stack_describe", ref={"name": "zones", "id": None})
    assert world.outputs(described) == {"az": "nova"}


async def test_zones_in_an_output_of_a_nested_stack(world: World) -> None:
    stack = await world.create("holder", HOLDER, files={"zones.yaml": str(TEMPLATE)})
    assert world.outputs(stack) == {"az": "nova"}


async def test_only_zone_outputs_call_the_service(world: World) -> None:
    quiet, stack = await world.create("quiet", WITHOUT), await world.create("zones", TEMPLATE)
    fault = refuse_zones(world)
    assert world.outputs(await world.settle(quiet["id"])) == {"az": "nova"}
    assert fault.hits == 0
    assert world.outputs(await world.settle(stack["id"])) == {"az": None}
    assert fault.hits == 1
