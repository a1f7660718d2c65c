"""Guests in virtual machines, which QEMU runs: each server has a kernel and disks of its own."""

from __future__ import annotations

import logging

from openstack_emulator.guests.disks import DiskContents
from openstack_emulator.guests.ids import id_maps
from openstack_emulator.guests.images import Image
from openstack_emulator.guests.local import GuestEnvironment, Hypervisor
from openstack_emulator.guests.spaces import plan_virtual_port
from openstack_emulator.guests.virtual import VirtualMachine
from openstack_emulator.guests.virtual_launching import (
    KVM,
    OVERLAY,
    VirtualLauncher,
    accelerator,
    described_accelerator,
    require_programs,
)

log = logging.getLogger(__name__)


class Qemu(Hypervisor):
    """Runs guests as virtual machines: processes of this user in network namespaces of their own.

    image: a disk image, what the guests' disks are based on.

    Raises: GuestsUnavailable if this machine cannot run virtual machines.
    """

    def __init__(self, image: Image) -> None:
        require_programs()
        accelerated_by, _ = accelerator()
        self._launcher = VirtualLauncher(image, id_maps(), accelerated_by)
        super().__init__(self._launcher, OVERLAY, "disks", plan_virtual_port)
        log.log(logging.INFO if accelerated_by == KVM else logging.WARNING, "%s", described_accelerator())

    def open(self, site: GuestEnvironment) -> DiskContents:
        self._site = site
        self._disks = DiskContents(site.directory / self.contents, self._launcher.make_owner, self._launcher.install)
        return self._disks

    def machine(self, guest_id: str) -> VirtualMachine:
        site = self._site
        return VirtualMachine(
            guest_id,
            site.directory / guest_id,
            self._launcher,
            site.cloudside,
            site.network_reconciler,
            self._disks,
            site.namespace_process,
        )
