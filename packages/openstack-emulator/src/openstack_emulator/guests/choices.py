"""The guest drivers that a user can choose."""

from __future__ import annotations

import sys
from pathlib import Path

from openstack_emulator.core.guests.driver import GuestDriver, GuestsUnavailable, NoGuests
from openstack_emulator.core.guests.selection import NAMESPACE, NONE, QEMU, Selection
from openstack_emulator.guests.images import DEFAULT, Image, find_disk, find_image


def chosen_images(selection: Selection, image: str = DEFAULT) -> dict[str, Image]:
    """Return the images of the guests of the selected drivers, by driver.

    Raises: GuestsUnavailable for a driver that cannot work on this system, a missing program, or an unknown image.
    """
    drivers = selection.drivers()
    if drivers:
        _require_networks()
    return {driver: _IMAGES[driver](image) for driver in drivers}


def remark(selection: Selection) -> str:
    """Return what a user should know before guests start, as sentences; empty if there is nothing."""
    found, drivers = [], selection.drivers()
    if NAMESPACE in drivers:
        from openstack_emulator.guests.limits import allowed_places, missing_limits

        found.append(missing_limits(allowed_places()))
    if QEMU in drivers:
        from openstack_emulator.guests.virtual_launching import described_accelerator

        found.append(described_accelerator())
    return " ".join(filter(None, found))


def guest_driver(selection: Selection, image: str = DEFAULT, directory: Path | None = None) -> GuestDriver:
    """Return the driver of a cloud. Raises: see `chosen_images`; GuestsUnavailable if this machine allows no guests.

    image: what guests' disks are based on. directory: for the disks; None: a temporary one.
    """
    found = chosen_images(selection, image)
    if not found:
        return NoGuests(selection)
    from openstack_emulator.guests.local import Hypervisor, LocalDriver
    from openstack_emulator.guests.namespace import Namespaces
    from openstack_emulator.guests.qemu import Qemu

    kinds: dict[str, type[Namespaces] | type[Qemu]] = {NAMESPACE: Namespaces, QEMU: Qemu}
    hypervisors: dict[str, Hypervisor] = {driver: kinds[driver](program) for driver, program in found.items()}
    return LocalDriver(selection, hypervisors, directory)


def _require_networks() -> None:
    """Raise GuestsUnavailable if this system cannot have networks of guests."""
    if sys.platform != "linux":
        raise GuestsUnavailable(f"Guests need Linux. Choose {NONE} to have no guests.")
    from openstack_emulator.guests.namespace_process import find_tools

    find_tools()


def _disk(image: str) -> Image:
    from openstack_emulator.guests.virtual_launching import require_programs

    require_programs()
    return find_disk(image)


_IMAGES = {NAMESPACE: find_image, QEMU: _disk}
