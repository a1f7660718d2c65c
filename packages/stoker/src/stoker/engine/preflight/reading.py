"""Read what the checks ask the services: each question once, a few at a time, all of them within a limited time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from stoker.base.errors import CloudError, StokerError
from stoker.cloud.session import Cloud
from stoker.plugins.preflight import NotRead
from stoker_foundation.clock import Clock

_AT_ONCE = 4
"""Requests that are under way at the same time for one plan."""


class Reader:
    """Implements plugins.preflight.Facts. `seconds` is the time for all questions together, from the first one on.

    `calls` is the number of questions that were sent.
    """

    def __init__(self, cloud: Cloud, clock: Clock, seconds: float) -> None:
        self._cloud = cloud
        self._clock = clock
        self._seconds = seconds
        self._asked: dict[Any, asyncio.Task[Any]] = {}
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._expired = False
        self.project_id = cloud.project_id
        self.role_names = cloud.role_names

    @property
    def calls(self) -> int:
        """Return the number of questions."""
        return len(self._asked)

    async def get(self, service: str, path: str) -> Any:
        """Implements Facts."""
        return await self._once((service, path), service, path, lambda: self._cloud.get(service, path))

    async def list(
        self, service: str, path: str, key: str, params: Mapping[str, Any] | None = None
    ) -> Sequence[Mapping[str, Any]]:
        """Implements Facts."""
        question = (service, path, key, repr(params))
        found: Sequence[Mapping[str, Any]] = await self._once(
            question, service, path, lambda: self._cloud.list(service, path, key, params)
        )
        return found

    async def headers(self, service: str, path: str) -> Mapping[str, str]:
        """Implements Facts."""

        async def ask() -> Mapping[str, str]:
            answer = await self._cloud.request("HEAD", service, path)
            return {name.lower(): value for name, value in answer.headers.items()}

        found: Mapping[str, str] = await self._once(("HEAD", service, path), service, path, ask)
        return found

    async def _once(self, question: object, service: str, path: str, ask: Callable[[], Awaitable[object]]) -> Any:
        late = f"{service} did not answer GET {path} within {self._seconds:g} seconds"
        if question not in self._asked:
            if self._expired:
                raise NotRead(late)
            self._asked[question] = asyncio.create_task(self._in_turn(ask))
        try:
            task = self._asked[question]
            return task.result() if task.done() else await asyncio.shield(task)
        except asyncio.CancelledError:
            if not self._asked[question].cancelled():
                raise
            raise NotRead(late) from None
        except StokerError as error:
            refused = NotRead(f"{service} did not answer GET {path}: {error.message.removesuffix('.')}")
            refused.status = error.status if isinstance(error, CloudError) else None
            raise refused from error

    async def _in_turn(self, ask: Callable[[], Awaitable[object]]) -> object:
        async with self._room:
            return await ask()

    async def within_time(self, work: Awaitable[object]) -> Any:
        """Return the result of work that asks; questions that are not answered in time raise NotRead in it."""
        timer = self._clock.call_later(self._seconds, self._expire)
        try:
            return await work
        finally:
            timer.cancel()
            self._expire()

    def _expire(self) -> None:
        self._expired = True
        for task in self._asked.values():
            task.cancel()
