"""Offer operations of nested stacks to all engines, when there are more than this one gets under way at once.

The engine of a large tree keeps what it can begin now, and leaves the rest for whichever engine is free first, itself
among them (`shared_work`). An engine that is alone keeps everything.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from stoker.engine.ownership.peers import OtherEngines
from stoker.engine.ownership.runs import Runs
from stoker.store.records import SECOND_CHANCE, Operation

PORTION = 20
"""Number of offered operations that an engine claims in one transaction."""


def _nothing() -> None:
    """Take nothing."""


class Offers:
    """Decides which operations are offered, and notifies others of them.

    `kept` is the number of operations below which an engine that has not begun so many keeps a new one. `take` is
    called when some are left, which this engine may take as others may.
    """

    def __init__(self, runs: Runs, others: OtherEngines, own_operations: int, *, is_trial: bool) -> None:
        self._runs = runs
        self._others = others
        self._own_operations = own_operations
        self._is_trial = is_trial
        self._left: list[str] = []
        self._notified = 0
        self.take: Callable[[], None] = _nothing

    @property
    def is_only_engine(self) -> bool:
        """Whether no other engine is alive."""
        return not self._others.alive

    def is_offered(self, operation: Operation) -> bool:
        """Return whether a new operation of a nested stack is to be recorded without an owner.

        Those of the suspects of a trial, and their second chances, remain in the engine that has them.
        """
        return (
            not self.is_only_engine
            and not self._is_trial
            and operation.cause != SECOND_CHANCE
            and self._runs.beginning >= self._own_operations
        )

    def left(self, operation_id: str) -> None:
        """Offer an operation that is recorded without an owner, together with the others of the same commit."""
        self._left.append(operation_id)
        if len(self._left) == 1:
            asyncio.get_running_loop().call_soon(self._notify)

    def _notify(self) -> None:
        """Notify one engine for each portion: the nearest first, then the others in turn."""
        left, self._left = self._left, []
        nearest = self._others.nearest
        for first in left[: len(nearest) * PORTION : PORTION]:
            self._others.peers.offer(first, nearest[self._notified % len(nearest)])
            self._notified += 1
        self.take()

    def none_left(self) -> None:
        """Note that nothing is left: the next offer is for the nearest engine again."""
        self._notified = 0
