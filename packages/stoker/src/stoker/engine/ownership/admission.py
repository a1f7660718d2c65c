"""When the operations of nested stacks begin.

An operation takes memory from its plan to its end. While calls of its project wait for a slot, another operation can
only add to them. So of the nested stacks of one operation, a few may be in progress at any time, and more begin only
when few calls wait: a tree of a thousand nested stacks is in memory as a whole only if all of it makes progress. What
those that have just begun will call is not seen yet, so a part of those in progress begins at a time.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import inf

from stoker.engine.records.services import RecordingServices
from stoker.engine.running.run import OperationRun
from stoker_foundation.clock import Timer

_ALWAYS = 20
"""Number of nested stacks of one operation that may be in progress however many calls wait."""

_FEW_CALLS = 20
"""Number of waiting calls of a project up to which more may begin."""

_AT_A_TIME = 8
"""Number of those beyond that may begin at a time; a quarter of those in progress, if that is more."""

_SECONDS = 0.5
"""From the plan of an operation until its calls are seen to wait or not, and between two looks at the calls."""

_BEGINNING = "beginning"
"""What a run that must not begin yet waits for (see `Waiting.pause`)."""


@dataclass(slots=True)
class _Siblings:
    """The operations of nested stacks that one operation has begun, by ID: those in progress here, those of them
    whose calls are not seen yet, with the time from which they are, and those that wait.
    """

    begun: set[str] = field(default_factory=set)
    unseen: dict[str, float] = field(default_factory=dict)
    held: dict[str, OperationRun] = field(default_factory=dict)

    def begin(self, operation_id: str) -> None:
        self.held.pop(operation_id, None)
        self.begun.add(operation_id)
        self.unseen[operation_id] = inf

    def end(self, operation_id: str) -> None:
        self.held.pop(operation_id, None)
        self.begun.discard(operation_id)
        self.unseen.pop(operation_id, None)

    def unseen_at(self, now: float) -> int:
        """Return how many have begun whose calls are not seen at a time of the clock."""
        self.unseen = {name: at for name, at in self.unseen.items() if at > now}
        return len(self.unseen)


class Admission:
    """Lets the operations of nested stacks begin, in the order in which they were recorded. Used on one event loop."""

    def __init__(self, services: RecordingServices) -> None:
        self._services = services
        self._siblings: dict[str, _Siblings] = {}
        self._timer: Timer | None = None

    @asynccontextmanager
    async def admitted(self, run: OperationRun) -> AsyncIterator[None]:
        """Wait until a run may begin, or is stopped. It has ended when the context ends."""
        above, name = run.operation.parent_operation, run.operation.id
        if above is None:
            yield
            return
        siblings = self._siblings.setdefault(above, _Siblings())
        siblings.held[name] = run
        self._admit(siblings)
        try:
            while name in siblings.held and not run.progress.ends_early:
                await run.waiting.pause(_BEGINNING, None)
            siblings.begin(name)
            yield
        finally:
            siblings.end(name)
            self._admit(siblings)
            if not siblings.begun and not siblings.held:
                del self._siblings[above]

    def planned(self, run: OperationRun) -> None:
        """Note that a run has made its plan; nothing is noted about one that has ended."""
        siblings = self._siblings.get(run.operation.parent_operation or "")
        if siblings is not None and run.operation.id in siblings.unseen:
            siblings.unseen[run.operation.id] = self._services.clock.monotonic() + _SECONDS

    def _admit(self, siblings: _Siblings) -> None:
        """Let those begin that may."""
        while siblings.held:
            name, run = next(iter(siblings.held.items()))
            if not self._has_room(siblings, run.stack.project_id):
                self._look_again()
                return
            siblings.begin(name)
            run.wake(_BEGINNING)

    def _has_room(self, siblings: _Siblings, project_id: str) -> bool:
        if len(siblings.begun) < _ALWAYS:
            return True
        if siblings.unseen_at(self._services.clock.monotonic()) >= max(_AT_A_TIME, len(siblings.begun) // 4):
            return False
        return project_id not in self._services.credentials.pool.transport.crowded(_FEW_CALLS)

    def _look_again(self) -> None:
        if self._timer is None:
            self._timer = self._services.clock.call_later(_SECONDS, self._look)

    def _look(self) -> None:
        self._timer = None
        for siblings in self._siblings.values():
            self._admit(siblings)
