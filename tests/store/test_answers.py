"""Answers from a thread to coroutines."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable

import pytest

from stoker.store.answers import Answers


def give(answers: Answers, given: Iterable[tuple[asyncio.Future[None], BaseException | None]]) -> None:
    """Give answers from another thread, all of them before the loop can take one."""
    thread = threading.Thread(target=_give_all, args=(answers, given))
    thread.start()
    thread.join()


def _give_all(answers: Answers, given: Iterable[tuple[asyncio.Future[None], BaseException | None]]) -> None:
    for future, error in given:
        answers.give(future, error)


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
