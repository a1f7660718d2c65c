"""One resource is shown without reading the rest of its stack."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.base.errors import Forbidden
from testing.harness import World
from testing.reading_meter import ReadingMeter

HOT = {"heat_template_version": "2021-04-16"}
TRIES = 3
"""An engine that begins to work asks something itself: the least of some tries is the request's."""


def template(size: int) -> dict[str, Any]:
    """A chain of three values, with so many others beside it."""
    return {
        **HOT,
        "resources": {
            "first": {"type": "OS::Heat::RandomString"},
            "second": value(["first", "value"]),
            "third": value(["second", "value"]),
            **{f"other{number}": {"type": "OS::Heat::RandomString"} for number in range(size)},
        },
    }


def value(attribute: list[str]) -> dict[str, Any]:
    return {"type": "OS::Heat::Value", "properties": {"value": {"get_attr": attribute}}}


@pytest.mark.parametrize("request_name", ["resource_show", "resource_describe", "resource_metadata"])
async def test_as_many_rows_are_read_in_a_large_stack_as_in_a_small_one(
    tmp_path: Path, served: ServedCloud, request_name: str
) -> None:
    meter = ReadingMeter()
    with meter.attached():
        world = await World(tmp_path / "stoker.db", served).start()
        try:
            rows = []
            for size in (1, 60):
                name = f"size{size}"
                await world.create(name, template(size))
                taken = []
                for _ in range(TRIES):
                    before = sum(spent.rows for spent in meter.statements.values())
                    await world.call(request_name, ref={"name": name, "id": None}, name="first")
                    taken.append(sum(spent.rows for spent in meter.statements.values()) - before)
                rows.append(min(taken))
            assert rows[1] == rows[0] < 15
        finally:
            await world.stop()


async def test_the_user_of_a_resource_reads_its_metadata_alone(tmp_path: Path, served: ServedCloud) -> None:
    """An agent asks for them again and again, and may belong to a large stack."""
    meter = ReadingMeter()
    handle = {"handle": {"type": "OS::Heat::WaitConditionHandle", "metadata": {"for": "the agent"}}}
    with meter.attached():
        world = await World(tmp_path / "stoker.db", served).start()
        owner, rows = world.context, []
        try:
            for size in (1, 60):
                name = f"size{size}"
                resources = {**template(size)["resources"], **handle}
                stack = await world.create(name, {**HOT, "resources": resources})
                user = (await world.resources(name))["handle"]["physical_id"]
                world.context = replace(owner, user_id=user, project_id=stack["stack_user_project_id"])
                ref, taken = {"name": name, "id": stack["id"]}, []
                for _ in range(TRIES):
                    before = sum(spent.rows for spent in meter.statements.values())
                    assert await world.call("resource_metadata", ref=ref, name="handle") == {"for": "the agent"}
                    taken.append(sum(spent.rows for spent in meter.statements.values()) - before)
                rows.append(min(taken))
                with pytest.raises(Forbidden):
                    await world.call("resource_metadata", ref=ref, name="first")
                world.context = owner
            assert rows[1] == rows[0] < 15
        finally:
            await world.stop()


async def test_a_resource_is_shown_with_those_that_depend_on_it_directly(world: World) -> None:
    await world.create("chain", template(2))
    ref = {"name": "chain", "id": None}
    shown = {name: await world.call("resource_show", ref=ref, name=name) for name in ("first", "second", "third")}
    listed = await world.resources("chain")
    assert {name: view["required_by"] for name, view in shown.items()} == {
        "first": ["second"],
        "second": ["third"],
        "third": [],
    }
    assert all(list(listed[name]["required_by"]) == view["required_by"] for name, view in shown.items())
    assert shown["second"]["attributes"]["value"] == shown["first"]["attributes"]["value"] != ""


async def test_dependents_of_names_with_special_characters_are_found(world: World) -> None:
    odd = 'a_b%c"d\\e'
    plain = {"type": "OS::Heat::RandomString"}
    resources = {odd: plain, "aXbYc": plain, "user": value([odd, "value"]), "other": value(["aXbYc", "value"])}
    await world.create("odd", {**HOT, "resources": resources})
    shown = await world.call("resource_show", ref={"name": "odd", "id": None}, name=odd)
    assert shown["required_by"] == ["user"]
