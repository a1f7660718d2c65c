"""An operation whose end could not be recorded is found by its own engine, and comes to an end after all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.engine.settings import EngineSettings
from stoker.store import queries
from stoker.store.journal import Batch
from stoker.store.records import COMPLETE, FAILED, SUPERSEDED, Operation
from testing.harness import World

# The tests' clock runs much quicker than the machine works: leases are long, so that they do not lapse.
SETTINGS = EngineSettings(lease_seconds=5000.0, stack_action_timeout=10_000_000)
TEMPLATE = "heat_template_version: 2021-04-16\nresources: {r: {type: OS::Heat::TestResource}}\n"
CHANGED = TEMPLATE.replace("TestResource}", "TestResource, properties: {value: new}}")
REF = {"name": "web", "id": None}


@pytest.fixture
async def world(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    world = World(tmp_path / "stoker.db", served, settings=SETTINGS)
    yield await world.start()
    await world.stop()


def break_ends(world: World, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Writing the end of an operation goes wrong that often."""
    commit, left = world.journal.commit, [times]

    async def breaking(batch: Batch) -> None:
        ending = any(isinstance(row, Operation) and row.finished_at is not None for row in batch.changed)
        if ending and left[0]:
            left[0] -= 1
            raise RuntimeError("the disk made a noise")
        await commit(batch)

    monkeypatch.setattr(world.journal, "commit", breaking)


async def settled(world: World) -> dict[str, Any]:
    """The stack once its record says that its operation has ended."""
    for _ in range(4000):
        shown: dict[str, Any] = await world.call("stack_show", ref=REF)
        if shown["status"] != "IN_PROGRESS":
            return shown
        await world.turn()
    raise AssertionError("the operation never ended")


async def operations(world: World, stack_id: str) -> list[Operation]:
    return await world.database.read(queries.operations_of, stack_id)


async def test_an_error_while_an_end_is_recorded_is_reported_as_a_failure(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_ends(world, monkeypatch, 1)
    await world.call("stack_create", name="web", template=TEMPLATE)
    shown = await settled(world)
    assert shown["status"] == FAILED
    assert "Internal error; quote reference" in shown["status_reason"]
    await world.until(lambda: not world.engine.runs)


@pytest.mark.parametrize("times", [2, 4])
async def test_an_end_that_cannot_be_recorded_at_all_is_recorded_by_a_later_run(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, times: int
) -> None:
    break_ends(world, monkeypatch, times)
    made = await world.call("stack_create", name="web", template=TEMPLATE)
    assert (await settled(world))["status"] == COMPLETE
    assert caplog.text.count("releasing operations that this engine owns but does not run") == times // 2
    [operation] = await operations(world, made["id"])
    assert (operation.status, operation.epoch, operation.owner) == (COMPLETE, 1 + times // 2, world.engine.services.id)
    monkeypatch.undo()
    assert (await world.delete("web"))["status"] == COMPLETE


async def record_and_break(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have an update recorded, and nothing begin it."""
    commit = world.journal.commit

    async def broken(batch: Batch) -> None:
        monkeypatch.undo()
        await commit(batch)
        raise RuntimeError("between the record and the run")

    monkeypatch.setattr(world.journal, "commit", broken)
    with pytest.raises(RuntimeError, match="between"):
        await world.call("stack_update", ref=REF, template=CHANGED)


async def test_recorded_operation_that_was_not_begun_is_found(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    made = await world.create("web", TEMPLATE)
    await record_and_break(world, monkeypatch)
    assert (await settled(world))["status"] == COMPLETE
    assert sorted(operation.epoch for operation in await operations(world, made["id"])) == [1, 2]


async def test_an_operation_that_is_about_to_begin_is_left_alone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    made = await world.create("web", TEMPLATE)
    recorded, go_on = asyncio.Event(), asyncio.Event()
    commit = world.journal.commit

    async def slow(batch: Batch) -> None:
        monkeypatch.undo()
        await commit(batch)
        recorded.set()
        await go_on.wait()

    monkeypatch.setattr(world.journal, "commit", slow)
    update = asyncio.ensure_future(world.call("stack_update", ref=REF, template=CHANGED))
    await recorded.wait()
    await world.engine.membership.beat()
    assert not world.engine.runs
    go_on.set()
    await update
    assert (await settled(world))["status"] == COMPLETE
    assert {operation.epoch for operation in await operations(world, made["id"])} == {1}


@pytest.mark.parametrize("moment", ["before the stack is read", "after the stack is read"])
async def test_a_claimed_operation_is_superseded_by_one_begun_before_it_runs(
    world: World, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    made = await world.create("web", TEMPLATE)
    stack_of = world.engine.membership.takeovers.resumption._stack_of
    await record_and_break(world, monkeypatch)

    async def superseded(operation: Operation) -> Any:
        monkeypatch.undo()
        read = await stack_of(operation) if moment == "after the stack is read" else None
        await world.call("stack_delete", ref=REF)
        return read or await stack_of(operation)

    monkeypatch.setattr(world.engine.membership.takeovers.resumption, "_stack_of", superseded)
    await world.engine.membership.beat()
    await world.engine.membership.takeovers.complete()
    assert (await world.settle(made["id"]))["action"] == "DELETE"
    ended = {operation.action: operation.status for operation in await operations(world, made["id"])}
    assert ended == {"CREATE": COMPLETE, "UPDATE": SUPERSEDED, "DELETE": COMPLETE}
