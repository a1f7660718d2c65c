"""Limits for the clients of the built-in server."""

from __future__ import annotations

import resource
from dataclasses import dataclass

HEAD_BYTES = 65536
"""Maximum size of the head of a request: the request line and all headers, including the token."""

PIPELINED = 16
"""Maximum number of pipelined requests of a connection."""

WRITE_SECONDS = 30.0
"""Seconds that a client can go without reading a response that is ready for it."""

LINGER_SECONDS = 5.0
"""Seconds for which the rest of a refused request is read and discarded, so that the client reads the response."""

STOP_SECONDS = 10.0
"""Seconds for requests in progress to finish when the server is stopped."""

RETRY_AFTER = 5
"""Seconds after which a request that got 503 can be repeated: the header `Retry-After`."""

_SPARE_DESCRIPTORS = 256


@dataclass(frozen=True)
class Limits:
    """Limits for connections and requests.

    `body` is in bytes: a larger request body is not read, and the application refuses it because of its length.
    `bodies` is the total number of bytes of request bodies in memory. `connections` is the maximum number of
    connections; beyond it, connections are closed that wait for a request (see `stoker.api.serving.connection_pool`).
    `head_seconds` is the time for the head of a request, `body_seconds` for its body, each from beginning to end; a
    connection is closed after `idle_seconds` without a request. A client that ends closes its connection as one does
    that only waits for responses: its request is dropped if it has not begun `half_closed_seconds` later.
    """

    body: int = 1048576
    bodies: int = 128 * 1048576
    connections: int = 4096
    backlog: int = 4096
    head_seconds: float = 10.0
    body_seconds: float = 60.0
    idle_seconds: float = 75.0
    half_closed_seconds: float = 5.0

    @property
    def affordable_connections(self) -> int:
        """Return `connections`, or fewer if the process cannot open as many files. Raises the soft limit."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if resource.RLIM_INFINITY in (soft, hard):
            return self.connections
        raised = min(hard, max(soft, 2 * self.connections + _SPARE_DESCRIPTORS))
        if raised > soft:
            resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
        return max(16, min(self.connections, (raised - _SPARE_DESCRIPTORS) // 2))
