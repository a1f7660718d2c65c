"""What a client may take up of the built-in server."""

from __future__ import annotations

import resource
from dataclasses import dataclass

HEAD_BYTES = 65536
"""Largest head of a request: the request line and all header lines. Tokens are some of them."""

PIPELINED = 16
"""Requests that a client may send ahead on a connection in one go."""

WRITE_SECONDS = 30.0
"""How long a client may read nothing of an answer that waits for it."""

LINGER_SECONDS = 5.0
"""How long the rest of a refused request is read and discarded, so that the client gets to see the answer."""

STOP_SECONDS = 10.0
"""How long requests that are being served may take when the server is stopped."""

_SPARE_DESCRIPTORS = 256


@dataclass(frozen=True)
class Limits:
    """Bounds on connections and requests.

    `body` is in bytes: a larger request body is not read, and the application refuses it by its length. `bodies` is
    how many bytes of request bodies are held in memory in all. `connections` is how many connections there are at
    most; beyond, those are closed for whose requests the server waits (see `stoker.api.serving.places`). `head_seconds`
    is the time for the head of a request, `body_seconds` for its body, each from beginning to end; a connection is
    closed after `idle_seconds` without a request.
    """

    body: int = 1048576
    bodies: int = 128 * 1048576
    connections: int = 4096
    backlog: int = 4096
    head_seconds: float = 10.0
    body_seconds: float = 60.0
    idle_seconds: float = 75.0

    @property
    def affordable_connections(self) -> int:
        """`connections`, or as many as the process may have files open; the soft limit is raised for them."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if resource.RLIM_INFINITY in (soft, hard):
            return self.connections
        wanted = min(hard, max(soft, 2 * self.connections + _SPARE_DESCRIPTORS))
        if wanted > soft:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return max(16, min(self.connections, (wanted - _SPARE_DESCRIPTORS) // 2))
