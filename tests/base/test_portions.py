"""Work on an event loop in portions."""

from __future__ import annotations

import asyncio

from stoker.base.portions import PORTION, portions_of


async def test_other_projects_are_served_between_portions() -> None:
    order: list[str] = []

    async def other() -> None:
        for _ in range(3):
            order.append("other")
            await asyncio.sleep(0)

    beside = asyncio.ensure_future(other())
    found = []
    async for number in portions_of(range(4 * PORTION)):
        order.append("part")
        found.append(number)
    await beside
    assert found == list(range(4 * PORTION))
    assert [at for at, what in enumerate(order) if what == "other"] == [PORTION, 2 * PORTION + 1, 3 * PORTION + 2]
