"""The slots of concurrent calls: fair to projects, and adapted to what a service takes. All times are virtual."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from stoker.cloud.call_slots import LONGEST_PAUSE, CallSlots, Destination, Usage
from stoker.testing.virtual_loop import VirtualLoop
from stoker_foundation.clock import ManualClock, sleep

Answer = tuple[int, float | None]


@dataclass
class Service:
    """A service whose calls take `seconds`; `judge` returns the status and the time to wait of each, when it begins."""

    clock: ManualClock
    seconds: float
    judge: Callable[[], Answer] = lambda: (200, None)
    at_once: int = 0
    most_at_once: int = 0
    statuses: Counter[int] = field(default_factory=Counter)

    async def answer(self) -> Answer:
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        status, waits = self.judge()
        await sleep(self.clock, self.seconds)
        self.at_once -= 1
        self.statuses[status] += 1
        return status, waits


class Bench:
    """Calls of services through slots, in virtual time."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.loop = VirtualLoop(self.clock)

    def run(self, work: Coroutine[Any, Any, Any]) -> None:
        self.loop.run_until_complete(work)

    async def call(self, slots: CallSlots, service: Service, project_id: str = "p", name: str = "nova") -> float:
        """Make a call until it succeeds; return when it did. A refused one waits as long as it is asked to."""
        while True:
            async with slots.slot(Destination(project_id, name)) as call:
                status, waits = await service.answer()
                call.answered(status, waits)
            if status < 400:
                return self.clock.monotonic()
            await sleep(self.clock, waits or 1.0)


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.loop.close()


def rate(clock: ManualClock, allowed: int, seconds: float) -> Callable[[], Answer]:
    """A judge that refuses what exceeds `allowed` calls in `seconds`, and asks to wait as long."""
    passed: deque[float] = deque()

    def judge() -> Answer:
        while passed and passed[0] <= clock.monotonic() - seconds:
            passed.popleft()
        if len(passed) >= allowed:
            return 429, seconds
        passed.append(clock.monotonic())
        return 200, None

    return judge


def test_slow_calls_run_concurrently(bench: Bench) -> None:
    async def main() -> None:
        slots, service = CallSlots(512, bench.clock, 256), Service(bench.clock, 20.0)
        await asyncio.gather(*(bench.call(slots, service) for _ in range(250)))
        assert service.most_at_once == 250
        assert bench.clock.monotonic() - began == pytest.approx(20.0)

    began = bench.clock.monotonic()
    bench.run(main())


@pytest.mark.parametrize("projects", [1, 2, 4])
def test_project_uses_at_most_half_of_the_free_slots(bench: Bench, projects: int) -> None:
    async def main() -> None:
        slots, services = CallSlots(60, bench.clock), [Service(bench.clock, 20.0) for _ in range(projects)]
        many = [
            asyncio.ensure_future(bench.call(slots, service, f"p{number}"))
            for number, service in enumerate(services)
            for _ in range(100)
        ]
        await sleep(bench.clock, 1.0)
        began = bench.clock.monotonic()
        assert await bench.call(slots, Service(bench.clock, 20.0), "newcomer") == pytest.approx(began + 20.0)
        await asyncio.gather(*many)
        used = [service.most_at_once for service in services]
        assert max(used) <= 30 and sum(used) >= 30
        ended = bench.clock.monotonic()
        assert ended - began < 20.0 * (100 * projects / 30 + 2)

    bench.run(main())


def test_rate_limit_is_reached_with_few_refusals(bench: Bench) -> None:
    """200 calls of 0.2 s where 10 in a second are allowed: without adapting, 1900 were refused."""

    async def main() -> None:
        service = Service(bench.clock, 0.2, rate(bench.clock, 10, 1.0))
        slots = CallSlots(512, bench.clock, 256)
        await asyncio.gather(*(bench.call(slots, service) for _ in range(200)))
        assert service.statuses[200] == 200
        assert 190 <= service.statuses[429] < 400  # the first burst, of which the service takes ten, and its halves
        assert bench.clock.monotonic() - began < 200 / 10 * 2

    began = bench.clock.monotonic()
    bench.run(main())


def test_retry_after_is_respected(bench: Bench) -> None:
    async def main() -> None:
        slots, begun = CallSlots(10, bench.clock), list[float]()
        answers = [(503, 30.0), *[(200, None)] * 3]

        def judge() -> Answer:
            begun.append(bench.clock.monotonic() - began)
            return answers[len(begun) - 1]

        service = Service(bench.clock, 1.0, judge)
        first = asyncio.ensure_future(bench.call(slots, service))
        await sleep(bench.clock, 2.0)
        other_project = await bench.call(slots, Service(bench.clock, 1.0), "another")
        assert other_project - began == pytest.approx(3.0)
        other_service = await bench.call(slots, Service(bench.clock, 1.0), name="neutron")
        assert other_service - began == pytest.approx(4.0)
        await asyncio.gather(first, bench.call(slots, service))
        assert begun == pytest.approx([0.0, 31.0, 31.0])

    began = bench.clock.monotonic()
    bench.run(main())


def test_a_pause_is_not_longer_than_a_limit(bench: Bench) -> None:
    async def main() -> None:
        slots = CallSlots(10, bench.clock)
        async with slots.slot(Destination("p", "nova")) as call:
            call.answered(429, 86_400.0)
        began = bench.clock.monotonic()
        ended = await bench.call(slots, Service(bench.clock, 1.0))
        assert ended - began == pytest.approx(LONGEST_PAUSE + 1.0)

    bench.run(main())


def limits(answers: Sequence[Answer], at_once: int) -> list[int]:
    """The most concurrent calls after each burst of `at_once` calls that get the same answer."""
    bench, seen = Bench(), list[int]()

    async def main() -> None:
        slots = CallSlots(64, bench.clock, 32)
        for answer in answers:
            service = Service(bench.clock, 1.0, lambda answer=answer: answer)  # type: ignore[misc]

            async def once(service: Service = service) -> None:
                async with slots.slot(Destination("p", "nova")) as call:
                    call.answered(*await service.answer())

            await asyncio.gather(*(once() for _ in range(at_once)))
            seen.append(service.most_at_once)

    bench.run(main())
    bench.loop.close()
    return seen


def test_concurrency_decreases_multiplicatively_and_increases_additively() -> None:
    [first, halved, more, still_more] = limits([(429, None), *[(200, None)] * 3], 32)
    assert first == 32 and 16 <= halved <= 17
    assert 1 <= more - halved <= 3 and 1 <= still_more - more <= 3


def test_slow_start_after_outage() -> None:
    bursts = limits([*[(503, None)] * 6, *[(200, None)] * 2], 32)
    assert bursts[0] == 32 and bursts[5] == 4
    assert bursts[6] >= 16  # 32 answers: 4, 8, 16 calls at a time
    assert bursts[7] <= 20


@pytest.mark.parametrize(
    ("status", "waits"), [(500, None), (404, None), (409, None), (413, None), (413, 0.0), (401, 5.0)]
)
def test_other_errors_do_not_reduce_concurrency(bench: Bench, status: int, waits: float | None) -> None:
    async def main() -> None:
        slots = CallSlots(10, bench.clock)
        async with slots.slot(Destination("p", "nova")) as call:
            call.answered(status, waits)
        assert slots.usage() == {}  # nothing to remember

    bench.run(main())


def test_refusals_of_one_burst_count_once(bench: Bench) -> None:
    async def main() -> None:
        slots, answers = CallSlots(64, bench.clock, 32), Counter[str]()

        async def refused() -> None:
            async with slots.slot(Destination("p", "nova")) as call:
                await sleep(bench.clock, 1.0)
                call.answered(429, None)
                answers["refused"] += 1

        await asyncio.gather(*(refused() for _ in range(32)))
        service = Service(bench.clock, 1.0)
        await asyncio.gather(*(bench.call(slots, service) for _ in range(16)))
        assert service.most_at_once == 16, "32 refusals at once halve the number of calls, and not to one"

    bench.run(main())


def test_refusals_are_forgotten_after_a_minute(bench: Bench) -> None:
    async def main() -> None:
        slots = CallSlots(64, bench.clock)
        async with slots.slot(Destination("p", "nova")) as call:
            call.answered(429, None)
        assert slots.usage() == {"nova": Usage(0, 0, 1)}
        await sleep(bench.clock, 61.0)
        service = Service(bench.clock, 1.0)
        await asyncio.gather(*(bench.call(slots, service) for _ in range(20)))
        assert service.most_at_once == 20
        assert slots.usage() == {}

    bench.run(main())


def test_a_cancelled_call_gives_its_slot_back(bench: Bench) -> None:
    async def main() -> None:
        slots, service = CallSlots(4, bench.clock), Service(bench.clock, 10.0)
        calls = [asyncio.ensure_future(bench.call(slots, service)) for _ in range(6)]
        await sleep(bench.clock, 1.0)
        assert slots.usage() == {"nova": Usage(2, 4, 0)}
        calls[0].cancel()  # it has a slot, which the third gets
        calls[5].cancel()  # it waits for one
        await asyncio.gather(*calls, return_exceptions=True)
        assert service.statuses == {200: 4}
        assert slots.usage() == {}
        await asyncio.gather(*(bench.call(slots, service) for _ in range(2)))

    bench.run(main())


def test_a_cancelled_call_that_has_just_got_a_slot_gives_it_back(bench: Bench) -> None:
    async def main() -> None:
        slots, service = CallSlots(2, bench.clock), Service(bench.clock, 1.0)
        waits = asyncio.ensure_future(bench.call(slots, service))
        async with slots.slot(Destination("p", "nova")):
            await asyncio.sleep(0)
            second = asyncio.ensure_future(bench.call(slots, service))
            await asyncio.sleep(0)
        second.cancel()
        waits.cancel()
        await asyncio.gather(waits, second, return_exceptions=True)
        await bench.call(slots, service)
        assert slots.usage() == {}

    bench.run(main())


def test_forgotten_destinations_are_bounded(bench: Bench) -> None:
    async def main() -> None:
        slots = CallSlots(64, bench.clock)
        for number in range(10_000):
            async with slots.slot(Destination(f"p{number}", "nova")) as call:
                call.answered(429, None)
        assert slots.usage()["nova"].limited_projects <= 4096

    bench.run(main())


def test_projects_with_waiting_calls_are_listed(bench: Bench) -> None:
    async def main() -> None:
        slots, service = CallSlots(8, bench.clock), Service(bench.clock, 10.0)
        many = [bench.call(slots, service, "many", name) for name in ("nova", "neutron") for _ in range(5)]
        calls = [asyncio.ensure_future(call) for call in (*many, bench.call(slots, service, "few"))]
        await sleep(bench.clock, 1.0)
        assert slots.saturated_projects(5) == {"many"}  # it has half of the slots, and six calls wait
        assert slots.saturated_projects(6) == set()
        await asyncio.gather(*calls)
        assert slots.saturated_projects(0) == set()

    bench.run(main())
