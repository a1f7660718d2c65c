"""Threads that work for coroutines, and their answers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable

import pytest

from stoker.store.answers import Answers, ReadingThreads


def give(answers: Answers, given: Iterable[tuple[asyncio.Future[None], BaseException | None]]) -> None:
    """Give answers from another thread, all of them before the loop can take one."""
    thread = threading.Thread(target=_give_all, args=(answers, given))
    thread.start()
    thread.join()


def _give_all(answers: Answers, given: Iterable[tuple[asyncio.Future[None], BaseException | None]]) -> None:
    for future, error in given:
        answers.deliver(future, error)


async def test_all_futures_are_settled_in_one_turn_of_the_loop_and_in_order() -> None:
    loop = asyncio.get_running_loop()
    answers, order = Answers(loop), list[int]()
    futures: list[asyncio.Future[None]] = [loop.create_future() for _ in range(100)]
    for number, future in enumerate(futures):
        future.add_done_callback(lambda _, number=number: order.append(number))  # type: ignore[misc]
    give(answers, [(future, None) for future in futures])
    await futures[0]
    assert all(future.done() for future in futures)
    await asyncio.sleep(0)
    assert order == list(range(100))


async def test_errors_arrive_and_cancelled_futures_are_passed_over() -> None:
    loop = asyncio.get_running_loop()
    answers = Answers(loop)
    gone, failing, last = loop.create_future(), loop.create_future(), loop.create_future()
    gone.cancel()
    give(answers, [(gone, None), (failing, LookupError("as given")), (last, None)])
    await last
    with pytest.raises(LookupError, match="as given"):
        await failing
    assert gone.cancelled()


async def test_no_answer_is_lost_while_the_loop_takes_others() -> None:
    loop = asyncio.get_running_loop()
    answers = Answers(loop)
    futures: list[asyncio.Future[None]] = [loop.create_future() for _ in range(20_000)]
    thread = threading.Thread(target=_give_all, args=(answers, [(future, None) for future in futures]))
    thread.start()
    await asyncio.wait_for(asyncio.gather(*futures), 60)
    thread.join()


async def test_reading_threads_return_results_and_errors_of_work_that_runs_at_a_time() -> None:
    threads, loop = ReadingThreads(2, "read"), asyncio.get_running_loop()
    both = threading.Barrier(2)

    def meet(number: int) -> tuple[int, str]:
        both.wait(60)
        return number, threading.current_thread().name

    def fail() -> None:
        raise LookupError("as raised")

    found = await asyncio.gather(*(loop.run_in_executor(threads, meet, number) for number in range(2)))
    assert [number for number, _ in found] == [0, 1]
    assert {name for _, name in found} == {"read_0", "read_1"}
    with pytest.raises(LookupError, match="as raised"):
        await loop.run_in_executor(threads, fail)
    answers = await asyncio.gather(*(loop.run_in_executor(threads, lambda n=n: n) for n in range(5000)))  # type: ignore[misc]
    assert answers == list(range(5000))
    threads.shutdown()
    with pytest.raises(RuntimeError):
        await loop.run_in_executor(threads, fail)


async def test_cancelled_reads_do_not_begin_and_others_end_before_a_shutdown() -> None:
    threads, loop = ReadingThreads(1, "read"), asyncio.get_running_loop()
    held, began = threading.Event(), list[str]()
    first = loop.run_in_executor(threads, held.wait, 60)
    gone = loop.run_in_executor(threads, began.append, "gone")
    last = loop.run_in_executor(threads, began.append, "last")
    gone.cancel()
    held.set()
    assert await first
    await asyncio.to_thread(threads.shutdown)
    await last
    assert began == ["last"]


def test_results_for_a_closed_loop_are_dropped_and_the_next_loop_is_served() -> None:
    threads, held = ReadingThreads(1, "read"), threading.Event()

    async def leave() -> None:
        asyncio.get_running_loop().run_in_executor(threads, held.wait, 60)

    async def ask() -> int:
        return await asyncio.get_running_loop().run_in_executor(threads, lambda: 1)

    asyncio.run(leave())
    held.set()
    assert asyncio.run(ask()) == 1
    threads.shutdown()
