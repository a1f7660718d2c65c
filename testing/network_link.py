"""A TCP proxy whose connections can be cut: reset, refused, swallowed in one or both directions, or delayed."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Callable
from concurrent.futures import Future
from enum import Enum

HOST = "127.0.0.1"
_CHUNK = 65536


class Mode(Enum):
    """What happens to the bytes of all connections, also of those that are opened meanwhile."""

    PASS = "pass"
    HOLE = "hole"
    """Nothing passes, and nobody notices: both sides believe that they are connected."""
    DEAF = "deaf"
    """Requests pass, answers do not."""
    REFUSE = "refuse"
    """Existing and new connections are reset."""


class Link:
    """A proxy on a port of its own in front of `target`, a port of the loopback; a context manager.

    Connections that were swallowed remain so: when the link passes again, only new connections work, as behind a
    firewall that has forgotten them.

    `round_trips` counts how often a client has sent something after an answer, or for the first time.
    """

    def __init__(self, target: int) -> None:
        self.round_trips = 0
        self._target = target
        self._mode = Mode.PASS
        self._delay = 0.0
        self._connections: set[_Connection] = set()
        self._loop = asyncio.new_event_loop()
        self._listening: Future[int] = Future()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Link:
        self._thread.start()
        self.port = self._listening.result()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def url(self, url: str) -> str:
        """The URL of the target, through the link."""
        return url.replace(f":{self._target}", f":{self.port}")

    def treat(self, mode: Mode) -> None:
        """Treat existing and new connections so from now on."""
        self._call(self._treat, mode)

    def drop(self) -> None:
        """Swallow what the existing connections send and receive, for good; new ones work."""
        self._call(self._drop)

    def reset(self) -> None:
        """Reset the existing connections."""
        self._call(self._reset)

    def delay(self, seconds: float) -> None:
        """Let everything arrive later."""
        self._delay = seconds

    def _call(self, function: Callable[..., None], *arguments: object) -> None:
        done: Future[None] = Future()

        def call() -> None:
            function(*arguments)
            done.set_result(None)

        self._loop.call_soon_threadsafe(call)
        done.result()

    def _treat(self, mode: Mode) -> None:
        self._mode = mode
        if mode is Mode.REFUSE:
            self._reset()
        for connection in self._connections:
            connection.mode = mode if mode is not Mode.PASS else connection.mode

    def _drop(self) -> None:
        for connection in self._connections:
            connection.mode = Mode.HOLE

    def _reset(self) -> None:
        for connection in list(self._connections):
            connection.abort()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._accept, HOST, 0))
        self._listening.set_result(server.sockets[0].getsockname()[1])
        self._loop.run_forever()
        server.close()
        self._reset()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.run_until_complete(asyncio.sleep(0))  # for the transports, which close their sockets afterwards
        self._loop.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._mode is Mode.REFUSE:
            _abort(writer)
            return
        try:
            back, onward = await asyncio.open_connection(HOST, self._target)
        except OSError:
            _abort(writer)
            return
        connection = _Connection(self._mode, (writer, onward))
        self._connections.add(connection)
        await asyncio.gather(
            self._pump(connection, reader, onward, {Mode.HOLE}, self._asked),
            self._pump(connection, back, writer, {Mode.HOLE, Mode.DEAF}, self._answered),
        )
        if connection.mode is Mode.PASS:
            self._connections.discard(connection)

    async def _pump(
        self,
        connection: _Connection,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        swallowed: set[Mode],
        note: Callable[[_Connection], None],
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(_CHUNK):
                if self._delay:
                    await asyncio.sleep(self._delay)
                if connection.mode not in swallowed:
                    note(connection)
                    writer.write(data)
                    await writer.drain()
        if connection.mode not in swallowed:  # the end of a connection is swallowed, too
            writer.close()

    def _asked(self, connection: _Connection) -> None:
        self.round_trips += not connection.asks
        connection.asks = True

    def _answered(self, connection: _Connection) -> None:
        connection.asks = False


class _Connection:
    def __init__(self, mode: Mode, writers: tuple[asyncio.StreamWriter, asyncio.StreamWriter]) -> None:
        self.mode = mode
        self.asks = False
        self._writers = writers

    def abort(self) -> None:
        for writer in self._writers:
            _abort(writer)


def _abort(writer: asyncio.StreamWriter) -> None:
    """Close a connection so that the other side gets a reset."""
    sock = writer.get_extra_info("socket")
    with contextlib.suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
