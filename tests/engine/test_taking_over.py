"""Taking over many operations: beside the heartbeat and requests, in portions, the newest first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.engine.ownership.takeovers import PORTION
from stoker.engine.settings import EngineSettings
from stoker.store import claims, queries
from stoker.store.records import COMPLETE
from stoker_foundation.clock import ManualClock, SystemClock
from testing.harness import World

SETTINGS = EngineSettings(lease_seconds=5000.0, heartbeat_seconds=600.0, stack_action_timeout=10_000_000)
MANY = 2 * PORTION + 5
TEMPLATE = {
    "heat_template_version": "2021-04-16",
    "resources": {"held": {"type": "OS::Heat::TestResource", "properties": {"value": "x"}}},
}
HELD = {"resource_registry": {"resources": {"held": {"hooks": "pre-create"}}}}


@pytest.fixture
async def left(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    """An engine that has not begun to take over what another one left: an operation on each of many stacks."""
    path, clock = tmp_path / "stoker.db", ManualClock(SystemClock().now())
    first = await World(path, served, settings=SETTINGS, clock=clock).start()
    for number in range(MANY):
        await first.call("stack_create", name=f"s{number}", template=TEMPLATE, environment=HELD)
        clock.advance(0.001)
    await first.until(lambda: all(run.waiting.paused for run in first.engine.runs.values()))
    await first.stop()
    second = World(path, served, settings=SETTINGS, clock=clock)
    second.takes_over = False
    yield await second.start()
    await second.stop()


def ref(number: int) -> dict[str, Any]:
    return {"name": f"s{number}", "id": None}


async def test_heartbeats_and_requests_go_on_while_operations_are_taken_over(
    left: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, go_on = left.engine, asyncio.Event()
    stack_of = engine.membership.takeovers.resumption._stack_of

    async def slow(operation: Any) -> Any:
        await go_on.wait()
        return await stack_of(operation)

    monkeypatch.setattr(engine.membership.takeovers.resumption, "_stack_of", slow)
    await engine.take_over()
    assert engine.membership.takeovers.total == engine.membership.takeovers.waiting == MANY
    before = engine.runs.lease.renewed_at
    assert isinstance(left.clock, ManualClock)
    left.clock.advance(10.0)
    await asyncio.wait_for(engine.membership.beat(), 30.0)
    assert engine.runs.lease.renewed_at == before + 10.0
    assert not engine.membership.takeovers.total - engine.membership.takeovers.waiting
    assert len((await left.call("stack_list"))["stacks"]) == MANY
    go_on.set()
    await engine.membership.takeovers.complete()
    assert len(engine.runs) == MANY
    assert engine.membership.takeovers.waiting == 0


async def test_operations_are_claimed_in_portions_and_the_newest_first(
    left: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    take, portions = claims.take, list[list[str]]()

    def noted(connection: Any, identifiers: Any, claimant: Any) -> Any:
        portions.append(list(identifiers))
        return take(connection, identifiers, claimant)

    monkeypatch.setattr(claims, "take", noted)
    await left.engine.take_over()
    await left.engine.membership.takeovers.complete()
    assert [len(portion) for portion in portions] == [PORTION, PORTION, 5]
    started = {run.operation.id: run.operation.created_at for run in left.engine.runs.values()}
    times = [started[identifier] for portion in portions for identifier in portion]
    assert times == sorted(times, reverse=True)


async def test_signal_to_queued_stack_is_delivered(left: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its operation is taken over first: here that of the oldest stack, whose turn would be last."""
    engine, go_on = left.engine, asyncio.Event()
    take_portions = engine.membership.takeovers._take_portions

    async def held() -> None:
        await go_on.wait()
        await take_portions()

    monkeypatch.setattr(engine.membership.takeovers, "_take_portions", held)
    await engine.take_over()
    await left.call("resource_signal", ref=ref(0), name="held", details={"unset_hook": "pre-create"})
    shown = await left.call("stack_show", ref=ref(0))
    assert (await left.settle(shown["id"]))["status"] == COMPLETE
    assert not engine.runs
    go_on.set()
    await engine.membership.takeovers.complete()
    assert len(engine.runs) == MANY - 1


async def test_an_operation_that_only_waits_is_recorded_as_waiting_until_it_works_again(left: World) -> None:
    """After a takeover, before it works: the engine may die of that before its next heartbeat."""
    engine = left.engine
    await engine.take_over()
    await engine.membership.takeovers.complete()
    shown = await left.call("stack_show", ref=ref(0))
    run = engine.runs[shown["id"]]
    await left.until(lambda: bool(run.waiting.paused))

    async def noted() -> bool:
        row = await left.database.read(queries.operation_by_id, run.operation.id)
        assert row is not None
        return row.waiting_epoch == row.epoch

    assert not await noted()
    await engine.membership.beat()
    assert await noted()
    run.wake(run.current["held"].row.uuid)
    await left.until(lambda: run.operation.waiting_epoch is None)
    await left.until(lambda: bool(run.waiting.paused))
    await engine.membership.beat()
    assert await noted()


async def test_begun_deletion_is_finished_after_takeover(served: ServedCloud, tmp_path: Path) -> None:
    """The engine that began it was stopped while the service refused the request."""
    networks = "/network/v2.0/networks"
    rule = Fault(on=f"DELETE {networks}/*", do="fail", status=409)
    template = {"heat_template_version": "2021-04-16", "resources": {"net": {"type": "OS::Neutron::Net"}}}
    first = await World(tmp_path / "stoker.db", served).start()
    stack = await first.create("web", template)
    physical_id = (await first.resources("web"))["net"]["physical_id"]
    first.in_cloud(lambda: served.cloud.faults.add(rule))
    await first.call("stack_delete", ref={"name": "web", "id": None})
    await first.until(lambda: rule.hits > 0)
    await first.stop()
    served.do(served.cloud.faults.clear)
    second = await World(tmp_path / "stoker.db", served).start()
    try:
        await second.settle(stack["id"])
        assert served.call("GET", f"{networks}/{physical_id}", token=second.context.token).status == 404
    finally:
        await second.stop()
