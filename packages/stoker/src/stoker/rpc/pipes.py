"""The transport between an engine and the processes beside it, on the same machine: frames on a pair of sockets.

A frame is its size, a line of JSON, and after it the JSON of the arguments or of the reply. No name in a directory and
no port leads to these sockets: only the two processes have them. When one of them ends, the other one reads the end of
file.

The thread that receives replies waits for Python's other threads whenever the system returns to it, and one of them may
be converting a long list. So the system is asked for all of a frame at once, and not for the parts that have arrived.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Callable
from concurrent.futures import Future
from itertools import count
from typing import Any

from stoker import __version__
from stoker.base.context import RequestContext
from stoker.base.json_text import dumps, loads
from stoker.contract.request import Answer, Request
from stoker.rpc.contract import EngineService, EngineUnavailable, Reply, answer_of, packed, reply_of, unpacked

_SIZE = struct.Struct("!i")

_READY = {"ready": True, "release": __version__}


class ProcessEnded(Exception):
    """The other process has ended, or has been given up, before it replied."""


class ProcessNotResponding(EngineUnavailable):
    """The other process runs, but has not even replied that the request takes too long."""


class OtherRelease(Exception):
    """The other process has another release: the package was replaced since this one started."""


class PipeClient:
    """An `EngineClient` of one process. Threads may share it; one of them calls `await_ready` and then `receive`.

    `connection` is blocking; it belongs to the client, which closes it.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._numbers = count(1)
        self._waiting: dict[int, Future[Reply]] = {}
        self._lock = threading.Lock()
        self._gone = False

    def call(self, context: RequestContext, request: Request[Answer], timeout: float = 60.0) -> Answer:
        """See `EngineClient.call`. Raises ProcessGone and ProcessSilent, too."""
        method = request.method
        arguments = packed(f"the arguments of {method}", request.arguments())
        replied: Future[Reply] = Future()
        with self._lock:
            if self._gone:
                raise ProcessEnded
            number = next(self._numbers)
            self._waiting[number] = replied
            head = {"call": number, "method": method, "caller": context.to_dict(), "seconds": timeout}
            try:
                self._connection.sendall(b"".join(_frame(head, arguments)))
            except OSError:  # perhaps in the middle of the frame
                del self._waiting[number]
                self._gone = True
                raise ProcessEnded from None
        try:
            reply = replied.result(timeout)
        except TimeoutError:
            raise ProcessNotResponding(f"No process answered {method} within {timeout:g} seconds.") from None
        finally:
            self._waiting.pop(number, None)
        return answer_of(request, reply)

    def await_ready(self, seconds: float) -> None:
        """Return when the process is ready. Raises ProcessGone, also when that takes longer, and OtherRelease."""
        self._wait_for_up_to(seconds)
        try:
            received = self._received()
        except (EOFError, OSError):
            received = None
        if received is None:
            raise ProcessEnded
        head, _ = _parts(received)
        if head != _READY:
            raise OtherRelease(str(head.get("release", "")))

    def receive(self, given_up: Callable[[], bool], seconds: float) -> None:
        """Receive replies until the process ends, or `given_up`, which is asked after each reply, and after `seconds`
        without one.

        Calls that have not been answered then raise ProcessGone.
        """
        self._wait_for_up_to(seconds)
        try:
            while self._receive_one() and not given_up():
                pass
        finally:
            with self._lock:
                self._gone = True
                for replied in list(self._waiting.values()):
                    replied.set_exception(ProcessEnded())
                self._connection.close()

    def _receive_one(self) -> bool:
        """Receive a reply, or none if none arrives in time. Returns whether the process is still there."""
        try:
            received = self._received()
        except (EOFError, OSError):
            return False
        if received is None:
            return True
        head, text = _parts(received)
        replied = self._waiting.pop(head["reply"], None)
        if replied is not None:  # otherwise its caller has stopped waiting
            replied.set_result({head["kind"]: text, "release": head["release"]})
        return True

    def _wait_for_up_to(self, seconds: float) -> None:
        """Let a frame that does not begin to arrive be waited for so long."""
        whole = int(seconds)
        limit = struct.pack("ll", whole, int((seconds - whole) * 1_000_000))
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)

    def _received(self) -> bytearray | None:
        """Return the next frame, None if it does not begin to arrive in time. Raises EOFError and OSError."""
        try:
            size = self._connection.recv(_SIZE.size, socket.MSG_WAITALL)
        except BlockingIOError:
            return None
        if not size:
            raise EOFError
        return self._rest(*_SIZE.unpack(size + self._rest(_SIZE.size - len(size))))

    def _rest(self, size: int) -> bytearray:
        """Return so many bytes of a frame that has begun to arrive. Raises EOFError and OSError."""
        data, arrived = bytearray(size), 0
        while arrived < size:
            try:
                more = self._connection.recv_into(memoryview(data)[arrived:], 0, socket.MSG_WAITALL)
            except BlockingIOError:
                continue
            if not more:
                raise EOFError
            arrived += more
        return data


async def serve_pipe(descriptor: int, service: EngineService) -> None:
    """Serve the calls that arrive on an open file, the other end of which a `PipeClient` has, until that is closed.

    It runs on the event loop of `service`, without threads of its own.
    """
    reader, writer = await asyncio.open_unix_connection(sock=socket.socket(fileno=descriptor))
    writer.writelines(_frame(_READY, ""))
    calls: set[asyncio.Task[None]] = set()
    try:
        while True:
            (size,) = _SIZE.unpack(await reader.readexactly(_SIZE.size))
            call = asyncio.create_task(_reply(service, writer, *_parts(await reader.readexactly(size))))
            calls.add(call)
            call.add_done_callback(calls.discard)
    except (asyncio.IncompleteReadError, OSError):
        writer.close()


async def _reply(service: EngineService, writer: asyncio.StreamWriter, head: dict[str, Any], text: str) -> None:
    caller, seconds = RequestContext.from_dict(head["caller"]), float(head["seconds"])
    reply = await reply_of(service, caller, head["method"], unpacked(text), __version__, seconds)
    kind = "error" if "error" in reply else "answer"
    writer.writelines(_frame({"reply": head["call"], "kind": kind, "release": reply["release"]}, reply[kind]))


def _frame(head: dict[str, object], text: str) -> tuple[bytes, bytes]:
    """Return a frame in two parts, the second of which may be long. One of 2 GB or more is larger than any limit."""
    first, body = dumps(head) + b"\n", text.encode()
    return _SIZE.pack(len(first) + len(body)) + first, body


def _parts(frame: bytes | bytearray) -> tuple[dict[str, Any], str]:
    """Return the line of a frame without its size, and the JSON after it."""
    end = frame.index(b"\n")
    found: dict[str, object] = loads(bytes(frame[:end]))
    return found, str(memoryview(frame)[end + 1 :], "utf-8")
