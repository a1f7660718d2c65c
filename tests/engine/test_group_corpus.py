"""Groups in templates that others wrote for Heat, deployed as they are, and in the manual's.

Those of others are skipped where they are not at hand.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from testing import corpus
from testing.harness import RARE_HEARTBEATS, World

CORPUS = corpus.folder()
MANUAL = Path(__file__).parents[2] / "docs" / "how-to" / "scaling.yaml"
KEY = {
    "heat_template_version": "2021-04-16",
    "resources": {"key": {"type": "OS::Nova::KeyPair", "properties": {"name": "community", "save_private_key": True}}},
}
SIGNALS = "http://cfn.example:8000/v1/waitcondition"


@pytest.fixture
async def world(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    settings = replace(RARE_HEARTBEATS, type_options={"heat_waitcondition_server_url": SIGNALS})
    world = World(tmp_path / "stoker.db", served, settings=settings)
    await world.start()
    await world.create("key", KEY)
    yield world
    await world.stop()


async def deploy(world: World, name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    if CORPUS is None:
        pytest.skip(corpus.ABSENT)
    stack = await world.create("web", (CORPUS / name).read_text(), parameters=parameters)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    return stack


async def servers(world: World) -> list[dict[str, Any]]:
    nested = (await world.resources("web", 1)).values()
    return [row for row in nested if row["type"] in ("OS::Heat::ScaledResource", "OS::Nova::Server")]


async def test_a_group_of_instances(world: World) -> None:
    given = {"image_id": "cirros", "key_name": "community", "instance_type": "m1.tiny", "num_instances": 2}
    stack = await deploy(world, "hot/instance_group.yaml", given)
    assert len(world.outputs(stack)["server_group_addresses"].split(",")) == 2
    assert {row["type"] for row in await servers(world)} == {"OS::Heat::ScaledResource"}
    assert (await world.delete("web"))["status"] == "COMPLETE"


async def test_a_group_of_instances_that_scales(world: World) -> None:
    given = {"Image": "cirros", "KeyName": "community", "Flavor": "m1.tiny"}
    outputs = world.outputs(await deploy(world, "cfn/aws_asg.template", given))
    assert outputs["scale_up_url"].startswith("http://cfn.example:8000/v1/signal/arn%3Aopenstack%3Aheat")
    assert len(await servers(world)) == 3
    await world.call("resource_signal", ref={"name": "web", "id": None}, name="ScaleUpPolicy")
    await world.settle((await world.resources("web"))["ASG"]["physical_id"])
    assert len(await servers(world)) == 4
    assert (await world.delete("web"))["status"] == "COMPLETE"


async def test_a_group_of_servers_that_scales(world: World) -> None:
    given = {"image": "cirros", "key_name": "community", "flavor": "m1.tiny", "network": "private"}
    stack = await deploy(world, "hot/asg_of_servers.yaml", given)
    assert len(world.outputs(stack)["server_ips"]) == len(await servers(world)) > 0
    assert (await world.delete("web"))["status"] == "COMPLETE"


async def test_the_manuals_template_scales_and_rolls(world: World) -> None:
    stack = await world.create("web", MANUAL.read_text())
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert world.outputs(stack)["size"] == 2
    world.clock.advance(61)  # type: ignore[attr-defined]
    await world.call("resource_signal", ref={"name": "web", "id": None}, name="more")
    await world.settle((await world.resources("web"))["web"]["physical_id"])
    stack = await world.update("web", MANUAL.read_text(), parameters={"flavor": "m1.small"})
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert len(world.outputs(stack)["addresses"]) == 3
    assert (await world.delete("web"))["status"] == "COMPLETE"
