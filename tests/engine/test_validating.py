"""Checking a template without making anything of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from world import World

from stoker.base.errors import CloudError, TemplateInvalid
from stoker.emulator.core.faults import Fault

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


async def test_parameters_of_nested_stacks_are_told_where_that_is_asked_for(world: World) -> None:
    assert "NestedParameters" not in await validated(world, ROOT)
    middle = (await validated(world, ROOT, show_nested=True))["NestedParameters"]["middle"]
    assert (middle["Type"], middle["Parameters"]["size"]["Value"]) == ("middle.yaml", 5)
    leaf = middle["NestedParameters"]["leaf"]
    assert (leaf["Type"], leaf["Parameters"]["size"]["Default"]) == ("leaf.yaml", 4)


async def test_mistakes_in_the_template_itself_are_told_and_those_in_others_by_a_preview(world: World) -> None:
    with pytest.raises(TemplateInvalid, match="unknown property 'colour'"):
        await validated(world, MIDDLE)
    await validated(world, ROOT)
    with pytest.raises(TemplateInvalid, match="unknown property 'colour'"):
        await world.call("stack_preview", name="web", template=ROOT, files=FILES)


async def test_a_nested_template_that_cannot_be_read_is_told(world: World) -> None:
    with pytest.raises(TemplateInvalid, match=r"middle\.yaml: the document is a single value"):
        await world.call("validate_template", template=ROOT, files={"middle.yaml": "broken"})


@pytest.mark.parametrize("rule", [{"do": "fail", "status": 503}, {"do": "drop"}], ids=lambda rule: rule["do"])
async def test_a_service_that_does_not_answer_says_nothing_about_the_template(
    world: World, rule: dict[str, Any]
) -> None:
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
