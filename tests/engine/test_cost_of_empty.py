"""What each further stack without resources asks the database for, until its end and when it is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from openstack_emulator.testing import ServedCloud
from stoker.contract.request import by_name
from testing.harness import World
from testing.reading_meter import ReadingMeter

EMPTY = {"heat_template_version": "2021-04-16", "resources": {}}
COUNT = 20
SEARCHES = ("plan_policies", "live_name =", "trusts.user_id =", "FROM events")
"""What is asked for once for each stack, together; and for none, but for the owner's first one or for many events."""


async def test_a_creation_reads_once_and_commits_twice(tmp_path: Path, served: ServedCloud) -> None:
    """It reads what could refuse it. Heartbeats take a few reads and commits, however many stacks there are."""
    meter, counted = ReadingMeter(), Connections()
    with meter.attached():
        world = await World(tmp_path / "stoker.db", served).start()
        world.journal.observe = counted.committed
        try:
            await created(world, "first", 1)
            before, searches = dict(counted), [executions(meter, part) for part in SEARCHES]
            event.listen(Engine, "engine_connect", counted.opened)
            await created(world, "further", COUNT)
            event.remove(Engine, "engine_connect", counted.opened)
            reads = counted["connections"] - (counted["groups"] - before["groups"])
            batches = counted["batches"] - before["batches"]
            searches = [executions(meter, part) - former for part, former in zip(SEARCHES, searches, strict=True)]
            rows = (await world.call("stack_list"))["stacks"]
        finally:
            await world.stop()
    assert [row["status"] for row in rows] == ["COMPLETE"] * (COUNT + 1)
    assert batches <= 2 * COUNT + 4
    assert reads <= COUNT + 4
    assert searches == [COUNT, COUNT, 0, 0]
    assert len([each for each in meter.statements if all(part in each for part in SEARCHES[:2])]) == 1


async def test_a_stack_is_shown_with_one_statement(tmp_path: Path, served: ServedCloud) -> None:
    meter = ReadingMeter()
    with meter.attached():
        world = await World(tmp_path / "stoker.db", served).start()
        try:
            await created(world, "shown", 1)
            before = meter.total().executions
            for _ in range(COUNT):
                shown = await world.call("stack_show", ref=by_name("shown0"), resolve_outputs=False)
                assert (shown["name"], shown["status"]) == ("shown0", "COMPLETE")
            assert meter.total().executions - before <= COUNT + 4
        finally:
            await world.stop()


class Connections(dict[str, int]):
    """The number of `connections` that were opened, and of the `batches` and `groups` that the journal has written."""

    def __init__(self) -> None:
        super().__init__(connections=0, batches=0, groups=0)

    def opened(self, _connection: Any) -> None:
        self["connections"] += 1

    def committed(self, batches: int, _seconds: float) -> None:
        self["batches"] += batches
        self["groups"] += 1


def executions(meter: ReadingMeter, part: str) -> int:
    return sum(spent.executions for statement, spent in meter.statements.items() if part in " ".join(statement.split()))


async def created(world: World, prefix: str, count: int) -> None:
    views = [await world.call("stack_create", name=f"{prefix}{number}", template=EMPTY) for number in range(count)]
    for view in views:
        await world.at_rest(view["id"])
