"""Types that exist and that an environment maps to something else: to a template, or to another type."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from stoker.store import tables
from testing.harness import World

INNER = """
heat_template_version: 2021-04-16
parameters:
  value: {type: string}
resources:
  inner:
    type: OS::Heat::TestResource
    properties: {value: {get_param: value}}
outputs:
  OS::stack_id: {value: {get_attr: [inner, output]}}
  output: {value: {list_join: ['-', [mine, {get_attr: [inner, output]}]]}}
"""
TEMPLATE = """
heat_template_version: 2021-04-16
resources:
  part:
    type: OS::Heat::TestResource
    properties: {value: one}
outputs:
  output: {value: {get_attr: [part, output]}}
  reference: {value: {get_resource: part}}
"""


@pytest.mark.parametrize("overridden", ["OS::Heat::TestResource", "OS::Heat::ResourceGroup"])
async def test_type_is_overridden_by_template(world: World, overridden: str) -> None:
    """The nested stack is read, updated and deleted, also by an engine that loads the stack from the database."""
    environment = {"resource_registry": {overridden: "mine.yaml"}}
    template = TEMPLATE.replace("OS::Heat::TestResource", overridden)
    asked = {"environment": environment, "files": {"mine.yaml": INNER}}
    stack = await world.create("overridden", template, **asked)
    assert world.outputs(stack) == {"output": "mine-one", "reference": "one"}
    shown = await world.call("resource_show", ref={"name": "overridden", "id": None}, name="part")
    assert shown["attributes"]["output"] == "mine-one"

    stack = await world.update("overridden", template.replace("one", "two"), **asked)
    assert (stack["status"], world.outputs(stack)) == ("COMPLETE", {"output": "mine-two", "reference": "two"})

    with world.database.writing() as connection:  # as an engine of an earlier release records it
        connection.execute(update(tables.resources).values(substituted=None))
    stack = await world.update("overridden", template.replace("one", "two"), **asked)
    assert world.outputs(stack) == {"output": "mine-two", "reference": "two"}
    await world.delete("overridden")
    assert (await world.call("stack_list", show_nested=True))["stacks"] == []


async def test_type_is_overridden_by_type_until_mapping_is_removed(world: World) -> None:
    """A placeholder instead of a network: no network exists before the mapping is removed."""
    template = {"heat_template_version": "2021-04-16", "resources": {"part": {"type": "OS::Neutron::Net"}}}
    environment = {"resource_registry": {"OS::Neutron::Net": "OS::Heat::None"}}
    await world.create("placeholder", template, environment=environment)
    shown = await world.call("resource_show", ref={"name": "placeholder", "id": None}, name="part")
    assert (shown["type"], shown["attributes"].get("status")) == ("OS::Neutron::Net", None)
    stack = await world.update("placeholder", template)
    assert stack["status"] == "COMPLETE"
    shown = await world.call("resource_show", ref={"name": "placeholder", "id": None}, name="part")
    assert shown["attributes"]["status"] == "ACTIVE"
    stack = await world.update("placeholder", template, environment=environment)
    assert stack["status"] == "COMPLETE"
    stack = await world.delete("placeholder")
    assert stack["status"] == "COMPLETE"
