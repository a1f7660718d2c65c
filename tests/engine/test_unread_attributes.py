"""A service fails while attributes are read: no resource and no output gets a wrong value because of that."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from tests.harness import World

READS = "GET /network/v2.0/networks/*"


def template(about: str = "first") -> dict[str, Any]:
    described = {"name": about, "value_specs": {"description": {"get_attr": ["one", "name"]}}}
    return {
        "heat_template_version": "2021-04-16",
        "resources": {
            "one": {"type": "OS::Neutron::Net", "properties": {"name": about}},
            "two": {"type": "OS::Neutron::Net", "properties": described},
        },
        "outputs": {"name": {"value": {"get_attr": ["one", "name"]}}},
    }


def failing(world: World, times: int | None = None) -> Fault:
    """Have the network service fail to show networks."""
    rule = Fault(on=READS, do="fail", status=500, times=times)
    return world.in_cloud(lambda: world.served.cloud.faults.add(rule))  # type: ignore[no-any-return]


def mend(world: World) -> None:
    world.in_cloud(world.served.cloud.faults.clear)


async def description(world: World) -> str:
    identifier = (await world.resources("web"))["two"]["physical_id"]
    answer = world.served.call("GET", f"/network/v2.0/networks/{identifier}", token=world.context.token)
    return str(answer.json["network"]["description"])


async def test_reads_that_fail_are_repeated(world: World) -> None:
    rule = failing(world, times=2)
    stack = await world.create("web", template())
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert rule.hits == 2
    assert await description(world) == "first"


async def test_dependent_of_unreadable_value_fails_and_is_created_by_next_update(world: World) -> None:
    failing(world)
    stack = await world.create("web", template())
    assert stack["status"] == "FAILED"
    assert "resources.two: cannot read the attribute name of one: " in stack["status_reason"]
    assert "(HTTP 500)" in stack["status_reason"]
    mend(world)
    assert (await world.update("web", template()))["status"] == "COMPLETE"
    assert await description(world) == "first"


async def test_an_output_has_no_former_value(world: World, caplog: pytest.LogCaptureFixture) -> None:
    stack = await world.create("web", template())
    assert world.outputs(stack) == {"name": "first"}
    alone = template("second")
    del alone["resources"]["two"]
    failing(world)
    stack = await world.update("web", alone)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert "cannot read attributes of one, they stay unknown" in caplog.text
    mend(world)
    shown = await world.call("stack_show", ref={"name": "web", "id": None})
    assert world.outputs(shown) == {"name": "second"}
