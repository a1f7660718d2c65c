"""Models of the servers that a cluster shares: a database and a broker. They decide when something is done, no more.

A database has processors, a log that one commit after the other is flushed to, and rows that are locked until the end
of a transaction. A broker is busy with one message after the other.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from tools.scale.latencies import Latencies
from tools.scale.statements import Transaction

READERS = 4
"""Reads at a time of one engine: the threads of `stoker.store.database`."""


@dataclass(slots=True)
class Use:
    """How long something was busy, and how long others have waited for it, in seconds."""

    busy: float = 0.0
    waited: float = 0.0
    longest: float = 0.0
    times: int = 0

    def note(self, busy: float, waited: float) -> None:
        """Add one use of it."""
        self.busy += busy
        self.waited += waited
        self.longest = max(self.longest, waited)
        self.times += 1


@dataclass(slots=True)
class Row:
    """A row that is locked again and again."""

    until: float = 0.0
    use: Use = field(default_factory=Use)


class DatabaseServer:
    """When statements are done. `processors` is the number of its cores."""

    def __init__(self, latencies: Latencies, processors: int) -> None:
        self._latencies = latencies
        self._free = [0.0] * processors
        self._flushed = 0.0
        self._flush_began = 0.0
        self.processors = Use()
        self.log = Use()
        self.locks = Use()
        self.rows: defaultdict[tuple[str, Any], Row] = defaultdict(Row)
        self.commits = 0
        self.statements = 0

    def read(self, now: float, asked: Transaction) -> float:
        """When a transaction that only reads is answered."""
        return self._computed(now, asked)

    def write(self, now: float, asked: Transaction) -> float:
        """When a transaction that writes is committed: once no other has its rows, and the log is flushed."""
        self.commits += 1
        held = [self.rows[key] for key in asked.locked]
        began = max([now, *(row.until for row in held)])
        computed = self._computed(began, asked)
        ended = self._flush(computed) + self._latencies.network_trip
        self.locks.note(ended - began, began - now)
        for row in held:
            row.use.note(ended - began, max(min(row.until, began) - now, 0.0))
            row.until = max(row.until, ended)
        return ended

    def _computed(self, now: float, asked: Transaction) -> float:
        seconds = 0.0
        for kind, rows in asked.statements:
            seconds += self._latencies.statement(kind) + self._latencies.per_row * max(rows - 1, 0)
        self.statements += len(asked.statements)
        free = heapq.heappop(self._free)
        began = max(now, free)
        heapq.heappush(self._free, began + seconds)
        self.processors.note(seconds, began - now)
        return began + seconds + self._latencies.network_trip * max(len(asked.statements), 1)

    def _flush(self, now: float) -> float:
        """When what is written at `now` is on disk: a flush takes along all that came before it began."""
        seconds = self._latencies.flush
        if now <= self._flush_began:
            return self._flushed
        self._flush_began = max(now, self._flushed)
        self.log.note(seconds, self._flush_began - now)
        self._flushed = self._flush_began + seconds
        return self._flushed


class Broker:
    """When messages arrive, of whatever kind; `messages` counts them by kind."""

    def __init__(self, latencies: Latencies) -> None:
        self._latencies = latencies
        self._free = 0.0
        self.use = Use()
        self.messages: Counter[str] = Counter()

    def sent(self, now: float, kind: str, copies: int = 1) -> float:
        """When a message, or so many copies of it, arrives that is sent now."""
        self.messages[kind] += copies
        began, seconds = max(now, self._free), self._latencies.broker_message * copies
        self._free = began + seconds
        self.use.note(seconds, began - now)
        return self._free + self._latencies.broker_trip


class Connections:
    """The connections of one engine: those of its readers, and that of its journal."""

    def __init__(self) -> None:
        self._free = [0.0] * READERS
        self.most = 0

    def open_at(self, now: float) -> float:
        """When one of the readers is free, the first that is."""
        return max(now, self._free[0])

    def used(self, until: float) -> None:
        """The reader that was free is busy until then."""
        heapq.heapreplace(self._free, until)

    def count(self, now: float) -> int:
        """How many readers are busy."""
        return sum(until > now for until in self._free)
