"""FairScheduler of projects on the event loop."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from stoker.engine.scheduling import FairScheduler, StartPriority
from stoker_foundation.clock import ManualClock

LONG = 0.01


class Computing:
    """Work that computes: each portion of it takes a time of the clock, and is noted."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.scheduler = FairScheduler(self.clock)
        self.order: list[str] = []

    async def work(self, name: str, portions: int, seconds: float) -> str:
        for _ in range(portions):
            self.clock.advance(seconds)
            self.order.append(name)
            await asyncio.sleep(0)
        return name

    def start(
        self,
        turn: str,
        portions: int = 1,
        seconds: float = LONG,
        name: str = "",
        beginning: StartPriority = StartPriority.AT_ONCE,
    ) -> asyncio.Task[str]:
        work = partial(self.work, name or turn, portions, seconds)
        return asyncio.create_task(self.scheduler.run(turn, work, beginning))

    async def until(self, name: str, portions: int) -> None:
        """Wait until so many portions of that name have run."""
        while self.order.count(name) < portions:  # noqa: ASYNC110  portions of the event loop are what is tested
            await asyncio.sleep(0)


async def test_a_request_waits_for_one_portion_of_others() -> None:
    computing = Computing()
    steps = [computing.start("large", portions=5) for _ in range(60)]
    await asyncio.sleep(0)
    await computing.start("small")
    assert computing.order.count("large") <= 3
    await asyncio.gather(*steps)
    assert computing.order.count("large") == 300


async def test_other_callbacks_wait_for_one_portion() -> None:
    computing = Computing()
    steps = [computing.start("large") for _ in range(60)]
    before = 0
    while not all(step.done() for step in steps):
        await asyncio.sleep(0)
        assert len(computing.order) - before <= 1
        before = len(computing.order)


@pytest.mark.parametrize(("seconds", "most"), [(0.0001, 22), (0.001, 4)])
async def test_short_portions_run_together_in_an_iteration(seconds: float, most: int) -> None:
    """As many as take two milliseconds, and no more: other callbacks wait for them."""
    computing = Computing()
    steps = [computing.start("large", 4, seconds) for _ in range(100)]
    before, together = 0, []
    while not all(step.done() for step in steps):
        await asyncio.sleep(0)
        together.append(len(computing.order) - before)
        before = len(computing.order)
    assert most / 2 <= max(together) <= most


async def test_portions_that_take_longer_than_expected_are_not_followed_by_others_at_once() -> None:
    """Neither those of the turn nor others, in whichever order they were called; those that had to wait are next."""
    computing = Computing()
    steps = [computing.start("short", 4, 0.0001) for _ in range(100)]
    await computing.until("short", 100)
    steps += [computing.start("long", name=str(number)) for number in range(20)]
    before = 0
    while not all(step.done() for step in steps):
        await asyncio.sleep(0)
        assert sum(name != "short" for name in computing.order[before:]) <= 1
        before = len(computing.order)
    assert [name for name in computing.order if name != "short"] == [str(number) for number in range(20)]


async def test_scheduling_are_equal_in_time_and_not_in_number() -> None:
    computing = Computing()
    work = [computing.start("long", portions=100, seconds=LONG) for _ in range(8)]
    work += [computing.start("short", portions=100, seconds=LONG / 10) for _ in range(8)]
    await computing.until("short", 500)
    assert 40 <= computing.order.count("long") <= 60
    await asyncio.gather(*work)


async def test_idle_turn_accumulates_no_credit() -> None:
    computing = Computing()
    busy = [computing.start("busy", portions=50) for _ in range(4)]
    await computing.until("busy", 100)
    late = [computing.start("late", portions=10) for _ in range(2)]
    await computing.until("late", 20)
    assert 115 <= computing.order.count("busy") <= 125
    await asyncio.gather(*busy, *late)


async def test_portions_of_a_turn_run_in_order() -> None:
    computing = Computing()
    await asyncio.gather(*(computing.start("turn", name=str(number)) for number in range(20)))
    assert computing.order == [str(number) for number in range(20)]


async def test_short_work_does_not_wait() -> None:
    computing = Computing()
    tasks = [computing.start("turn", seconds=0.0) for _ in range(60)]
    await asyncio.sleep(0)
    assert len(computing.order) == 60
    await asyncio.gather(*tasks)


async def test_results_and_errors_are_those_of_the_work() -> None:
    computing = Computing()

    async def fail() -> None:
        await asyncio.sleep(0)
        raise LookupError("as the work")

    others = [computing.start("turn") for _ in range(3)]
    assert await computing.start("turn", name="result") == "result"
    with pytest.raises(LookupError, match="as the work"):
        await computing.scheduler.run("turn", fail)
    await asyncio.gather(*others)


@pytest.mark.parametrize("portions", [0, 1, 2, 5])
async def test_work_is_cancelled_wherever_it_waits(portions: int) -> None:
    computing = Computing()
    ended: list[str] = []

    async def work() -> None:
        try:
            await computing.work("cancelled", 100, LONG)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    others = [computing.start("others", portions=100) for _ in range(2)]
    task = asyncio.create_task(computing.scheduler.run("turn", work))
    await computing.until("cancelled", portions)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert computing.order.count("cancelled") == portions
    assert ended == (["cancelled"] if portions else [])
    await asyncio.gather(*others)


async def test_gathered_work_is_scheduled_in_its_turn() -> None:
    computing = Computing()

    async def gathering() -> list[str]:
        parts = [partial(computing.work, "part", 2, LONG) for _ in range(60)]
        return await computing.scheduler.gather(parts)

    gathered = asyncio.create_task(computing.scheduler.run("large", gathering))
    await computing.until("part", 1)
    await computing.start("small")
    assert computing.order.count("part") <= 4
    assert await gathered == ["part"] * 60


async def test_nested_stacks_begin_one_after_the_other() -> None:
    computing = Computing()
    names = [str(number) for number in range(8)]
    await asyncio.gather(*(computing.start("turn", 3, name=name, beginning=StartPriority.STACK) for name in names))
    begun = [computing.order.index(name) for name in names]
    ended = [len(computing.order) - computing.order[::-1].index(name) for name in names]
    assert begun == sorted(begun)
    assert max(sum(began < at < end for began, end in zip(begun, ended, strict=True)) for at in range(24)) <= 2


async def test_nested_stacks_begin_while_others_of_its_turn_compute_all_the_time() -> None:
    computing = Computing()
    others = [computing.start("turn", 200, name="other") for _ in range(4)]
    await computing.until("other", 8)
    late = [computing.start("turn", name="late", beginning=StartPriority.STACK) for _ in range(3)]
    await asyncio.gather(*late)
    assert 90 <= computing.order.count("other") <= 120
    await asyncio.gather(*others)


async def test_steps_begin_before_nested_stacks_and_after_what_has_begun() -> None:
    computing = Computing()
    begun = [computing.start("turn", 4, name="begun") for _ in range(4)]
    await computing.until("begun", 1)
    kinds = (StartPriority.STACK, StartPriority.STEP, StartPriority.STACK, StartPriority.STEP)
    late = [computing.start("turn", name=kind.name, beginning=kind) for kind in kinds]
    await asyncio.gather(*begun, *late)
    assert computing.order[-4:] == ["STEP", "STEP", "STACK", "STACK"]


async def test_nested_stacks_do_not_wait_for_other_turns() -> None:
    computing = Computing()
    others = [computing.start("other", 100) for _ in range(4)]
    await computing.until("other", 8)
    await computing.start("turn", beginning=StartPriority.STACK)
    assert computing.order.count("other") <= 12
    await asyncio.gather(*others)
