"""One guest: its directory, and its process while it runs."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import socket
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path

from openstack_emulator.core.guests.driver import Address, CloudInterface, Guest, ProcessorTime, Volume
from openstack_emulator.guests.console import ConsoleLog
from openstack_emulator.guests.launching import GO, NAMESPACES, READY, WIRED, LaunchFailed, control_sockets, received
from openstack_emulator.guests.metering import processor_time
from openstack_emulator.guests.namespace_process import NetworkFailed
from openstack_emulator.guests.network_reconciler import NetworkReconciler
from openstack_emulator.guests.orders import Orders
from openstack_emulator.guests.volumes import Contents, DiskLock

log = logging.getLogger(__name__)


class Machine(ABC):
    """One guest. Orders are carried out one after the other, so that a new process never meets an old one.

    directory: of the guest. contents: of the volumes.

    stop_seconds: how long a guest may take to shut down before it is killed. settings: of its network namespace.
    """

    stop_seconds = 10.0
    settings: Mapping[str, str] = {}

    def __init__(
        self,
        guest_id: str,
        directory: Path,
        cloudside: CloudInterface,
        network_reconciler: NetworkReconciler,
        contents: Contents,
    ) -> None:
        self._id = guest_id
        self._directory = directory
        self._cloudside = cloudside
        self._network_reconciler = network_reconciler
        self._disk_hold = DiskLock(contents)
        self._addresses: list[Address] = []
        self._process: asyncio.subprocess.Process | None = None
        self._running: asyncio.Task[None] | None = None
        self._stopping = False
        self._orders = Orders(self._report_failure)
        self.console = ConsoleLog(directory / "console.log")

    # -- what guests differ in -------------------------------------------------------------------------------------

    @abstractmethod
    def attach(self, volume: Volume) -> None:
        """Attach a volume soon, if the guest runs."""

    @abstractmethod
    def detach(self, volume: Volume) -> asyncio.Future[bool]:
        """Detach a volume soon, if the guest runs; the future says in the end whether the guest has it no more."""

    @abstractmethod
    def ports_changed(self) -> None:
        """The ports of the guests have changed."""

    @abstractmethod
    def _grant_access(self, file: int) -> None:
        """Let the guest open a file of this process."""

    @abstractmethod
    async def _prepare(self, guest: Guest) -> None:
        """Create what the directory of the guest needs. Raises: LaunchFailed."""

    @abstractmethod
    async def _command(self, guest: Guest, listen: list[Address], control: int) -> tuple[list[str], Collection[int]]:
        """Return the command that runs the guest, and the descriptors that it needs besides `control`.

        listen: where the guest reaches the cloud.
        """

    @abstractmethod
    def _place(self, address: Address) -> Address:
        """Return where the sockets of the guest's namespace listen for connections to an address of the guest."""

    @abstractmethod
    def _translation(self, ports: Mapping[Address, int]) -> str:
        """Return the rules of the guest's namespace. ports: where connections to a place are really served."""

    def _admit(self, process: int) -> None:  # noqa: B027  most guests need nothing
        """Prepare the guest's process, which waits for the cloud. Raises: LaunchFailed."""

    @abstractmethod
    async def _after_launch(self, guest: Guest) -> None:
        """The guest's process has begun. Raises: LaunchFailed."""

    async def _after_end(self) -> None:  # noqa: B027  most guests leave nothing
        """The guest's process has ended, or has not begun."""

    @abstractmethod
    async def _freeze(self) -> None:
        """Stop the processors of the guest, which runs. Raises: LaunchFailed."""

    @abstractmethod
    async def _thaw(self) -> None:
        """Let a guest that is frozen continue."""

    @abstractmethod
    async def _request_shutdown(self) -> None:
        """Have the guest shut down, which is not frozen."""

    @abstractmethod
    def _kill(self) -> None:
        """End the process at once, if there is one."""

    @abstractmethod
    def _restarts(self, status: int) -> bool:
        """Whether a guest that ended with a status by itself is started again."""

    @abstractmethod
    async def _delete_disk(self) -> None:
        """Delete the disk of the guest, which does not run. Raises: LaunchFailed."""

    # -- what the driver calls -------------------------------------------------------------------------------------

    def start(self, guest: Guest) -> None:
        self._orders.add(lambda: self._start(guest))

    def stop(self) -> None:
        self._orders.add(self._stop)

    def freeze(self) -> None:
        self._orders.add(self._freeze_running)

    def reset(self) -> None:
        self.stop()
        self._orders.add(self._delete_disk)

    def remove(self) -> None:
        """Kill the guest now, and delete its directory."""
        self._stopping = True
        self._kill()
        self._orders.add(self._stop)
        self._orders.add(self._delete_directory)

    def processor_time(self) -> ProcessorTime | None:
        """Return the processor time since the start; None if the guest does not run."""
        return None if self._process is None else processor_time(self._process.pid)

    async def finished(self) -> None:
        """Wait until all orders have been carried out."""
        await self._orders.finished()

    async def close(self) -> None:
        """Carry out the orders, and end."""
        await self._orders.close()

    def _report_failure(self, error: Exception) -> None:
        """An order has failed, after which the guest does not run."""
        if isinstance(error, LaunchFailed):
            self._cloudside.ended(self._id, str(error))
        else:
            log.error("An operation on the guest of the server %s failed.", self._id, exc_info=error)
            self._cloudside.ended(self._id, f"The guest cannot be started: {error}")

    # -- orders ----------------------------------------------------------------------------------------------------

    async def _start(self, guest: Guest) -> None:
        if self._process is not None:
            await self._thaw()
            return
        if (root := guest.root()) is not None:
            await self._disk_hold.take(root)
        try:
            await self._start_held(guest)
        except BaseException:
            self._disk_hold.release()
            raise

    async def _start_held(self, guest: Guest) -> None:
        await self._prepare(guest)
        self._addresses = self._cloudside.addresses()
        control, inside = control_sockets()
        reading, writing = os.pipe()
        self._grant_access(writing)
        console = asyncio.create_task(self.console.keep(reading))
        with control:
            with inside:
                try:
                    process = await self._launch(guest, inside, writing)
                finally:
                    os.close(writing)
            message, listeners = await self._connect(control)
        if message != READY:
            for listener in listeners.values():
                listener.close()
            status = await process.wait()
            await console
            await self._after_end()
            await self._network_reconciler.leave(self._id)
            reason = message.decode(errors="replace") or f"its launcher ended with status {status}"
            raise LaunchFailed(f"The guest cannot be started: {reason}.")
        try:
            close = await self._cloudside.serve(self._id, listeners)
        except BaseException:
            process.kill()  # the guest ends with its launcher
            raise
        self._process, self._stopping = process, False
        self._running = asyncio.create_task(self._run(guest, process, console, close))
        try:
            await self._after_launch(guest)
        except BaseException:
            self._stopping = True
            self._kill()
            await self._running
            raise

    async def _launch(self, guest: Guest, inside: socket.socket, console: int) -> asyncio.subprocess.Process:
        listen = [self._place(address) for address in self._addresses]
        process = None
        try:
            command, needed = await self._command(guest, listen, inside.fileno())
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                pass_fds=[inside.fileno(), *needed],
                start_new_session=True,
            )
            self._admit(process.pid)
        except BaseException:
            if process is not None:
                process.kill()
                await process.wait()
            await self._after_end()
            raise
        return process

    async def _connect(self, control: socket.socket) -> tuple[bytes, dict[Address, socket.socket]]:
        """Connect the guest that is being launched.

        Return the last message of the launcher, and the guest's sockets by the addresses that it connects to.
        """
        message, descriptors = await _answer(control)
        if message != WIRED:
            return message, {}
        namespaces, sockets = descriptors[:NAMESPACES], descriptors[NAMESPACES:]
        listeners = dict(
            zip(self._addresses, (socket.socket(fileno=descriptor) for descriptor in sockets), strict=True)
        )
        ports = {self._place(address): listener.getsockname()[1] for address, listener in listeners.items()}
        try:
            await self._network_reconciler.join(self._id, namespaces, self._translation(ports), self.settings)
        except NetworkFailed as error:
            return str(error).encode(), listeners
        finally:
            for namespace in namespaces:
                os.close(namespace)
        control.send(GO)
        message, _ = await _answer(control)
        return message, listeners

    async def _freeze_running(self) -> None:
        if self._process is not None:
            await self._freeze()

    async def _stop(self) -> None:
        if self._process is None or self._running is None:
            return
        self._stopping = True
        await self._thaw()
        await self._request_shutdown()
        done, _ = await asyncio.wait([self._running], timeout=self.stop_seconds)
        if not done:
            self._kill()
            await self._running

    async def _delete_directory(self) -> None:
        await self._delete_disk()
        shutil.rmtree(self._directory, ignore_errors=True)

    # -- the process -----------------------------------------------------------------------------------------------

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
        await self._after_end()
        await close()
        await self._network_reconciler.leave(self._id)
        self._disk_hold.release()
        self._process = self._running = None
        if self._stopping:
            return
        if self._restarts(status):
            self.start(guest)
        else:
            self._cloudside.ended(self._id, "")

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
