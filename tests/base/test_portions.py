"""Work on an event loop in portions."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from stoker.base.portions import PORTION, in_portions


async def test_others_come_in_between() -> None:
    order: list[str] = []

    async def other() -> None:
        for _ in range(3):
            order.append("other")
            await asyncio.sleep(0)

    async def part(number: int) -> int:
        order.append("part")
        return number

    beside = asyncio.ensure_future(other())
    assert await in_portions([partial(part, number) for number in range(4 * PORTION)]) == list(range(4 * PORTION))
    await beside
    assert order.count("part") == 4 * PORTION
    for turn in [at for at, what in enumerate(order) if what == "other"]:
        assert turn <= 3 * PORTION


async def test_waiting_parts_wait_together_and_an_error_is_raised() -> None:
    arrived, most = 0, asyncio.Event()

    async def part(number: int) -> None:
        nonlocal arrived
        arrived += 1
        if arrived == 3 * PORTION:
            most.set()
        await most.wait()
        if number == 5:
            raise ValueError(number)

    with pytest.raises(ValueError, match="5"):
        await in_portions([partial(part, number) for number in range(3 * PORTION)])
    assert arrived == 3 * PORTION
