"""Waits while the machine's clock is set."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from stoker.base.clock import ManualClock, SystemClock
from stoker.emulator.services import new_cloud
from stoker.emulator.testing import ServedCloud
from stoker.plugins.call import Call
from stoker.resources.heat.pause import seconds_left
from tests.harness import World


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.01)) as served:
        found = await World(tmp_path / "stoker.db", served, clock=ManualClock()).start()
        try:
            yield found
        finally:
            await found.stop()


class Action:
    """What `seconds_left` looks at of a call."""

    def __init__(self, now: float) -> None:
        self.started_at = self.now = now
        self.progress: dict[str, float] = {}

    def left(self, seconds: float) -> float:
        call: Call = self  # type: ignore[assignment]
        return seconds_left(call, seconds)


def test_a_clock_that_steps_back() -> None:
    """A wait lasts as long as the machine's clock is set back, a day instead of half a minute."""
    action = Action(1_700_000_000.0)
    assert action.left(30) == 30
    action.now += 20
    assert action.left(30) == 10
    action.now -= 86_400
    assert action.left(30) == 30
    action.now += 25
    assert action.left(30) == 5
    action.now -= 3  # less than what has passed: the wait is as much longer
    assert action.left(30) == 8
    action.now += 8
    assert action.left(30) == 0


async def test_a_stack_that_waits_while_the_clock_steps_back(world: World) -> None:
    """A stack with a Delay of 30 seconds is not complete for a day since the clock was set back."""
    assert isinstance(world.clock, ManualClock)
    pause = {"type": "OS::Heat::Delay", "properties": {"min_wait": 30}}
    template = {"heat_template_version": "2018-08-31", "resources": {"pause": pause}}
    created = await world.call("stack_create", name="slow", template=template)
    run = world.engine.runs[created["id"]]
    while world.clock.next_due() is None or world.clock.next_due() > world.clock.now() + 31:  # type: ignore[operator]
        await world.engine.database.read(lambda connection: None)
    world.clock.step(-86_400)
    for _ in range(200):
        if run.done.is_set():
            break
        world.clock.advance(1)
        await world.engine.database.read(lambda connection: None)
    assert (await world.settle(created["id"]))["status"] == "COMPLETE"


@pytest.mark.parametrize("step", [3_600, -3_600])
@pytest.mark.parametrize("when", ["running", "stopped"])
async def test_an_operation_does_not_time_out_because_the_clock_is_set(tmp_path: Path, step: int, when: str) -> None:
    """Set the clock by an hour while an operation with a timeout of five minutes runs, or while no engine runs."""
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.01)) as served:
        clock = ManualClock(SystemClock().now())
        world = await World(tmp_path / "stoker.db", served, clock=clock).start()
        pause = {"type": "OS::Heat::WaitCondition", "properties": {"handle": "nowhere", "timeout": 43_000}}
        template = {"heat_template_version": "2018-08-31", "resources": {"pause": pause}}
        created = await world.call("stack_create", name="slow", template=template, timeout_mins=5)
        await world.until(lambda: bool(world.engine.runs[created["id"]].plan))
        if when == "running":
            clock.step(step)
            await _beats(world, clock)
        await world.stop()
        if when == "stopped":
            clock.step(step)
        world = await World(tmp_path / "stoker.db", served, clock=clock).start()
        await world.until(lambda: created["id"] in world.engine.runs)
        deadline = world.engine.runs[created["id"]].operation.deadline
        assert deadline is not None and 200 < deadline - clock.now() <= 300
        await _beats(world, clock)
        shown = await world.call("stack_show", ref={"name": "slow", "id": None})
        assert shown["status"] == "IN_PROGRESS"
        await world.stop()


async def _beats(world: World, clock: ManualClock) -> None:
    for _ in range(10):
        clock.advance(1)
        await world.engine.database.read(lambda connection: None)
