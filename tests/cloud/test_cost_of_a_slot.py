"""What the slot of a call costs that does not wait: calls of Python functions, which no load changes."""

from __future__ import annotations

import asyncio
import sys
from types import FrameType

from stoker.cloud.call_slots import CallSlots, Destination
from stoker_foundation.clock import SystemClock

CALLS = 100
MOST = 18
"""Calls of functions, those of the standard library included, for each slot."""


async def test_a_slot_that_is_free_costs_few_calls() -> None:
    """No future, no generator, and no search among those that wait."""
    slots, here, entered = CallSlots(8, SystemClock()), Destination("p", "nova", "http://nova"), 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal entered
        entered += event == "call"

    async with slots.slot(here):
        sys.setprofile(count)
        try:
            for _ in range(CALLS):
                async with slots.slot(here) as call:
                    call.answered(200, None)
        finally:
            sys.setprofile(None)
    assert entered / CALLS <= MOST


async def test_the_next_one_that_waits_gets_a_slot_that_is_returned() -> None:
    """A slot is taken at once only if nobody waits for the same destination."""
    slots, here, order = CallSlots(2, SystemClock(), 1), Destination("p", "nova", "http://nova"), list[int]()

    async def use(number: int) -> None:
        async with slots.slot(here):
            order.append(number)
            await asyncio.sleep(0)

    await asyncio.gather(*(use(number) for number in range(5)))
    assert order == [0, 1, 2, 3, 4]
    assert slots.usage() == {}
