"""One virtual machine: its process, and its devices while it runs."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import Collection, Mapping
from pathlib import Path

from openstack_emulator.core.guests.driver import Address, CloudInterface, Guest, Volume
from openstack_emulator.guests.devices import Devices
from openstack_emulator.guests.disks import DiskContents
from openstack_emulator.guests.launching import LaunchFailed
from openstack_emulator.guests.machine import Machine
from openstack_emulator.guests.monitor import Monitor, MonitorFailed
from openstack_emulator.guests.namespace_process import NamespaceProcess, NetworkFailed
from openstack_emulator.guests.network_reconciler import NetworkReconciler
from openstack_emulator.guests.rules import virtual_endpoints_filter
from openstack_emulator.guests.virtual_launching import (
    BASED_ON,
    CLOUD,
    OVERLAY,
    RESCUE_OVERLAY,
    VirtualLauncher,
    last_error,
)

log = logging.getLogger(__name__)

SETTINGS = {
    "ipv4/ip_forward": "0",
    "ipv4/conf/all/rp_filter": "0",
    "ipv4/conf/default/rp_filter": "0",
    "ipv6/conf/all/disable_ipv6": "1",
    "ipv6/conf/default/disable_ipv6": "1",
}
"""Of the namespace between a virtual machine and its networks: what passes is bridged."""


class VirtualMachine(Machine):
    """A guest in a virtual machine. Network cards and volumes are plugged in before it begins, or while it runs."""

    stop_seconds = 20.0
    settings = SETTINGS

    def __init__(
        self,
        guest_id: str,
        directory: Path,
        launcher: VirtualLauncher,
        cloudside: CloudInterface,
        network_reconciler: NetworkReconciler,
        contents: DiskContents,
        namespace_process: NamespaceProcess,
    ) -> None:
        super().__init__(guest_id, directory, cloudside, network_reconciler, contents)
        self._launcher = launcher
        self._disks = contents
        self._namespace_process = namespace_process
        self._sockets: tuple[socket.socket, socket.socket] | None = None
        self._monitor: Monitor | None = None
        self._devices: Devices | None = None
        self._rescued = False

    def ports_changed(self) -> None:
        """Plug network cards in or out soon, as the ports of the guest are now."""
        self._orders.add(self._follow_ports)

    def attach(self, volume: Volume) -> None:
        self._orders.add(lambda: self._attach(volume))

    def detach(self, volume: Volume) -> asyncio.Future[bool]:
        ended: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._orders.add(lambda: self._detach(volume, ended))
        return ended

    # -- the process -----------------------------------------------------------------------------------------------

    def _grant_access(self, file: int) -> None:
        """QEMU inherits the file."""

    async def _prepare(self, guest: Guest) -> None:
        self._rescued = guest.rescued()
        await self._launcher.prepare(self._directory, guest, self._cloudside.addresses(), self._rescued)

    async def _command(self, guest: Guest, listen: list[Address], control: int) -> tuple[list[str], Collection[int]]:
        self._sockets = ours, theirs = socket.socketpair()
        ours.setblocking(False)
        descriptors = (control, theirs.fileno(), self._namespace_process.users)
        words = self._launcher.machine_words(guest, self._rescued)
        command = self._launcher.command(self._directory, words, listen, descriptors, self._launcher.opened())
        return command, descriptors[1:]

    def _place(self, address: Address) -> Address:
        return CLOUD, address[1]

    def _translation(self, ports: Mapping[Address, int]) -> str:
        return virtual_endpoints_filter(ports)

    async def _after_launch(self, guest: Guest) -> None:
        if self._sockets is None:
            raise LaunchFailed("The guest cannot be started: it has no monitor.")
        (ours, theirs), self._sockets = self._sockets, None
        theirs.close()
        self._monitor = monitor = Monitor(ours)
        self._devices = devices = Devices(
            self._id, monitor, self._network_reconciler, self._namespace_process, self._disks
        )
        try:
            await monitor.open()
            await devices.change_cards()
            if (root := guest.root()) is not None:
                await devices.plug_volume(root, root=True)  # before other volumes: their order decides the names
            for volume in sorted(guest.volumes(), key=lambda volume: volume.device):
                await devices.plug_volume(volume)
            await monitor.execute("cont")
        except (MonitorFailed, NetworkFailed, OSError) as error:
            why = last_error(self._directory) or error
            raise LaunchFailed(f"The guest cannot be started: {why}.") from error

    async def _after_end(self) -> None:
        for listener in self._sockets or ():
            listener.close()
        self._sockets = None
        devices, self._devices = self._devices, None
        if devices is not None:
            devices.end()
        monitor, self._monitor = self._monitor, None
        if monitor is not None:
            await monitor.close()

    async def _freeze(self) -> None:
        await self._run_command("stop")

    async def _thaw(self) -> None:
        await self._run_command("cont")

    async def _run_command(self, command: str) -> None:
        try:
            if self._monitor is not None:
                await self._monitor.execute(command)
        except MonitorFailed as error:
            log.error("The machine of the server %s does not obey the command %s: %s", self._id, command, error)

    async def _request_shutdown(self) -> None:
        try:
            if self._monitor is not None:
                await self._monitor.execute("system_powerdown")
        except MonitorFailed:  # it has ended meanwhile, or hangs
            self._kill()

    def _kill(self) -> None:
        self._signal(signal.SIGKILL)

    def _restarts(self, status: int) -> bool:
        return False

    async def _delete_disk(self) -> None:
        for name in (OVERLAY, RESCUE_OVERLAY, BASED_ON):
            (self._directory / name).unlink(missing_ok=True)

    # -- devices ---------------------------------------------------------------------------------------------------

    async def _follow_ports(self) -> None:
        if self._devices is None:
            return
        try:
            await self._devices.change_cards()
        except (MonitorFailed, NetworkFailed) as error:
            log.error("The network cards of the server %s are not as they should be: %s", self._id, error)

    async def _attach(self, volume: Volume) -> None:
        if self._devices is None or self._devices.has(volume):
            return
        try:
            await self._devices.plug_volume(volume)
        except (MonitorFailed, OSError) as error:
            log.error("The volume %s cannot be attached to the guest of the server %s: %s", volume.id, self._id, error)

    async def _detach(self, volume: Volume, ended: asyncio.Future[bool]) -> None:
        if self._devices is None or not self._devices.has(volume):
            ended.set_result(True)
            return
        removal = await self._devices.unplug_volume(volume)
        removal.add_done_callback(lambda _: ended.set_result(True))
