"""Questions to services while a request is checked, which together have a limited time.

A slow service must not hold a request for longer than its sender waits: what has not been answered by then is unknown,
which is reported, and is no reason to refuse the request. The operation itself gets the service's answer later.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from typing import TypeVar

LOG = logging.getLogger(__name__)

Result = TypeVar("Result")

_MOST_NAMED = 5


class Questions:
    """Asks for at most `seconds` from now on. `unanswered` describes what got no answer in time."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = asyncio.get_running_loop().time() + seconds
        self.unanswered: list[str] = []

    async def ask(self, what: str, answer: Awaitable[Result], otherwise: Result) -> Result:
        """Return the answer, or `otherwise` without one; `what` describes the question. Raises its errors."""
        try:
            async with asyncio.timeout_at(self._end):
                return await answer
        except TimeoutError:
            self.unanswered.append(what)
            return otherwise

    def report(self) -> str | None:
        """Return a clause about what was not checked; None if everything was answered."""
        if not self.unanswered:
            return None
        more = ", …" if len(self.unanswered) > _MOST_NAMED else ""
        named = ", ".join(self.unanswered[:_MOST_NAMED])
        return f"not checked, since services did not answer within {self._seconds:g} seconds: {named}{more}"
