"""Which connections there are, and which one has to go when there are too many."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol


class Guest(Protocol):
    """A connection, as far as it takes up a place."""

    address: str
    held: int
    deadline: float

    def evict(self) -> None:
        """Close it at once; it calls `leave`."""

    def expire(self) -> None:
        """Do what is to be done at the deadline."""

    def wind_up(self) -> None:
        """End after the present answer."""


class Places:
    """The connections of a server, by the address of the client. Used by the event loop's thread alone.

    When a place, or memory, is short, the address that takes up most of it pays: a client that opens few connections
    keeps them, whatever others do.
    """

    def __init__(self, connections: int, bodies: int) -> None:
        self._most_connections = connections
        self._most_bytes = bodies
        self._bytes = 0
        self._all: set[Guest] = set()
        self._waiting: dict[str, dict[Guest, None]] = {}

    def __len__(self) -> int:
        return len(self._all)

    @property
    def all(self) -> Collection[Guest]:
        """Every connection."""
        return self._all

    def enter(self, guest: Guest) -> bool:
        """Whether there is a place for a new connection.

        One is made by closing the connection that has waited longest for its client's request, of the address that has
        most of such connections.
        """
        if len(self._all) >= self._most_connections:
            if not self._waiting:
                return False
            busiest = max(self._waiting.values(), key=len)
            next(iter(busiest)).evict()
        self._all.add(guest)
        return True

    def leave(self, guest: Guest) -> None:
        """The connection is no more."""
        self._all.discard(guest)
        self.release(guest, guest.held)
        self.waits_no_more(guest)

    def waits(self, guest: Guest) -> None:
        """The server waits for the rest, or the beginning, of the client's next request from now on."""
        self._waiting.setdefault(guest.address, {})[guest] = None

    def waits_no_more(self, guest: Guest) -> None:
        """A complete request has come, or the connection ends."""
        if (waiting := self._waiting.get(guest.address)) is not None:
            waiting.pop(guest, None)
            if not waiting:
                del self._waiting[guest.address]

    def hold(self, guest: Guest, size: int) -> bool:
        """Whether so many more bytes of a body may be kept in memory for the connection.

        Where they are too many in all, the connection is closed that keeps most bytes of a request that has not come
        completely, of the address that keeps most; `guest` may be that one.
        """
        guest.held += size
        self._bytes += size
        while self._bytes > self._most_bytes:
            waiting = [other for guests in self._waiting.values() for other in guests if other.held]
            if not waiting:
                return False
            by_address: dict[str, int] = {}
            for other in waiting:
                by_address[other.address] = by_address.get(other.address, 0) + other.held
            victim = max(waiting, key=lambda other: (by_address[other.address], other.held))
            victim.evict()
            if victim is guest:
                return False
        return True

    def release(self, guest: Guest, size: int) -> None:
        """The connection keeps so many bytes less."""
        size = min(size, guest.held)
        self._bytes -= size
        guest.held -= size
