"""The guest drivers that a user can choose."""

from __future__ import annotations

import sys
from pathlib import Path

from stoker.emulator.guests.driver import GuestDriver, GuestsUnavailable, NoGuests
from stoker.emulator.guests.images import DEFAULT, Image, find_disk, find_image

NONE, NAMESPACE, QEMU = "none", "namespace", "qemu"
DRIVERS = (NONE, NAMESPACE, QEMU)


def chosen_image(driver: str, image: str = DEFAULT) -> Image | None:
    """Return the image of the guests of a driver; None without guests.

    Raises: GuestsUnavailable for a driver that does not exist or cannot work on this system, or an unknown image.
    """
    if driver == NONE:
        return None
    if sys.platform != "linux":
        raise GuestsUnavailable(f"Guests need Linux. Choose {NONE} to have no guests.")
    if driver == NAMESPACE:
        return find_image(image)
    if driver != QEMU:
        raise GuestsUnavailable(f"There is no guest driver {driver}: choose {', '.join(DRIVERS)}.")
    from stoker.emulator.guests.virtual_launching import require_programs

    require_programs()
    return find_disk(image)


def remark(driver: str) -> str:
    """Return what a user should know before guests start, as a sentence; empty if there is nothing."""
    if driver != QEMU:
        return ""
    from stoker.emulator.guests.virtual_launching import described_accelerator

    return described_accelerator()


def guest_driver(driver: str, image: str = DEFAULT, directory: Path | None = None) -> GuestDriver:
    """Return a driver by its name. Raises: see `chosen_image`; GuestsUnavailable if this machine allows no guests.

    image: what guests' disks are based on. directory: for the disks; None: a temporary one.
    """
    found = chosen_image(driver, image)
    if found is None:
        return NoGuests()
    if driver == QEMU:
        from stoker.emulator.guests.qemu import QemuDriver

        return QemuDriver(found, directory)
    from stoker.emulator.guests.namespace import NamespaceDriver

    return NamespaceDriver(found, directory)
