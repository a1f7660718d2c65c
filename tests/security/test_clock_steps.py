"""Waits while the machine's clock is set."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.plugins.call import Call
from stoker.resources.heat.pause import seconds_left
from stoker.store import queries
from stoker_foundation.clock import ManualClock, SteadyClock, SystemClock
from testing.harness import World


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

    def __init__(self) -> None:
        self.elapsed = 0.0
        self.progress: dict[str, float] = {}

    def left(self, seconds: float) -> float:
        call: Call = self  # type: ignore[assignment]
        return seconds_left(call, seconds)


def test_a_clock_that_steps_back() -> None:
    """A wait lasts as long as the clock was set back while no engine ran, a day instead of half a minute."""
    action = Action()
    assert action.left(30) == 30
    action.elapsed += 20
    assert action.left(30) == 10
    action.elapsed -= 86_400
    assert action.left(30) == 30
    action.elapsed += 25
    assert action.left(30) == 5
    action.elapsed -= 3  # less than what has passed: the wait is as much longer
    assert action.left(30) == 8
    action.elapsed += 8
    assert action.left(30) == 0


def test_a_steady_clock_follows_only_on_request() -> None:
    """Durations contain the steps of the clock."""
    machine = ManualClock(1000.0)
    steady = SteadyClock(machine)
    machine.step(3600)
    machine.advance(5)
    assert (steady.now(), steady.monotonic()) == (1005.0, 1005.0)
    assert steady.follow() == 3600.0
    assert steady.now() == machine.now()
    assert steady.follow() == 0.0


def test_a_steady_clock_believes_another_machine_as_far_as_it_can_be_right() -> None:
    """The clock of a machine is wrong by an hour, or the answer about the time was long on its way."""
    machine = ManualClock(1000.0)
    steady = SteadyClock(machine)
    machine.advance(4)
    assert steady.follow(1003.0, 1000.0) == 0.0  # it was 1003 at some time during the four seconds
    assert steady.follow(1005.0, 1003.0) == 1.0  # now it is 1005 at least
    machine.step(-3600)
    assert steady.follow(4605.0, 1004.0) == 3600.0
    assert steady.now() == 4605.0
    machine.advance(10)
    assert steady.now() == 4615.0


async def test_a_stack_that_waits_while_the_clock_steps_back(world: World) -> None:
    """A stack with a Delay of 30 seconds is not complete for a day since the clock was set back."""
    assert isinstance(world.clock, ManualClock)
    pause = {"type": "OS::Heat::Delay", "properties": {"min_wait": 30}}
    template = {"heat_template_version": "2018-08-31", "resources": {"pause": pause}}
    created = await world.call("stack_create", name="slow", template=template)
    run = world.engine.runs[created["id"]]
    while world.clock.next_due() is None or world.clock.next_due() > world.clock.now() + 31:  # type: ignore[operator]
        await world.engine.services.database.read(lambda connection: None)
    world.clock.step(-86_400)
    for _ in range(200):
        if run.progress.done.is_set():
            break
        world.clock.advance(1)
        await world.engine.services.database.read(lambda connection: None)
    assert (await world.settle(created["id"]))["status"] == "COMPLETE"


@pytest.mark.parametrize("step", [3_600, -3_600])
@pytest.mark.parametrize("when", ["running", "stopped"])
async def test_an_operation_does_not_time_out_because_the_clock_is_set(tmp_path: Path, step: int, when: str) -> None:
    """Set the clock by an hour while an operation with a timeout of five minutes runs, or while no engine runs."""
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.01)) as served:
        clock = ManualClock(SystemClock().now())
        world = await World(tmp_path / "stoker.db", served, clock=clock).start()
        pause = {"type": "OS::Heat::TestResource", "properties": {"wait_secs": 43_000}}
        template = {"heat_template_version": "2018-08-31", "resources": {"pause": pause}}
        created = await world.call("stack_create", name="slow", template=template, timeout_mins=5)
        await world.until(lambda: bool(world.engine.runs[created["id"]].planning.plan))
        if when == "running":
            clock.step(step)
            await _run_heartbeats(world, clock)
        await world.stop()
        if when == "stopped":
            clock.step(step)
        world = await World(tmp_path / "stoker.db", served, clock=clock).start()
        await _taken_over(world, clock, created["id"])
        deadline = world.engine.runs[created["id"]].operation.deadline
        assert deadline is not None and 200 < deadline - clock.now() <= 300
        await _run_heartbeats(world, clock)
        shown = await world.call("stack_show", ref={"name": "slow", "id": None})
        assert shown["status"] == "IN_PROGRESS"
        await world.stop()


OUTSIDE = {"orchestration": "http://stoker/v1/%(tenant_id)s", "cloudformation": "http://stoker-cfn/v1"}
HOT, AMAZON = {"heat_template_version": "2018-08-31"}, {"AWSTemplateFormatVersion": "2010-09-09"}
WAITS: dict[str, dict[str, Any]] = {
    "a wait condition": {
        **HOT,
        "resources": {
            "handle": {"type": "OS::Heat::UpdateWaitConditionHandle"},
            "wait": {
                "type": "OS::Heat::WaitCondition",
                "properties": {"handle": {"get_resource": "handle"}, "timeout": 300},
            },
        },
    },
    "a signal through Swift": {
        **HOT,
        "resources": {
            "handle": {"type": "OS::Heat::SwiftSignalHandle"},
            "wait": {
                "type": "OS::Heat::SwiftSignal",
                "properties": {"handle": {"get_resource": "handle"}, "timeout": 300},
            },
        },
    },
    "a wait condition of AWS": {
        **AMAZON,
        "Resources": {
            "handle": {"Type": "AWS::CloudFormation::WaitConditionHandle"},
            "wait": {
                "Type": "AWS::CloudFormation::WaitCondition",
                "Properties": {"Handle": {"Ref": "handle"}, "Timeout": 300},
            },
        },
    },
    "a creation policy": {
        **AMAZON,
        "Resources": {
            "wait": {
                "Type": "AWS::EC2::Instance",
                "Properties": {"ImageId": "cirros", "InstanceType": "m1.tiny"},
                "CreationPolicy": {"ResourceSignal": {"Timeout": "PT5M"}},
            }
        },
    },
}


@pytest.mark.parametrize("step", [3_600, -3_600])
@pytest.mark.parametrize("when", ["running", "stopped"])
@pytest.mark.parametrize("wait", WAITS)
async def test_a_resource_waits_neither_shorter_nor_longer_because_the_clock_is_set(
    tmp_path: Path, wait: str, when: str, step: int
) -> None:
    """Set the clock by an hour while a resource with a timeout of five minutes waits, or while no engine runs."""
    clock = ManualClock(SystemClock().now())
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.01, extra_endpoints=OUTSIDE)) as served:
        world = await World(tmp_path / "stoker.db", served, clock=clock).start()
        created = await world.call("stack_create", name="slow", template=WAITS[wait], timeout_mins=60)

        async def passed() -> float:
            """Return for how long the resource has been waiting."""
            for _ in range(1000):
                rows = await world.engine.services.database.read(queries.resources_of, created["id"])
                for row in rows:
                    if row.name == "wait" and row.status == "IN_PROGRESS" and row.started_at is not None:
                        return clock.now() - row.started_at
                await asyncio.sleep(0.05)  # the cloud answers in real time
                clock.advance(0.2)
            raise AssertionError(f"The resource does not wait: {rows}")

        await passed()
        await _run_heartbeats(world, clock, 100)
        before = await passed()
        assert 100 <= before < 120
        if when == "running":
            clock.step(step)
            await _run_heartbeats(world, clock, 1)  # less than the time to the next heartbeat
            await _run_heartbeats(world, clock, 10)
        await world.stop()
        if when == "stopped":
            clock.step(step)
        world = await World(tmp_path / "stoker.db", served, clock=clock).start()
        await _run_heartbeats(world, clock, 100)
        assert 100 <= await passed() - before < 120
        await _run_heartbeats(world, clock, 120)
        assert (await world.settle(created["id"]))["status"] == "FAILED"
        await world.stop()


async def _taken_over(world: World, clock: ManualClock, stack_id: str) -> None:
    """Wait until the engine runs the operation; the clock is slow enough for the database to keep the lease."""
    for _ in range(500):
        if stack_id in world.engine.runs:
            return
        await asyncio.sleep(0.02)
        clock.advance(0.1)
    raise AssertionError("The operation was not taken over")


async def _run_heartbeats(world: World, clock: ManualClock, seconds: int = 10) -> None:
    for _ in range(seconds):
        clock.advance(1)
        await world.engine.services.database.read(lambda connection: None)
