"""What a step does is decided on final values: the plan said what could be known before."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from stoker.store import queries
from testing.harness import World


def depending(**source: Any) -> dict[str, Any]:
    """A string that is generated again when its salt changes."""
    resources = {
        "source": {"type": "OS::Heat::TestResource", "properties": source},
        "word": {"type": "OS::Heat::RandomString", "properties": {"salt": {"get_attr": ["source", "output"]}}},
    }
    return {"heat_template_version": "2021-04-16", "resources": resources}


async def test_planned_replacement_is_skipped_if_values_are_unchanged(world: World) -> None:
    await world.create("words", depending(value="one"))
    before = (await world.resources("words"))["word"]["physical_id"]

    stack = await world.update("words", depending(value="one", wait_secs=0.1))

    assert (stack["action"], stack["status"]) == ("UPDATE", "COMPLETE")
    assert (await world.resources("words"))["word"]["physical_id"] == before


async def test_resource_with_failed_update_is_updated_again(world: World) -> None:
    def volume(size: int) -> dict[str, Any]:
        body = {"type": "OS::Cinder::Volume", "properties": {"size": size}}
        return {"heat_template_version": "2021-04-16", "resources": {"volume": body}}

    await world.create("disks", volume(1))
    before = (await world.resources("disks"))["volume"]["physical_id"]
    fault = Fault(on="POST /volume/v3/*/action", do="fail", status=400, times=1)
    world.in_cloud(lambda: world.served.cloud.faults.add(fault))
    assert (await world.update("disks", volume(2)))["status"] == "FAILED"

    stack = await world.update("disks", volume(2))

    assert (stack["action"], stack["status"]) == ("UPDATE", "COMPLETE")
    assert (await world.resources("disks"))["volume"]["physical_id"] == before
    shown = await (await world.engine.services.credentials.of_caller(world.context)).get("cinder", f"/volumes/{before}")
    assert shown["volume"]["size"] == 2


def launched(note: str) -> dict[str, Any]:
    """A launch configuration cannot change, which it says when it is asked to."""
    properties = {"ImageId": "cirros", "InstanceType": "m1.tiny"}
    body = {"Type": "AWS::AutoScaling::LaunchConfiguration", "Properties": properties, "Metadata": {"note": note}}
    return {"AWSTemplateFormatVersion": "2010-09-09", "Resources": {"launch": body}}


async def test_resource_planned_for_update_is_removed_after_replacement(world: World) -> None:
    created = await world.create("web", launched("one"))

    assert (await world.update("web", launched("two")))["status"] == "COMPLETE"

    rows = await world.database.read(queries.resources_of, created["id"])
    assert [(row.name, row.action, row.replaced_by) for row in rows] == [("launch", "CREATE", None)]


def fed(type_: str, source: Any, /, **properties: Any) -> dict[str, Any]:
    """A resource that gets values which nobody knows before another one has been made."""
    resources = {
        "source": {"type": "OS::Heat::TestResource", "properties": {"value": source}},
        "fed": {"type": type_, "properties": properties},
    }
    return {"heat_template_version": "2021-04-16", "resources": resources}


SOURCE_OUTPUT = {"get_attr": ["source", "output"]}
CHILD = """
heat_template_version: 2021-04-16
parameters: {length: {type: string}}
resources:
  inner: {type: OS::Heat::RandomString, properties: {length: {get_param: length}}}
"""
SECRETIVE = """
heat_template_version: 2021-04-16
parameters: {word: {type: string, hidden: true, constraints: [{length: {max: 3}}]}}
"""


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        (
            fed("OS::Heat::RandomString", "some", length=SOURCE_OUTPUT),
            "resources.fed: template: resources.fed.properties.length: 'some' is not an integer",
        ),
        (
            fed("OS::Heat::RandomString", "600", length=SOURCE_OUTPUT),
            "resources.fed: template: resources.fed.properties.length: 600 is more than 512",
        ),
        (
            fed("OS::Heat::Value", "some", type="number", value=SOURCE_OUTPUT),
            "resources.fed: template: resources.fed.properties: value: 'some' is not a number",
        ),
        (
            fed(
                "OS::Neutron::Subnet",
                "10.0.0.0/24",
                network={"get_attr": ["source", "output", "none"]},
                cidr=SOURCE_OUTPUT,
            ),
            "resources.fed: template: resources.fed.properties: property 'network' is required",
        ),
        (
            fed("child.yaml", "some", length=SOURCE_OUTPUT),
            "resources.fed.resources.inner: child.yaml:5:54: resources.inner.properties.length: "
            "'some' is not an integer",
        ),
        (
            fed("secretive.yaml", "long-and-secret", word=SOURCE_OUTPUT),
            "resources.fed: template: resources.fed.properties.word: "
            "the value (not shown, since it is secret) violates the type or a constraint",
        ),
    ],
    ids=["type", "constraint", "any type", "required", "deep inside", "secret"],
)
async def test_late_values_are_checked_before_creation(world: World, template: dict[str, Any], reason: str) -> None:
    stack = await world.create("late", template, files={"child.yaml": CHILD, "secretive.yaml": SECRETIVE})

    assert stack["status"] == "FAILED"
    assert reason in stack["status_reason"]
    fed = (await world.resources("late"))["fed"]
    assert (fed["action"], fed["status"]) == ("CREATE", "FAILED")


async def test_late_values_are_checked_before_update(world: World) -> None:
    await world.create("late", fed("OS::Heat::RandomString", "7", length=SOURCE_OUTPUT))

    stack = await world.update("late", fed("OS::Heat::RandomString", "seven", length=SOURCE_OUTPUT))

    assert stack["status"] == "FAILED"
    assert "resources.fed.properties.length: 'seven' is not an integer" in stack["status_reason"]
    assert (await world.update("late", fed("OS::Heat::RandomString", "7", length=SOURCE_OUTPUT)))[
        "status"
    ] == "COMPLETE"
