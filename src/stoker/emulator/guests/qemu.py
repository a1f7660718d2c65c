"""Guests in virtual machines, which QEMU runs: each server has a kernel and disks of its own."""

from __future__ import annotations

import logging
from pathlib import Path

from stoker.emulator.guests.disks import DiskContents
from stoker.emulator.guests.driver import Cloudside, Volume
from stoker.emulator.guests.fabric import Fabric
from stoker.emulator.guests.ids import id_maps
from stoker.emulator.guests.images import Image
from stoker.emulator.guests.local import LocalDriver
from stoker.emulator.guests.spaces import plan_virtual_port
from stoker.emulator.guests.virtual import VirtualMachine
from stoker.emulator.guests.virtual_launching import (
    KVM,
    VirtualLauncher,
    accelerator,
    described_accelerator,
    require_programs,
)
from stoker.emulator.guests.wiring import Wiring

log = logging.getLogger(__name__)


class QemuDriver(LocalDriver[VirtualMachine]):
    """Runs guests as virtual machines: processes of this user in network namespaces of their own.

    image: a disk image, what the guests' disks are based on. directory: of the disks; None: a temporary one.

    Raises: GuestsUnavailable if this machine cannot run virtual machines, or if the image is being built.
    """

    def __init__(self, image: Image, directory: Path | None = None) -> None:
        require_programs()
        accelerated_by, _ = accelerator()
        self._launcher = VirtualLauncher(image, id_maps(), accelerated_by)
        super().__init__(self._launcher, directory, "disks", plan_virtual_port)
        log.log(logging.INFO if accelerated_by == KVM else logging.WARNING, "%s", described_accelerator())

    def _open(self, fabric: Fabric, wiring: Wiring) -> DiskContents:
        self._disks = DiskContents(self._contents, self._launcher.give)
        self._networks = fabric
        wiring.followers.append(self._ports_changed)
        return self._disks

    def _ports_changed(self) -> None:
        for machine in self._machines.values():
            machine.ports_changed()

    def _new_machine(self, guest_id: str, directory: Path, cloudside: Cloudside, wiring: Wiring) -> VirtualMachine:
        return VirtualMachine(guest_id, directory, self._launcher, cloudside, wiring, self._disks, self._networks)

    def attach(self, guest_id: str, volume: Volume) -> None:
        if guest_id in self._machines:
            self._machines[guest_id].attach(volume)

    def detach(self, guest_id: str, volume: Volume) -> None:
        if guest_id in self._machines:
            self._machines[guest_id].detach(volume)
