"""One virtual machine: its process, and what is plugged in while it runs."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from openstack_emulator.core.guests.driver import Address, Cloudside, Guest, Volume
from openstack_emulator.core.guests.topology import Port
from openstack_emulator.guests.disks import DiskContents
from openstack_emulator.guests.fabric import Fabric, NetworkFailed
from openstack_emulator.guests.launching import LaunchFailed
from openstack_emulator.guests.machine import Machine
from openstack_emulator.guests.monitor import Monitor, MonitorFailed
from openstack_emulator.guests.rules import CARD, virtual_doors_filter
from openstack_emulator.guests.spaces import Cable, card_commands, tap_name
from openstack_emulator.guests.virtual_launching import (
    BASED_ON,
    CLOUD,
    OVERLAY,
    RESCUE_OVERLAY,
    VirtualLauncher,
    last_error,
)
from openstack_emulator.guests.wiring import BATCH, Wiring

log = logging.getLogger(__name__)

SETTINGS = {
    "ipv4/ip_forward": "0",
    "ipv4/conf/all/rp_filter": "0",
    "ipv4/conf/default/rp_filter": "0",
    "ipv6/conf/all/disable_ipv6": "1",
    "ipv6/conf/default/disable_ipv6": "1",
}
"""Of the namespace between a virtual machine and its networks: what passes is bridged."""
UNPLUG_SECONDS = 15.0
"""How long other operations wait for the system of a guest to give a device back."""
SERIAL_LENGTH = 20
"""Characters of a volume's ID that its disk shows as its serial number."""


class VirtualMachine(Machine):
    """A guest in a virtual machine. Network cards and volumes are plugged in before it begins, or while it runs."""

    stop_seconds = 20.0
    settings = SETTINGS

    def __init__(
        self,
        guest_id: str,
        directory: Path,
        launcher: VirtualLauncher,
        cloudside: Cloudside,
        wiring: Wiring,
        contents: DiskContents,
        fabric: Fabric,
    ) -> None:
        super().__init__(guest_id, directory, cloudside, wiring, contents)
        self._launcher = launcher
        self._disks = contents
        self._fabric = fabric
        self._sockets: tuple[socket.socket, socket.socket] | None = None
        self._monitor: Monitor | None = None
        self._cards: dict[str, tuple[Port, Cable]] = {}
        self._volumes: dict[str, int] = {}
        self._number = 1
        self._rescued = False
        self._removals: set[asyncio.Task[None]] = set()

    def ports_changed(self) -> None:
        """Plug network cards in or out soon, as the ports of the guest are now."""
        self._orders.put_nowait(self._follow_ports)

    def attach(self, volume: Volume) -> None:
        self._orders.put_nowait(lambda: self._attach(volume))

    def detach(self, volume: Volume) -> asyncio.Future[bool]:
        ended: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._orders.put_nowait(lambda: self._detach(volume, ended))
        return ended

    # -- the process -----------------------------------------------------------------------------------------------

    def _give(self, file: int) -> None:
        """QEMU inherits the file."""

    async def _prepare(self, guest: Guest) -> None:
        self._rescued = guest.rescued()
        await self._launcher.prepare(self._directory, guest, self._cloudside.addresses(), self._rescued)

    async def _command(self, guest: Guest, listen: list[Address], control: int) -> tuple[list[str], Collection[int]]:
        self._sockets = ours, theirs = socket.socketpair()
        ours.setblocking(False)
        descriptors = (control, theirs.fileno(), self._fabric.users)
        words = self._launcher.machine_words(guest, self._rescued)
        command = self._launcher.command(self._directory, words, listen, descriptors, self._launcher.opened())
        return command, descriptors[1:]

    def _place(self, address: Address) -> Address:
        return CLOUD, address[1]

    def _translation(self, ports: Mapping[Address, int]) -> str:
        return virtual_doors_filter(ports)

    async def _launched(self, guest: Guest) -> None:
        if self._sockets is None:
            raise LaunchFailed("The guest cannot be started: it has no monitor.")
        (ours, theirs), self._sockets = self._sockets, None
        theirs.close()
        self._monitor = monitor = Monitor(ours)
        self._cards, self._volumes, self._number = {}, {}, 1
        try:
            await monitor.open()
            await self._change_cards(monitor)
            if (root := guest.root()) is not None:
                await self._plug_volume(monitor, root, root=True)  # before other volumes: their order decides the names
            for volume in sorted(guest.volumes(), key=lambda volume: volume.device):
                await self._plug_volume(monitor, volume)
            await monitor.execute("cont")
        except (MonitorFailed, NetworkFailed, OSError) as error:
            why = last_error(self._directory) or error
            raise LaunchFailed(f"The guest cannot be started: {why}.") from error

    async def _ended(self) -> None:
        self._close_sockets()
        monitor, self._monitor = self._monitor, None
        if monitor is not None:
            await monitor.close()

    def _close_sockets(self) -> None:
        for one in self._sockets or ():
            one.close()
        self._sockets = None

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

    async def _ask_to_stop(self) -> None:
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

    # -- network cards ---------------------------------------------------------------------------------------------

    async def _follow_ports(self) -> None:
        if self._monitor is None:
            return
        try:
            await self._change_cards(self._monitor)
        except (MonitorFailed, NetworkFailed) as error:
            log.error("The network cards of the server %s are not as they should be: %s", self._id, error)

    async def _change_cards(self, monitor: Monitor) -> None:
        """Plug network cards in or out until they are those of the ports. Raises: MonitorFailed, NetworkFailed."""
        wanted = {port.id: (port, cable) for port, cable in self._wiring.laid(self._id)}
        for key, (_, cable) in list(self._cards.items()):
            if key not in wanted or wanted[key][1] != cable:
                await self._unplug_card(monitor, key)
        for key, (port, cable) in wanted.items():
            if key not in self._cards:
                await self._plug_card(monitor, port, cable)

    async def _plug_card(self, monitor: Monitor, port: Port, cable: Cable) -> None:
        name, card = f"card-{port.id}", tap_name(port.id, CARD)
        (descriptor,) = await self._fabric.order("tap", cable.space, interface=card)
        try:
            await self._fabric.run(cable.space, "ip", BATCH, card_commands(cable, card))
            await monitor.execute("getfd", descriptor, fdname=name)
        finally:
            os.close(descriptor)
        await monitor.execute("netdev_add", type="tap", id=f"net-{port.id}", fd=name)
        await monitor.execute(
            "device_add", driver="virtio-net-pci", id=name, netdev=f"net-{port.id}", mac=port.mac, host_mtu=cable.mtu,
            romfile="",
        )  # fmt: skip
        self._cards[port.id] = port, cable

    async def _unplug_card(self, monitor: Monitor, key: str) -> None:
        del self._cards[key]
        behind = [("netdev_del", {"id": f"net-{key}"})]
        await self._unplug(monitor, f"card-{key}", f"network card of the port {key}", behind)

    async def _unplug(
        self, monitor: Monitor, device: str, name: str, behind: Sequence[tuple[str, Mapping[str, object]]]
    ) -> asyncio.Task[None]:
        """Have the guest give a device back, and remove what is behind it: later, if its system still boots. Returns
        what ends then.

        behind: commands with their arguments.
        """

        async def remove() -> None:
            try:
                await monitor.unplug(device)
                for command, arguments in behind:
                    await monitor.execute(command, **arguments)
            except MonitorFailed as error:
                if self._monitor is monitor:
                    log.error("The server %s still has the %s: %s", self._id, name, error)

        removal = asyncio.create_task(remove())
        self._removals.add(removal)
        removal.add_done_callback(self._removals.discard)
        await asyncio.wait([removal], timeout=UNPLUG_SECONDS)
        if not removal.done():
            log.warning("The guest of the server %s has not given the %s back yet.", self._id, name)
        return removal

    # -- volumes ---------------------------------------------------------------------------------------------------

    async def _attach(self, volume: Volume) -> None:
        if self._monitor is None or volume.id in self._volumes:
            return
        try:
            await self._plug_volume(self._monitor, volume)
        except (MonitorFailed, OSError) as error:
            log.error("The volume %s cannot be attached to the guest of the server %s: %s", volume.id, self._id, error)

    async def _detach(self, volume: Volume, ended: asyncio.Future[bool]) -> None:
        if self._monitor is None or volume.id not in self._volumes:
            ended.set_result(True)
            return
        number = self._volumes.pop(volume.id)
        behind: list[tuple[str, dict[str, object]]] = [
            ("blockdev-del", {"node-name": f"disk-{number}"}), ("remove-fd", {"fdset-id": number}),
        ]  # fmt: skip
        removal = await self._unplug(self._monitor, f"volume-{number}", f"volume {volume.id}", behind)
        removal.add_done_callback(lambda _: ended.set_result(True))

    async def _plug_volume(self, monitor: Monitor, volume: Volume, root: bool = False) -> None:
        self._number += 1
        number = self._number
        file = os.open(await self._disks.disk(volume, root), os.O_RDWR | os.O_CLOEXEC)
        try:
            await monitor.execute("add-fd", file, **{"fdset-id": number})
        finally:
            os.close(file)
        disk = {"driver": "file", "filename": f"/dev/fdset/{number}"}
        node = {"driver": "raw", "node-name": f"disk-{number}", "discard": "unmap", "file": disk}
        await monitor.execute("blockdev-add", **node)
        await monitor.execute(
            "device_add", driver="virtio-blk-pci", id=f"volume-{number}", drive=f"disk-{number}",
            serial=volume.id[:SERIAL_LENGTH],
        )  # fmt: skip
        self._volumes[volume.id] = number
