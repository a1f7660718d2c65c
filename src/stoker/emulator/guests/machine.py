"""One guest in namespaces: its directory, and its process while it runs."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

from stoker.emulator.guests.console import ConsoleLog
from stoker.emulator.guests.driver import Address, Cloudside, Guest
from stoker.emulator.guests.fabric import NetworkFailed
from stoker.emulator.guests.launching import (
    GO,
    NAMESPACES,
    READY,
    WIRED,
    Launcher,
    LaunchFailed,
    control_sockets,
    received,
)
from stoker.emulator.guests.metering import processor_seconds
from stoker.emulator.guests.rules import doors_filter
from stoker.emulator.guests.volumes import Volumes
from stoker.emulator.guests.wiring import Wiring

log = logging.getLogger(__name__)

STOP_SECONDS = 10.0
"""How long a guest may take to shut down before it is killed."""
REBOOTED = 128 + signal.SIGHUP
"""The status of a guest that has called reboot(2): the kernel ends its first process by this signal."""
CONSOLE_BYTES = 1 << 16


class Machine:
    """One guest. Orders are carried out one after the other, so that a new process never meets an old one.

    users: the descriptor of the user namespace in which those of guests are made.
    """

    def __init__(
        self,
        guest_id: str,
        directory: Path,
        launcher: Launcher,
        cloudside: Cloudside,
        wiring: Wiring,
        volumes: Volumes,
        users: int,
    ) -> None:
        self._id = guest_id
        self._directory = directory
        self._launcher = launcher
        self._cloudside = cloudside
        self._wiring = wiring
        self._volumes = volumes
        self._users = users
        self._addresses: list[Address] = []
        self._process: asyncio.subprocess.Process | None = None
        self._running: asyncio.Task[None] | None = None
        self._stopping = False
        self._orders: asyncio.Queue[Callable[[], Awaitable[None]]] = asyncio.Queue()
        self._worker = asyncio.get_running_loop().create_task(self._work())
        self.console = ConsoleLog(directory / "console.log")

    def start(self, guest: Guest) -> None:
        self._orders.put_nowait(lambda: self._start(guest))

    def stop(self) -> None:
        self._orders.put_nowait(self._stop)

    def reset(self) -> None:
        self.stop()
        self._orders.put_nowait(lambda: self._launcher.delete_disk(self._directory))

    def remove(self) -> None:
        """Kill the guest now, and delete its directory."""
        self._kill()
        self._orders.put_nowait(self._stop)
        self._orders.put_nowait(self._delete_directory)

    def processor_seconds(self) -> float | None:
        """Return the processor time used since the start; None if the guest does not run."""
        return None if self._process is None else processor_seconds(self._process.pid)

    async def finished(self) -> None:
        """Wait until all orders have been carried out."""
        await self._orders.join()

    async def close(self) -> None:
        """Carry out the orders, and end."""
        await self.finished()
        self._worker.cancel()

    async def _work(self) -> None:
        while True:
            order = await self._orders.get()
            try:
                await order()
            except LaunchFailed as error:
                self._cloudside.ended(self._id, str(error))
            except Exception as error:
                log.exception("An operation on the guest of the server %s failed.", self._id)
                self._cloudside.ended(self._id, f"The guest cannot be started: {error}")
            finally:
                self._orders.task_done()

    # -- orders ----------------------------------------------------------------------------------------------------

    async def _start(self, guest: Guest) -> None:
        if self._process is not None:
            return
        self._launcher.prepare(self._directory, guest)
        self._addresses = self._cloudside.addresses()
        control, inside = control_sockets()
        reading, writing = os.pipe()
        self._launcher.give(writing)  # the guest opens it again as /dev/console
        console = asyncio.create_task(self._keep_console(reading))
        with control:
            with inside:
                try:
                    process = await self._launched(guest, inside, writing)
                finally:
                    os.close(writing)
            message, listeners = await self._connected(control)
        if message != READY:
            for listener in listeners.values():
                listener.close()
            status = await process.wait()
            await console
            await self._wiring.leave(self._id)
            reason = message.decode(errors="replace") or f"its launcher ended with status {status}"
            raise LaunchFailed(f"The guest cannot be started: {reason}.")
        try:
            close = await self._cloudside.serve(self._id, listeners)
        except BaseException:
            process.kill()  # the guest ends with its launcher
            raise
        for volume in guest.volumes():  # what was attached meanwhile
            self._volumes.attach(self._id, volume)
        self._process, self._stopping = process, False
        self._running = asyncio.create_task(self._run(guest, process, console, close))

    async def _connected(self, control: socket.socket) -> tuple[bytes, dict[Address, socket.socket]]:
        """Connect the guest that is being launched; the last message of the launcher, and the guest's sockets by the
        addresses that the guest connects to."""
        message, descriptors = await _answer(control)
        if message != WIRED:
            return message, {}
        namespaces, sockets = descriptors[:NAMESPACES], descriptors[NAMESPACES:]
        listeners = dict(zip(self._addresses, (socket.socket(fileno=one) for one in sockets), strict=True))
        ports = {address: listener.getsockname()[1] for address, listener in listeners.items()}
        try:
            await self._wiring.join(self._id, namespaces, doors_filter(ports))
        except NetworkFailed as error:
            return str(error).encode(), listeners
        finally:
            for namespace in namespaces:
                os.close(namespace)
        control.send(GO)
        message, _ = await _answer(control)
        return message, listeners

    async def _stop(self) -> None:
        if self._process is None or self._running is None:
            return
        self._stopping = True
        self._signal(signal.SIGTERM)
        done, _ = await asyncio.wait([self._running], timeout=STOP_SECONDS)
        if not done:
            self._kill()
            await self._running

    async def _delete_directory(self) -> None:
        await self._launcher.delete_disk(self._directory)
        shutil.rmtree(self._directory, ignore_errors=True)

    # -- the process -----------------------------------------------------------------------------------------------

    async def _launched(self, guest: Guest, inside: socket.socket, console: int) -> asyncio.subprocess.Process:
        command = self._launcher.boot_command(
            self._directory,
            guest,
            self._addresses,
            inside.fileno(),
            self._users,
            await self._volumes.ready(self._id, guest.volumes()),
        )
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=console,
            stderr=console,
            pass_fds=[inside.fileno(), self._users],
            start_new_session=True,
        )

    async def _keep_console(self, reading: int) -> None:
        """Keep what is written to a pipe, until no process has it open for writing."""
        reader = asyncio.StreamReader()
        pipe = os.fdopen(reading, "rb", buffering=0)
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        while data := await reader.read(CONSOLE_BYTES):
            self.console.write(data)

    async def _run(
        self,
        guest: Guest,
        process: asyncio.subprocess.Process,
        console: asyncio.Task[None],
        close: Callable[[], Awaitable[None]],
    ) -> None:
        """Wait for the end of the guest, and report it if it was not requested."""
        status = await process.wait()
        await console
        await close()
        await self._wiring.leave(self._id)
        self._process = self._running = None
        if self._stopping:
            return
        if status == REBOOTED:
            self.start(guest)
        else:
            self._cloudside.ended(self._id, "")

    def _kill(self) -> None:
        self._stopping = True
        self._signal(signal.SIGHUP)  # the launcher kills the guest and waits for its end

    def _signal(self, number: int) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(number)


async def _answer(control: socket.socket) -> tuple[bytes, list[int]]:
    """Return what the launcher says, and the descriptors that it sends; an empty message if it has ended."""
    loop, readable = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(control, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(control)
    return received(control)
