"""Much work on an event loop, begun in portions, so that others' work comes in between."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

Result = TypeVar("Result")

PORTION = 16
"""Coroutines that begin in one iteration of the event loop: a few milliseconds if each computes at first."""


async def in_portions(work: Sequence[Callable[[], Awaitable[Result]]]) -> list[Result]:
    """Return the results of all calls, in order, as `asyncio.gather` does.

    `gather` would begin all of them in one iteration of the event loop, which meanwhile serves nobody else.
    """
    begun: list[asyncio.Future[Result]] = []
    for number, call in enumerate(work):
        begun.append(asyncio.ensure_future(call()))
        if number % PORTION == PORTION - 1:
            await asyncio.sleep(0)
    return await asyncio.gather(*begun)
