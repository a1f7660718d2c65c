"""Slots that projects share: a project that uses many waits for its own, and leaves the others free."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

_PROJECTS = 8
"""How many projects may use their share of the slots at the same time."""


@dataclass(slots=True)
class _Share:
    """The slots of one project, and the number of tasks that use them or wait for one."""

    slots: asyncio.Semaphore
    tasks: int = 0


class ProjectSlots:
    """`total` slots, of which a project uses at most an eighth at a time, but at least one.

    Use it on one event loop.
    """

    def __init__(self, total: int) -> None:
        self._all = asyncio.Semaphore(total)
        self._share = max(1, total // _PROJECTS)
        self._shares: dict[str, _Share] = {}

    @asynccontextmanager
    async def slot(self, project_id: str) -> AsyncIterator[None]:
        """Hold a slot of the project; wait until it has a free one.

        A project waits for its own slots first. So it has no more tasks in the queue for the common slots than its
        share, and the tasks of another project get their turn after these.
        """
        share = self._shares.setdefault(project_id, _Share(asyncio.Semaphore(self._share)))
        share.tasks += 1
        try:
            async with share.slots, self._all:
                yield
        finally:
            share.tasks -= 1
            if not share.tasks:
                del self._shares[project_id]
