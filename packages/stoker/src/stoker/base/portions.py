"""Much work on an event loop in portions, so that others' work comes in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

Item = TypeVar("Item")

PORTION = 16
"""Items in one iteration of the event loop: a few milliseconds, if computing one takes a fraction of one."""


async def portions_of(items: Iterable[Item]) -> AsyncIterator[Item]:
    """Yield all items; others' work comes in between after each portion. The items must not change meanwhile."""
    for number, item in enumerate(items):
        yield item
        if number % PORTION == PORTION - 1:
            await asyncio.sleep(0)
