"""The monitor of a virtual machine: commands to QEMU, and its events, in the QEMU Machine Protocol.

https://www.qemu.org/docs/master/interop/qmp-spec.html
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import Any

import orjson

CHUNK = 1 << 16
ANSWER_SECONDS = 30.0
GONE = "DEVICE_DELETED"


class MonitorFailed(Exception):
    """QEMU has refused a command, or does not answer; the message says why."""


class Monitor:
    """The cloud's end of the connection to a QEMU process, which `connection` is."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._gone: dict[str, asyncio.Event] = {}
        self._last = 0
        self._greeted = asyncio.Event()
        self._reader = asyncio.get_running_loop().create_task(self._read())

    async def open(self) -> None:
        """Begin the conversation. Raises: MonitorFailed."""
        waiting = asyncio.create_task(self._greeted.wait())
        await asyncio.wait([waiting, self._reader], timeout=ANSWER_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if not self._greeted.is_set():
            raise MonitorFailed("QEMU has ended or does not answer")
        await self.execute("qmp_capabilities")

    async def execute(self, command: str, *descriptors: int, **arguments: object) -> Any:
        """Have a command executed, and return its result. descriptors: files that are passed to QEMU.

        Raises: MonitorFailed.
        """
        self._last += 1
        number = self._last
        sent = orjson.dumps({"execute": command, "arguments": arguments, "id": number}) + b"\n"
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        try:
            socket.send_fds(self._connection, [sent], descriptors)
            done, _ = await asyncio.wait(
                [answer, self._reader], timeout=ANSWER_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
        except OSError as error:
            raise MonitorFailed(f"QEMU does not execute {command}: {error}") from error
        finally:
            del self._answers[number]
        if answer not in done:
            raise MonitorFailed(f"QEMU has ended or does not answer the command {command}")
        output = answer.result()
        if "error" in output:
            raise MonitorFailed(f"QEMU does not execute {command}: {output['error'].get('desc', '')}")
        return output.get("return")

    async def unplug(self, device: str) -> None:
        """Have the guest give a device back, and wait until it has done so.

        Raises: MonitorFailed, also if QEMU ends before.
        """
        event = self._gone[device] = asyncio.Event()
        waiting = asyncio.create_task(event.wait())
        try:
            await self.execute("device_del", id=device)
            await asyncio.wait([waiting, self._reader], return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
            del self._gone[device]
        if not event.is_set():
            raise MonitorFailed("QEMU has ended")

    async def close(self) -> None:
        """End the connection."""
        self._reader.cancel()
        with suppress(asyncio.CancelledError):
            await self._reader
        self._connection.close()

    async def _read(self) -> None:
        loop, buffer = asyncio.get_running_loop(), b""
        with suppress(OSError):
            while data := await loop.sock_recv(self._connection, CHUNK):
                *lines, buffer = (buffer + data).split(b"\n")
                for line in lines:
                    self._handle(orjson.loads(line))

    def _handle(self, message: dict[str, Any]) -> None:
        if "QMP" in message:
            self._greeted.set()
        elif message.get("event") == GONE:
            if event := self._gone.get(message["data"].get("device", "")):
                event.set()
        elif (answer := self._answers.get(message.get("id", 0))) is not None and not answer.done():
            answer.set_result(message)
