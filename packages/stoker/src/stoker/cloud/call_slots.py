"""The slots of concurrent calls, shared by projects fairly, and adapted to what each service takes.

A project that has many calls leaves slots to others: it gets one only while more are free than it uses. So one project
uses at most half of them, two use a third each, and the first call of another project finds a free slot. Among projects
that wait, the one that uses the fewest is next.

The number of concurrent calls that a project makes to a service changes as the window of a TCP connection (RFC 5681): a
refusal halves it, answers to a whole window of calls add one (additive increase, multiplicative decrease). It begins
with the largest number, since most services are never busy.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime

from stoker_foundation.clock import Clock, Timer

LONGEST_PAUSE = 300.0
"""Maximum number of seconds for which a service's `Retry-After` is respected."""

_PAUSES_BEFORE_MORE = 5
"""How many times as long as it asked a service to wait the number stays, before one call is added: the service limits a
rate, and too many calls cost a pause in which there are none.
"""

_FEWEST = 4
"""The lowest limit: calls that are never answered, until they time out after minutes, must not hold up all others."""

_REFUSALS = frozenset({429, 498, 502, 503, 504})
"""Statuses of services that are busy, or of proxies that do not reach them; 498 is Swift's rate limit."""


def is_refusal(status: int, retry_after: float | None) -> bool:
    """Return whether a service refuses a call because it is busy; 413 without a time to wait is about a quota."""
    return status in _REFUSALS or (status == 413 and bool(retry_after))


class Congestion:
    """The limit of concurrent calls towards one destination: at most `most`, and few while it refuses calls.

    Times are of a monotonic clock. `begin` numbers the calls; the number of a call tells which refusals have already
    been answered by a lower limit.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.resumes_at = 0.0
        self._hold = 0.0
        self._held_until = 0.0
        self._answers = 0
        self.limit = most
        self._threshold = most
        self._begun = 0
        self._reduced_at = 0
        self._answered_since = True

    @property
    def reduced(self) -> bool:
        """Whether the limit is lower than it could be."""
        return self.limit < self.most

    def begin(self) -> int:
        """Count a call, and return its number."""
        self._begun += 1
        return self._begun

    def answered(self, in_use: int, now: float) -> None:
        """Raise the limit after an answer, if the calls in progress need it.

        Until half of the limit before the first refusal is reached, it doubles with each window of answered calls: a
        service that was down for a minute refuses everything, and this does not say how much it takes afterwards.
        """
        self._answered_since = True
        if self.limit >= self.most or in_use * 2 < self.limit:
            return
        self._answers += 1
        if self.limit < self._threshold or (self._answers >= self.limit and now >= self._held_until):
            self.limit += 1
            self._answers = 0
            self._held_until = now + self._hold

    def refused(self, number: int, in_use: int, now: float, pause: float) -> None:
        """Halve the limit after a refusal, once for calls that began together; none begins for `pause` seconds."""
        self.resumes_at = max(self.resumes_at, now + pause)
        if number <= self._reduced_at:
            return
        self._reduced_at = self._begun
        self.limit = min(self.most, max(_FEWEST, math.ceil(min(self.limit, in_use) / 2)))
        if self._answered_since:
            self._threshold = self.limit
        self._answered_since = False
        self._answers = 0
        self._hold = _PAUSES_BEFORE_MORE * pause
        self._held_until = self.resumes_at + self._hold


_IDLE_SECONDS = 60.0
"""A destination that was not called for so long is called as one that has never refused anything."""
_MOST_QUEUES = 4096
"""Destinations that are remembered; those without calls are forgotten when there are more."""


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a call goes, and for whom: the limits of a service are those of one project at one address."""

    project_id: str
    service: str = ""
    address: str = ""


@dataclass(slots=True)
class _Queue:
    """The calls towards one destination: how many are in progress, and those that wait."""

    destination: Destination
    congestion: Congestion
    in_use: int = 0
    turn: int = 0
    used_at: float = 0.0
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)

    def is_open(self, now: float) -> bool:
        return self.in_use < self.congestion.limit and now >= self.congestion.resumes_at


class CallSlot:
    """The slot of a call, held in `async with`; report the service's answer with `answered`."""

    __slots__ = ("_destination", "_number", "_queue", "_slots")

    def __init__(self, slots: CallSlots, destination: Destination) -> None:
        self._slots, self._destination = slots, destination

    async def __aenter__(self) -> CallSlot:
        self._queue = await self._slots.take(self._destination)
        self._number = self._queue.congestion.begin()
        return self

    async def __aexit__(self, *error: object) -> None:
        self._slots.release(self._queue)

    def answered(self, status: int, retry_after: float | None) -> None:
        """Adapt the number of concurrent calls to a response. `retry_after` is the service's own delay in seconds."""
        queue, now = self._queue, self._slots.clock.monotonic()
        if is_refusal(status, retry_after):
            pause = min(retry_after or 0.0, self._slots.longest_pause)
            queue.congestion.refused(self._number, queue.in_use, now, pause)
        else:
            queue.congestion.answered(queue.in_use, now)


@dataclass(frozen=True, slots=True)
class Usage:
    """The calls of one service: in progress, waiting for a slot, and the projects that must make fewer at a time."""

    in_progress: int = 0
    waiting: int = 0
    limited_projects: int = 0


class CallSlots:
    """`total` slots, of which a project holds at most `per_destination` for one destination. Use it on one event loop.

    After a service has asked for a pause, of at most `longest_pause` seconds, no call of the project begins there.
    """

    def __init__(
        self, total: int, clock: Clock, per_destination: int | None = None, longest_pause: float = LONGEST_PAUSE
    ) -> None:
        self.clock = clock
        self.longest_pause = longest_pause
        self._free = total
        self._per_destination = per_destination or total
        self._used: Counter[str] = Counter()
        self._queues: dict[Destination, _Queue] = {}
        self._waiting: dict[Destination, _Queue] = {}
        self._turns = 0
        self._timer: tuple[float, Timer] | None = None

    def slot(self, destination: Destination) -> CallSlot:
        """Return what holds a slot in `async with`, once the project and the destination have one."""
        return CallSlot(self, destination)

    def usage(self) -> dict[str, Usage]:
        """Return how many calls there are, by the name of the service."""
        queues: dict[str, list[_Queue]] = {}
        for queue in self._queues.values():
            queues.setdefault(queue.destination.service, []).append(queue)
        return {
            service: Usage(
                sum(each.in_use for each in of_service),
                sum(not future.done() for each in of_service for future in each.waiting),
                len({each.destination.project_id for each in of_service if each.congestion.reduced}),
            )
            for service, of_service in queues.items()
        }

    def saturated_projects(self, most: int) -> set[str]:
        """Return the projects that have more than `most` calls waiting for a slot."""
        waiting: Counter[str] = Counter()
        for queue in self._waiting.values():
            waiting[queue.destination.project_id] += len(queue.waiting)
        return {project_id for project_id, count in waiting.items() if count > most}

    async def take(self, destination: Destination) -> _Queue:
        """Take a slot, after those that wait for the same destination; `release` the queue that is returned."""
        now = self.clock.monotonic()
        queue = self._queue(destination, now)
        if not queue.waiting and self._is_ready(queue, now):
            self._use(queue)
            return queue
        future = asyncio.get_running_loop().create_future()
        queue.waiting.append(future)
        self._waiting[destination] = queue
        self._schedule_next(now)
        try:
            await future
        except asyncio.CancelledError:
            if not future.cancelled():  # it was given a slot just before
                self.release(queue)
            raise
        return queue

    def release(self, queue: _Queue) -> None:
        """Return a slot, for those that wait."""
        self._free += 1
        queue.in_use -= 1
        queue.used_at = self.clock.monotonic()
        project_id = queue.destination.project_id
        self._used[project_id] -= 1
        if not self._used[project_id]:
            del self._used[project_id]
        if self._is_idle(queue) and not queue.congestion.reduced and queue.congestion.resumes_at <= queue.used_at:
            self._queues.pop(queue.destination, None)
        if self._waiting:
            self._start_waiting(queue.used_at)

    def _queue(self, destination: Destination, now: float) -> _Queue:
        queue = self._queues.get(destination)
        if queue is None or (
            self._is_idle(queue) and now >= max(queue.used_at, queue.congestion.resumes_at) + _IDLE_SECONDS
        ):
            if len(self._queues) >= _MOST_QUEUES:
                self._queues = {name: each for name, each in self._queues.items() if not self._is_idle(each)}
            queue = self._queues[destination] = _Queue(destination, Congestion(self._per_destination))
        return queue

    def _is_idle(self, queue: _Queue) -> bool:
        return not queue.in_use and not queue.waiting

    def _use(self, queue: _Queue) -> None:
        """Count a slot that the next call of a queue takes."""
        self._turns += 1
        queue.turn = self._turns
        queue.in_use += 1
        self._free -= 1
        self._used[queue.destination.project_id] += 1

    def _start_waiting(self, now: float) -> None:
        """Give free slots to those that wait, and look again when a service may be called again."""
        while queue := self._next(now):
            future = queue.waiting.popleft()
            if not queue.waiting:
                del self._waiting[queue.destination]
            if not future.done():
                self._use(queue)
                future.set_result(None)
        self._schedule_next(now)

    def _next(self, now: float) -> _Queue | None:
        """Return the queue of the next call: of the project with the fewest slots, then the one served longest ago."""
        ready = [queue for queue in self._waiting.values() if self._is_ready(queue, now)]
        return min(ready, key=lambda queue: (self._used[queue.destination.project_id], queue.turn), default=None)

    def _is_ready(self, queue: _Queue, now: float) -> bool:
        """Return whether a call may begin: the destination takes it, and the project leaves enough slots to others."""
        return queue.is_open(now) and self._used[queue.destination.project_id] < self._free

    def _schedule_next(self, now: float) -> None:
        """Set the timer for the first pause that ends."""
        paused = [each.congestion.resumes_at for each in self._waiting.values() if each.congestion.resumes_at > now]
        due = min(paused, default=None)
        if self._timer is not None and self._timer[0] != due:
            self._timer[1].cancel()
            self._timer = None
        if due is not None and self._timer is None:
            self._timer = (due, self.clock.call_later(due - now, self._resume))

    def _resume(self) -> None:
        self._timer = None
        self._start_waiting(self.clock.monotonic())


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds after which a response asks to repeat the request; None without a readable `Retry-After`."""
    text = headers.get("Retry-After")
    if text is None:
        return None
    try:
        return max(float(text), 0.0)
    except ValueError:
        pass
    try:
        return max(parsedate_to_datetime(text).timestamp() - now, 0.0)
    except ValueError:
        return None
