"""Engines that share the operations of one large tree of nested stacks."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from openstack_emulator.testing import ServedCloud
from stoker.engine.ownership.offers import PORTION, Offers
from stoker.engine.ownership.peers import NoPeers
from stoker.engine.ownership.runs import Runs
from stoker.engine.running.run import OperationRun
from stoker.store.records import COMPLETE, FAILED, UNFINISHED
from stoker.store.tables import operations, stacks
from stoker_foundation.clock import ManualClock, SystemClock
from testing.harness import World
from tests.engine.test_several_engines import SETTINGS, Wires

REF = {"name": "tree", "id": None}
MEMBERS = 60


def tree(count: int = MEMBERS, value: str = "x", **held: Any) -> dict[str, Any]:
    """A request for a group of nested stacks."""
    member = {
        "heat_template_version": "2021-04-16",
        "parameters": {"value": {"type": "string"}},
        "resources": {
            "inner": {"type": "OS::Heat::TestResource", "properties": {"value": {"get_param": "value"}} | held}
        },
    }
    definition = {"type": "member.yaml", "properties": {"value": value}}
    group = {"type": "OS::Heat::ResourceGroup", "properties": {"count": count, "resource_def": definition}}
    template = {"heat_template_version": "2021-04-16", "resources": {"group": group}}
    return {"template": template, "files": {"member.yaml": json.dumps(member)}}


@pytest.fixture
async def pair(served: ServedCloud, tmp_path: Path) -> AsyncIterator[list[World]]:
    """Two engines that know of each other, on one clock."""
    clock, wires = ManualClock(SystemClock().now()), Wires()
    settings = replace(SETTINGS, nested_at_once=1)
    worlds = [World(tmp_path / "stoker.db", served, clock=clock, settings=settings, peers=wires) for _ in range(2)]
    for world in worlds:
        await world.start()
        wires.engines[world.engine.services.id] = world
    await worlds[0].engine.membership.beat()
    yield worlds
    for world in worlds:
        await world.stop()


class Recorded(NoPeers):
    """Keeps to whom offers were sent."""

    def __init__(self, notifications: list[tuple[str, str | None]]) -> None:
        self._notifications = notifications

    def offer(self, operation_id: str, engine_id: str | None = None) -> None:
        self._notifications.append((operation_id, engine_id))


def all_of(runs: Iterable[Runs]) -> list[OperationRun]:
    """All operations that run."""
    return [run for each in runs for run in each.values()]


async def over(world: World) -> str:
    """Return the status of the tree once nothing of it is unfinished; the clock advances meanwhile."""
    for _ in range(4000):
        if not await world.database.read(
            lambda c: c.execute(select(operations.c.id).where(operations.c.status.in_(UNFINISHED))).first()
        ):
            break
        await world.turn()
    else:
        raise AssertionError("the tree has not ended")
    is_root = stacks.c.parent_id.is_(None)
    return str(await world.database.read(lambda c: c.execute(select(stacks.c.status).where(is_root)).scalar_one()))


async def shares(worlds: list[World], action: str) -> list[int]:
    """How many operations with an action each engine has run, each of them once."""
    columns = operations.c
    rows = await worlds[0].database.read(
        lambda c: c.execute(select(columns.owner, columns.epoch).where(columns.action == action)).all()
    )
    assert {row.epoch for row in rows} == {1}
    owners = Counter(row.owner for row in rows)
    return [owners[world.engine.services.id] for world in worlds]


async def test_every_phase_of_a_large_tree_is_shared(pair: list[World]) -> None:
    first = pair[0]
    first.engine.membership.shared_work._is_trial = True  # else it may take all: SQLite's locks are not fair
    await first.call("stack_create", name="tree", **tree())
    assert await over(first) == COMPLETE
    await first.call("stack_update", ref=REF, **tree(value="y"))
    assert await over(first) == COMPLETE
    await first.call("stack_delete", ref=REF)
    assert await over(first) == COMPLETE
    for action in ("CREATE", "UPDATE", "DELETE"):
        found = await shares(pair, action)
        assert sum(found) == MEMBERS + 2, action
        assert min(found) > 0, (action, found)


async def test_nested_stacks_stay_on_engine_with_capacity(pair: list[World]) -> None:
    await pair[0].call("stack_create", name="tree", **tree(1))
    assert await over(pair[0]) == COMPLETE
    assert await shares(pair, "CREATE") == [3, 0]


async def test_engines_on_the_same_host_are_notified_first(pair: list[World]) -> None:
    """One message for each portion, the nearest engine first."""
    first, second = pair
    near, services = second.engine.services, first.engine.services
    others = first.engine.others
    others.update_hosts({"0-far": "there", near.id: services.settings.host, services.id: services.settings.host})
    assert others.nearest == [near.id, "0-far"]
    notifications: list[tuple[str, str | None]] = []
    others.peers = Recorded(notifications)
    offers = Offers(first.engine.runs, others, 0, is_trial=False)
    for number in range(2 * PORTION):
        offers.left(f"operation {number}")
    await asyncio.sleep(0)
    assert notifications == [("operation 0", near.id), (f"operation {PORTION}", "0-far")]


@pytest.mark.parametrize("request_", ["cancel", "delete"])
async def test_shared_nested_stack_follows_tree_cancellation(pair: list[World], request_: str) -> None:
    first, second = pair
    first.engine.membership.shared_work._is_trial = True  # it takes nothing of what it offers
    await first.call("stack_create", name="tree", **tree(20, action_wait_secs={"create": 200}))
    inner = [world.engine.runs for world in pair]
    await first.until(lambda: sum(run.stack.depth == 2 and bool(run.waiting.paused) for run in all_of(inner)) == 20)
    assert any(run.stack.depth == 2 for run in second.engine.runs.values())
    if request_ == "cancel":
        await first.call("stack_action", ref=REF, action="cancel_without_rollback")
        assert await over(first) == FAILED
    else:
        await first.call("stack_delete", ref=REF)
        assert await over(first) == COMPLETE
        live = stacks.c.deleted_at.is_(None)
        assert not await first.database.read(lambda c: c.execute(select(stacks.c.id).where(live)).all())


async def test_engine_with_queued_calls_leaves_offers_to_others(
    pair: list[World], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = pair[0]
    monkeypatch.setattr(first.pool.transport, "saturated_projects", lambda most: {first.context.project_id})
    first.engine.submissions._offers._own_operations = 0
    await first.call("stack_create", name="tree", **tree(30))
    assert await over(first) == COMPLETE
    found = await shares(pair, "CREATE")
    assert found[1] > found[0] > 0
