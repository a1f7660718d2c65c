"""Serves a WSGI application: an event loop on its own thread, and threads that run the application."""

from __future__ import annotations

import asyncio
import socket
import threading

import uvloop

from stoker.api.auth import WSGIApplication
from stoker.api.serving.connection_pool import ConnectionPool
from stoker.api.serving.connections import Connection, ServerState
from stoker.api.serving.limits import STOP_SECONDS, Limits
from stoker.api.serving.shares import CallerShares
from stoker.api.serving.workers import Workers

_SWEEP_SECONDS = 0.25
_POLL_SECONDS = 0.01


class Server:
    """Serves an application on a port.

    With `port` 0, a free port is chosen; the attribute `port` is the actual port from the start. `threads` is the
    number of requests that are processed at a time; connections without a complete request use no thread. Raises
    OSError if the port is not available.
    """

    def __init__(
        self, application: WSGIApplication, host: str, port: int, threads: int = 8, limits: Limits | None = None
    ) -> None:
        limits = limits or Limits()
        self._listener = _listen(host, port, limits.backlog)
        self.host = host
        self.port = int(self._listener.getsockname()[1])
        self._limits = limits
        self._loop = uvloop.new_event_loop()
        self._pool = ConnectionPool(limits.affordable_connections, limits.bodies)
        self._workers = Workers(threads)
        self._state = ServerState(
            application=application,
            limits=limits,
            pool=self._pool,
            workers=self._workers,
            callers=CallerShares(),
            loop=self._loop,
            base={"SERVER_NAME": host, "SERVER_PORT": str(self.port), "SERVER_SOFTWARE": "stoker"},
        )
        self._stopping = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="stoker-api-connections", daemon=True)

    @property
    def url(self) -> str:
        """The URL of the server."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    def start(self) -> int:
        """Start to serve on a thread; return the port."""
        self._thread.start()
        return self.port

    def stop(self) -> None:
        """Accept no more connections, finish the requests in progress, and close the port."""
        if self._thread.ident is None:
            self._listener.close()
            self._loop.close()
        elif self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(2 * STOP_SECONDS)

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        loop, limits = self._loop, self._limits
        server = await loop.create_server(lambda: Connection(self._state), sock=self._listener, backlog=limits.backlog)
        sweeping = asyncio.create_task(self._sweep())
        await self._stopping.wait()
        server.close()
        for connection in list(self._pool.all):
            connection.close_after_response()
        end = loop.time() + STOP_SECONDS
        while len(self._pool) and loop.time() < end:  # noqa: ASYNC110  a server ends once
            await asyncio.sleep(_POLL_SECONDS)
        for connection in list(self._pool.all):
            connection.evict()
        await asyncio.to_thread(self._workers.stop, 1.0)
        sweeping.cancel()

    async def _sweep(self) -> None:
        """Close what has exceeded its deadline."""
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            now = self._loop.time()
            for connection in [connection for connection in self._pool.all if connection.deadline < now]:
                connection.expire()


def _listen(host: str, port: int, backlog: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(backlog)
    except OSError:
        listener.close()
        raise
    return listener
