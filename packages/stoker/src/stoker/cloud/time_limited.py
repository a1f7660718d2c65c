"""Questions to a cloud that must be answered by a certain time: a service that hangs does not take the others along."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from typing import Any, TypeVar

from stoker.base.errors import CloudError
from stoker.cloud.session import Cloud

_Answer = TypeVar("_Answer")


class TimeLimitedCloud:
    """Asks a cloud for at most `seconds` from now on, for all questions together. A late answer is a CloudError."""

    def __init__(self, cloud: Cloud, seconds: float) -> None:
        self._cloud = cloud
        self._seconds = seconds
        self._end = asyncio.get_running_loop().time() + seconds

    def has_service(self, service: str) -> bool:
        """Return whether the catalog has the service."""
        return self._cloud.has_service(service)

    async def has_extension(self, service: str, alias: str) -> bool:
        """Return whether the service has loaded an extension, as `Cloud.has_extension`. Raises CloudError."""
        return await self._answer(service, "its extensions", self._cloud.has_extension(service, alias))

    async def list(self, service: str, path: str, members: str, params: Mapping[str, Any] | None) -> list[Any]:
        """Return the members of a collection, as `Cloud.list`. Raises CloudError."""
        return await self._answer(service, f"GET {path}", self._cloud.list(service, path, members, params))

    async def _answer(self, service: str, question: str, answer: Awaitable[_Answer]) -> _Answer:
        try:
            async with asyncio.timeout_at(self._end):
                return await answer
        except TimeoutError:
            late = f"{service} did not answer {question} within {self._seconds:g} seconds"
            raise CloudError(service, 0, late, transient=True) from None
