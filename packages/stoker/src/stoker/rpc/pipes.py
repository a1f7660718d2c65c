"""The transport between an engine and the processes beside it, on the same machine: frames on a pair of sockets.

A frame is a line of JSON, and after it the JSON of the arguments or of the reply. No name in a directory and no port
leads to these sockets: only the two processes have them. When one of them ends, the other one reads the end of file.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Callable
from concurrent.futures import Future
from itertools import count
from typing import TYPE_CHECKING, Any

from stoker import __version__
from stoker.base.context import RequestContext
from stoker.base.json_text import dumps, loads
from stoker.contract.request import Answer, Request
from stoker.rpc.contract import EngineService, EngineUnavailable, Reply, answer_of, packed, reply_of, unpacked

if TYPE_CHECKING:
    from multiprocessing.connection import Connection  # not before a process is started

_SIZE = struct.Struct("!i")

_READY = {"ready": True, "release": __version__}


class ProcessEnded(Exception):
    """The other process has ended, or has been given up, before it replied."""


class ProcessNotResponding(EngineUnavailable):
    """The other process runs, but has not even replied that the request takes too long."""


class OtherRelease(Exception):
    """The other process has another release: the package was replaced since this one started."""


class PipeClient:
    """An `EngineClient` of one process. Threads may share it; one of them calls `await_ready` and then `receive`."""

    def __init__(self, connection: Connection) -> None:
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
                self._connection.send_bytes(_frame(head, arguments))
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
        if not self._connection.poll(seconds):
            raise ProcessEnded
        try:
            head, _ = _parts(self._connection.recv_bytes())
        except (EOFError, OSError):
            raise ProcessEnded from None
        if head != _READY:
            raise OtherRelease(str(head.get("release", "")))

    def receive(self, given_up: Callable[[], bool], seconds: float) -> None:
        """Receive replies until the process ends, or `given_up`, which is asked after each reply, and after `seconds`
        without one.

        Calls that have not been answered then raise ProcessGone.
        """
        try:
            while (not self._connection.poll(seconds) or self._receive_one()) and not given_up():
                pass
        finally:
            with self._lock:
                self._gone = True
                for replied in list(self._waiting.values()):
                    replied.set_exception(ProcessEnded())
                self._connection.close()

    def _receive_one(self) -> bool:
        try:
            head, text = _parts(self._connection.recv_bytes())
        except (EOFError, OSError):
            return False
        replied = self._waiting.pop(head["reply"], None)
        if replied is not None:  # otherwise its caller has stopped waiting
            replied.set_result({head["kind"]: text, "release": head["release"]})
        return True


async def serve_pipe(descriptor: int, service: EngineService) -> None:
    """Serve the calls that arrive on an open file, the other end of which a `PipeClient` has, until that is closed.

    It runs on the event loop of `service`, without threads of its own.
    """
    reader, writer = await asyncio.open_unix_connection(sock=socket.socket(fileno=descriptor))
    writer.write(_sent(_frame(_READY, "")))
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
    writer.write(_sent(_frame({"reply": head["call"], "kind": kind, "release": reply["release"]}, reply[kind])))


def _sent(frame: bytes) -> bytes:
    """Return a frame as `Connection.send_bytes` sends it. One of 2 GB or more would be larger than any limit allows."""
    return _SIZE.pack(len(frame)) + frame


def _frame(head: dict[str, object], text: str) -> bytes:
    return b"\n".join((dumps(head), text.encode()))


def _parts(frame: bytes) -> tuple[dict[str, Any], str]:
    head, _, body = frame.partition(b"\n")
    found: dict[str, object] = loads(head)
    return found, body.decode()
