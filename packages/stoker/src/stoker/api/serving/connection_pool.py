"""The connections of a server, and the choice of those to close if there are too many."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol


class Evictable(Protocol):
    """A connection, as far as its place is concerned."""

    address: str
    held: int
    deadline: float

    def evict(self) -> None:
        """Close the connection immediately; it calls `leave`."""

    def expire(self) -> None:
        """Handle the expiry of the deadline."""

    def close_after_response(self) -> None:
        """Close the connection after the current response."""


class ConnectionPool:
    """The connections of a server, by the address of the client. Used only by the event loop's thread.

    If connections or memory are exhausted, the address that uses most of them is limited: a client that opens few
    connections keeps them regardless of others.
    """

    def __init__(self, connections: int, bodies: int) -> None:
        self._most_connections = connections
        self._most_bytes = bodies
        self._bytes = 0
        self._all: set[Evictable] = set()
        self._waiting: dict[str, dict[Evictable, None]] = {}

    def __len__(self) -> int:
        return len(self._all)

    @property
    def all(self) -> Collection[Evictable]:
        """Return all connections."""
        return self._all

    def enter(self, connection: Evictable) -> bool:
        """Return whether there is a place for a new connection.

        If necessary, the connection is closed that has waited longest for a request, of the address that has most of
        such connections.
        """
        if len(self._all) >= self._most_connections:
            if not self._waiting:
                return False
            busiest = max(self._waiting.values(), key=len)
            next(iter(busiest)).evict()
        self._all.add(connection)
        return True

    def leave(self, connection: Evictable) -> None:
        """Remove a closed connection."""
        self._all.discard(connection)
        self.release(connection, connection.held)
        self.ends_waiting(connection)

    def waits(self, connection: Evictable) -> None:
        """Record that the server waits for the rest, or the beginning, of the client's next request."""
        self._waiting.setdefault(connection.address, {})[connection] = None

    def ends_waiting(self, connection: Evictable) -> None:
        """Record that a complete request has arrived, or that the connection ends."""
        if (waiting := self._waiting.get(connection.address)) is not None:
            waiting.pop(connection, None)
            if not waiting:
                del self._waiting[connection.address]

    def reserve(self, connection: Evictable, size: int) -> bool:
        """Return whether this many more bytes of a body can be kept in memory for the connection.

        If they exceed the total, the connection is closed that holds most bytes of an incomplete request, of the
        address that holds most; that can be `connection`.
        """
        connection.held += size
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
            if victim is connection:
                return False
        return True

    def release(self, connection: Evictable, size: int) -> None:
        """Record that the connection holds this many bytes less."""
        size = min(size, connection.held)
        self._bytes -= size
        connection.held -= size
