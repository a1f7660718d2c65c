"""What is plugged into a virtual machine while it runs: network cards and volumes."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping, Sequence

from openstack_emulator.core.guests.driver import Volume
from openstack_emulator.core.guests.topology import Port
from openstack_emulator.guests.disks import DiskContents
from openstack_emulator.guests.monitor import Monitor, MonitorFailed
from openstack_emulator.guests.namespace_process import NamespaceProcess
from openstack_emulator.guests.network_reconciler import BATCH, NetworkReconciler
from openstack_emulator.guests.rules import CARD
from openstack_emulator.guests.spaces import VirtualLink, card_commands, tap_name

log = logging.getLogger(__name__)

UNPLUG_SECONDS = 15.0
"""How long other operations wait for the system of a guest to give a device back."""
SERIAL_LENGTH = 20
"""Characters of a volume's ID that its disk shows as its serial number."""


class Devices:
    """The network cards and volumes of a virtual machine, from its start to its end.

    disks: the contents of the volumes. All methods raise MonitorFailed when the machine does not obey.
    """

    def __init__(
        self,
        guest_id: str,
        monitor: Monitor,
        network_reconciler: NetworkReconciler,
        namespace_process: NamespaceProcess,
        disks: DiskContents,
    ) -> None:
        self._id = guest_id
        self._monitor = monitor
        self._network_reconciler = network_reconciler
        self._namespace_process = namespace_process
        self._disks = disks
        self._cards: dict[str, tuple[Port, VirtualLink]] = {}
        self._volumes: dict[str, int] = {}
        self._number = 1
        self._removals: set[asyncio.Task[None]] = set()
        self._ended = False

    def end(self) -> None:
        """The machine has ended: what it has not given back is no failure."""
        self._ended = True

    def has(self, volume: Volume) -> bool:
        """Whether a volume is plugged in."""
        return volume.id in self._volumes

    async def change_cards(self) -> None:
        """Plug network cards in or out until they are those of the ports. Raises: NetworkFailed."""
        needed = {port.id: (port, cable) for port, cable in self._network_reconciler.connected_ports(self._id)}
        for key, (_, cable) in list(self._cards.items()):
            if key not in needed or needed[key][1] != cable:
                await self._unplug_card(key)
        for key, (port, cable) in needed.items():
            if key not in self._cards:
                await self._plug_card(port, cable)

    async def _plug_card(self, port: Port, cable: VirtualLink) -> None:
        name, card = f"card-{port.id}", tap_name(port.id, CARD)
        (descriptor,) = await self._namespace_process.order("tap", cable.space, interface=card)
        try:
            await self._namespace_process.run(cable.space, "ip", BATCH, card_commands(cable, card))
            await self._monitor.execute("getfd", descriptor, fdname=name)
        finally:
            os.close(descriptor)
        await self._monitor.execute("netdev_add", type="tap", id=f"net-{port.id}", fd=name)
        await self._monitor.execute(
            "device_add", driver="virtio-net-pci", id=name, netdev=f"net-{port.id}", mac=port.mac, host_mtu=cable.mtu,
            romfile="",
        )  # fmt: skip
        self._cards[port.id] = port, cable

    async def _unplug_card(self, key: str) -> None:
        del self._cards[key]
        behind = [("netdev_del", {"id": f"net-{key}"})]
        await self._unplug(f"card-{key}", f"network card of the port {key}", behind)

    async def _unplug(
        self, device: str, name: str, behind: Sequence[tuple[str, Mapping[str, object]]]
    ) -> asyncio.Task[None]:
        """Have the guest give a device back, and remove what is behind it: later, if its system still boots. Returns
        what ends then.

        behind: commands with their arguments.
        """

        async def remove() -> None:
            try:
                await self._monitor.unplug(device)
                for command, arguments in behind:
                    await self._monitor.execute(command, **arguments)
            except MonitorFailed as error:
                if not self._ended:
                    log.error("The server %s still has the %s: %s", self._id, name, error)

        removal = asyncio.create_task(remove())
        self._removals.add(removal)
        removal.add_done_callback(self._removals.discard)
        await asyncio.wait([removal], timeout=UNPLUG_SECONDS)
        if not removal.done():
            log.warning("The guest of the server %s has not given the %s back yet.", self._id, name)
        return removal

    async def plug_volume(self, volume: Volume, root: bool = False) -> None:
        """Plug a volume in; `root`: as the disk of the machine."""
        self._number += 1
        number = self._number
        file = os.open(await self._disks.disk(volume, root), os.O_RDWR | os.O_CLOEXEC)
        try:
            await self._monitor.execute("add-fd", file, **{"fdset-id": number})
        finally:
            os.close(file)
        disk = {"driver": "file", "filename": f"/dev/fdset/{number}"}
        node = {"driver": "raw", "node-name": f"disk-{number}", "discard": "unmap", "file": disk}
        await self._monitor.execute("blockdev-add", **node)
        await self._monitor.execute(
            "device_add", driver="virtio-blk-pci", id=f"volume-{number}", drive=f"disk-{number}",
            serial=volume.id[:SERIAL_LENGTH],
        )  # fmt: skip
        self._volumes[volume.id] = number

    async def unplug_volume(self, volume: Volume) -> asyncio.Task[None]:
        """Have the guest give a volume back that is plugged in. Returns what ends when it has."""
        number = self._volumes.pop(volume.id)
        behind: list[tuple[str, dict[str, object]]] = [
            ("blockdev-del", {"node-name": f"disk-{number}"}), ("remove-fd", {"fdset-id": number}),
        ]  # fmt: skip
        return await self._unplug(f"volume-{number}", f"volume {volume.id}", behind)
