"""Reads at any moment of an operation: they are answered, and what runs does not notice."""

from __future__ import annotations

import contextlib
from typing import Any

from openstack_emulator.core.faults import Fault
from stoker.base.errors import ResourceNotFound
from testing.harness import World

HOT = {"heat_template_version": "2021-04-16"}
REF = {"name": "seen", "id": None}
CHILD = """
heat_template_version: 2021-04-16
resources:
  slow: {type: "OS::Heat::TestResource", properties: {value: there, wait_secs: 5}}
outputs:
  map: {value: {host: {get_attr: [slow, output]}}}
"""
FACADE = """
heat_template_version: 2021-04-16
resources:
  inner: {type: "OS::Heat::Value", properties: {value: {resource_facade: metadata}}}
outputs:
  metadata: {value: {resource_facade: metadata}}
  policy: {value: {resource_facade: deletion_policy}}
"""


def resource_and_output(attribute: list[str]) -> dict[str, Any]:
    """A resource that keeps a value, and the same value as an output."""
    value = {"get_attr": attribute}
    return {"type": "OS::Heat::Value", "properties": {"value": value}}


async def test_reads_during_creation_do_not_change_the_result(world: World) -> None:
    template = {
        **HOT,
        "resources": {"nested": {"type": "child.yaml"}, "later": resource_and_output(["nested", "map"])},
        "outputs": {
            "later": {"value": {"get_attr": ["later", "value"]}},
            "map": {"value": {"get_attr": ["nested", "map"]}},
        },
    }
    created = await world.call("stack_create", name="seen", template=template, files={"child.yaml": CHILD})
    while world.engine.runs.get(created["id"]) is not None:
        await world.call("stack_show", ref=REF)
        await world.call("resource_list", ref=REF, nested_depth=2, with_detail=True)
        await world.turn()
    stack = await world.call("stack_show", ref=REF)
    assert world.outputs(stack) == {"later": {"host": "there"}, "map": {"host": "there"}}


async def test_every_read_is_answered_while_a_stack_is_deleted(world: World) -> None:
    slow = {"type": "OS::Heat::TestResource", "properties": {"value": "v", "wait_secs": 2}}
    names = ("a", "b", "c")
    template = {
        **HOT,
        "resources": dict.fromkeys(names, slow),
        "outputs": {name: {"value": {"get_attr": [name, "output"]}} for name in names},
    }
    created = await world.create("seen", template)
    ref = {"name": None, "id": created["id"]}
    await world.call("stack_delete", ref=ref)
    seen = set()
    while world.engine.runs.get(created["id"]) is not None:
        for method in ("stack_show", "resource_list", "event_list", "stack_template"):
            await world.call(method, ref=ref)
        with contextlib.suppress(ResourceNotFound):
            shown = await world.call("resource_show", ref=ref, name="a")
            seen.add(f"{shown['action']}_{shown['status']}")
        await world.turn()
    assert "DELETE_IN_PROGRESS" in seen
    assert seen <= {"CREATE_COMPLETE", "DELETE_IN_PROGRESS"}


async def test_nested_outputs_see_parent_resource(world: World) -> None:
    holder = {"type": "facade.yaml", "metadata": {"role": "db"}, "deletion_policy": "Retain"}
    template = {
        **HOT,
        "resources": {"nested": holder},
        "outputs": {name: {"value": {"get_attr": ["nested", name]}} for name in ("metadata", "policy")},
    }
    stack = await world.create("seen", template, files={"facade.yaml": FACADE})
    assert world.outputs(stack) == {"metadata": {"role": "db"}, "policy": "Retain"}
    rows = await world.call("stack_list", show_nested=True)
    nested = next(row for row in rows["stacks"] if row["parent_id"] is not None)
    inside = await world.call("stack_show", ref={"name": None, "id": nested["id"]})
    assert world.outputs(inside) == {"metadata": {"role": "db"}, "policy": "Retain"}


async def test_value_read_is_retried_while_service_is_busy(world: World) -> None:
    template = {
        **HOT,
        "resources": {
            "net": {"type": "OS::Neutron::Net"},
            "subnet": {
                "type": "OS::Neutron::Subnet",
                "properties": {"network": {"get_resource": "net"}, "cidr": "10.1.0.0/24"},
            },
            "later": resource_and_output(["subnet", "gateway_ip"]),
        },
        "outputs": {"gateway": {"value": {"get_attr": ["later", "value"]}}},
    }
    busy = Fault(on="GET /network/v2.0/subnets/*", do="fail", status=503, times=3)
    world.in_cloud(lambda: world.served.cloud.faults.add(busy))
    stack = await world.create("seen", template)
    assert world.outputs(stack) == {"gateway": "10.1.0.1"}
