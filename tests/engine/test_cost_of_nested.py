"""What each further nested stack of a tree asks the database for, besides what it writes, and what it costs a change of
another one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.store.sealing import Sealer
from testing.harness import World
from testing.reading_meter import ReadingMeter

MEMBER = """
heat_template_version: 2021-04-16
parameters: {index: {type: string}}
resources:
  text: {type: OS::Heat::Value, properties: {value: {get_param: index}}}
outputs:
  text: {value: {get_attr: [text, value]}}
"""
FEW, MANY = 2, 12
READ_ONCE = {
    "the policies on plans": "FROM plan_policies",
    "the nested stack of a resource": "stacks.parent_resource = ?",
    "an operation": "SELECT operations.id, operations.stack_id",
}
"""What a tree is created with, by a part of the statement that reads it."""


def tree(count: int, removed: str | None = None) -> dict[str, Any]:
    definition = {"type": "member.yaml", "properties": {"index": "%index%"}}
    policies = [{"resource_list": [removed]}] if removed is not None else []
    properties = {"count": count, "resource_def": definition, "removal_policies": policies}
    return {
        "heat_template_version": "2021-04-16",
        "resources": {"members": {"type": "OS::Heat::ResourceGroup", "properties": properties}},
    }


@pytest.mark.parametrize("part", READ_ONCE.values(), ids=READ_ONCE)
async def test_further_nested_stacks_are_created_without_reading(
    tmp_path: Path, served: ServedCloud, part: str
) -> None:
    meter = ReadingMeter()
    with meter.attached():
        world = await World(tmp_path / "stoker.db", served).start()
        try:
            read = []
            for count in (FEW, MANY):
                before = executions(meter, part)
                await created(world, count)
                read.append(executions(meter, part) - before)
            assert read[1] < read[0] + (MANY - FEW) / 2
        finally:
            await world.stop()


def executions(meter: ReadingMeter, part: str) -> int:
    return sum(spent.executions for statement, spent in meter.statements.items() if part in " ".join(statement.split()))


async def test_outputs_are_recorded_with_the_end(tmp_path: Path, served: ServedCloud) -> None:
    """Six commits for each further nested stack: the beginning of the resource around it, its own, its ID, the resource
    in it, and both ends. Heartbeats take a few, however many nested stacks there are.
    """
    world = await World(tmp_path / "stoker.db", served).start()
    batches: list[int] = []
    world.journal.observe = lambda number, seconds: batches.append(number)
    try:
        taken = []
        for count in (FEW, MANY):
            before = sum(batches)
            await created(world, count)
            taken.append(sum(batches) - before)
        assert taken[1] - taken[0] < 6.5 * (MANY - FEW)
        rows = await world.listed({"name": f"tree{MANY}", "id": None}, nested_depth=1)
        members = [row["physical_id"] for row in rows if row["type"] == "member.yaml"]
        shown = [await world.call("stack_show", ref={"name": None, "id": member}) for member in members]
        texts = {world.outputs(stack)["text"] for stack in shown}
        assert texts == {str(index) for index in range(MANY)}
    finally:
        await world.stop()


async def created(world: World, count: int) -> None:
    stack = await world.create(f"tree{count}", tree(count), files={"member.yaml": MEMBER})
    assert stack["status"] == "COMPLETE"


async def test_the_others_are_read_three_times_when_one_is_replaced(
    tmp_path: Path, served: ServedCloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the plan of the whole tree, for the group's request, and by the operation of the group's own stack. Their
    properties are opened for the first two, and what else is sealed for all three.
    """
    meter = ReadingMeter()
    opened: list[str] = []
    open_sealed = Sealer.open

    def count_opened(sealer: Sealer, text: str) -> Any:
        opened.append(text)
        return open_sealed(sealer, text)

    monkeypatch.setattr(Sealer, "open", count_opened)
    with meter.attached():
        world = await World(tmp_path / "stoker.db", served).start()
        try:
            rows, values = [], []
            for count in (FEW, MANY):
                await created(world, count)
                before = resource_rows(meter), len(opened)
                await world.update(f"tree{count}", tree(count, removed="1"), files={"member.yaml": MEMBER})
                rows.append(resource_rows(meter) - before[0])
                values.append(len(opened) - before[1])
            names = {row["name"] for row in await world.listed({"name": f"tree{MANY}", "id": None}, nested_depth=1)}
            assert str(MANY) in names and "1" not in names
            assert rows[1] - rows[0] <= 3 * (MANY - FEW)
            assert values[1] - values[0] <= 5 * (MANY - FEW)
        finally:
            await world.stop()


def resource_rows(meter: ReadingMeter) -> int:
    """Rows of resources that were read as a whole."""
    return sum(spent.rows for statement, spent in meter.statements.items() if "resources.former_names" in statement)


def values(count: int) -> dict[str, Any]:
    """Return the template of `count` values, each with another one that depends on it."""
    first = {f"first{number}": {"type": "OS::Heat::Value", "properties": {"value": number}} for number in range(count)}
    second = {
        f"second{number}": {
            "type": "OS::Heat::Value",
            "properties": {"value": {"get_attr": [f"first{number}", "value"]}},
        }
        for number in range(count)
    }
    return {"heat_template_version": "2021-04-16", "resources": {**first, **second}}


async def test_resources_for_which_nothing_is_called_are_removed_together(tmp_path: Path, served: ServedCloud) -> None:
    """Up to 32 resources in one commit, those first on which none depends; each has its two events."""
    world = await World(tmp_path / "stoker.db", served).start()
    batches: list[int] = []
    world.journal.observe = lambda number, seconds: batches.append(number)
    try:
        taken = []
        for count in (FEW, 5 * MANY):
            stack = await world.create(f"values{count}", values(count))
            before = sum(batches)
            gone = await world.delete(f"values{count}")
            taken.append(sum(batches) - before)
            assert (gone["action"], gone["status"]) == ("DELETE", "COMPLETE")
            events = await world.call("event_list", ref={"name": None, "id": stack["id"]})
            found = [(event["resource_name"], event["status"]) for event in events if event["action"] == "DELETE"]
            for number in range(count):
                for name in (f"first{number}", f"second{number}"):
                    assert [status for one, status in found if one == name] == ["IN_PROGRESS", "COMPLETE"]
                assert found.index((f"second{number}", "COMPLETE")) < found.index((f"first{number}", "IN_PROGRESS"))
        assert taken[1] - taken[0] <= 4
    finally:
        await world.stop()
