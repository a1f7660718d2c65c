"""Guests in Linux namespaces: each server is a small system on the kernel of this machine."""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import Collection
from contextlib import ExitStack, closing
from fcntl import LOCK_NB, LOCK_SH, flock
from pathlib import Path
from typing import IO

from stoker.emulator.guests.driver import Cloudside, Guest, GuestDriver, GuestsUnavailable, Volume
from stoker.emulator.guests.fabric import Fabric
from stoker.emulator.guests.forwarding import Forwarders
from stoker.emulator.guests.ids import id_maps
from stoker.emulator.guests.images import Image
from stoker.emulator.guests.launching import Launcher, is_guest_directory
from stoker.emulator.guests.machine import Machine
from stoker.emulator.guests.metering import INTERVAL
from stoker.emulator.guests.topology import Topology
from stoker.emulator.guests.volumes import Volumes
from stoker.emulator.guests.wiring import Wiring

log = logging.getLogger(__name__)


class NamespaceDriver(GuestDriver):
    """Runs guests as processes of this user in user, mount, PID, UTS, IPC and network namespaces of their own.

    Guests end with the process of the cloud. When a cloud with a state file is started again, the guests of its active
    servers are started again from their disks.

    image: what the guests' disks are based on. directory: of the disks; None: a temporary one.

    Raises: GuestsUnavailable if this machine does not allow such namespaces, or if the image is being built.
    """

    connected = True
    balancing = True
    metering_interval = INTERVAL
    unsupported = frozenset({"pause", "unpause", "suspend", "resume", "rescue", "unrescue", "trigger_crash_dump"})

    def __init__(self, image: Image, directory: Path | None = None) -> None:
        self._launcher = Launcher(image, id_maps())
        self._machines: dict[str, Machine] = {}
        self._endings: set[asyncio.Task[None]] = set()
        self._cloudside: Cloudside | None = None
        self._fabric: Fabric | None = None
        with ExitStack() as held:
            if image.lock is not None:
                _lock(held.enter_context(image.lock.open("a")), image)
            self._temporary = directory is None
            self._directory = directory or Path(
                held.enter_context(tempfile.TemporaryDirectory(prefix="stoker-guests-"))
            )
            self._directory.mkdir(parents=True, exist_ok=True)
            self._contents = self._directory / "volumes"
            self._contents.mkdir(exist_ok=True)
            self._launcher.give(self._contents)
            with closing(Fabric(self._launcher.ids, self._contents)) as fabric:
                self._launcher.check(self._directory, fabric.users)
            self._held = held.pop_all()

    def open(self, cloudside: Cloudside, guest_ids: Collection[str]) -> None:
        self._cloudside = cloudside
        self._fabric = Fabric(self._launcher.ids, self._contents)
        self._wiring = Wiring(self._fabric, cloudside)
        self._volumes = Volumes(self._contents, self._launcher.ids, self._fabric, self._wiring.runs)
        self._forwarders = Forwarders(self._fabric)
        if self._launcher.ids.only_root:
            log.warning(
                "The guests have no user but root, since user %d has no subordinate IDs: programs that change their "
                "user fail in guests. An administrator assigns IDs with `usermod --add-subuids 100000-165535 "
                "--add-subgids 100000-165535 USER` (newuidmap is in the package uidmap).",
                self._launcher.ids.base,
            )
        for left in self._directory.iterdir():
            if left.name not in guest_ids and is_guest_directory(left):
                self.remove(left.name)

    def connect(self, topology: Topology) -> None:
        self._wiring.change(topology)
        self._forwarders.change(topology.doors)

    def start(self, guest: Guest) -> None:
        self._machine(guest.id).start(guest)

    def stop(self, guest_id: str) -> None:
        if guest_id in self._machines:
            self._machines[guest_id].stop()

    def reset(self, guest_id: str) -> None:
        self._machine(guest_id).reset()

    def remove(self, guest_id: str) -> None:
        machine = self._machine(guest_id)
        del self._machines[guest_id]
        machine.remove()
        ending = asyncio.get_running_loop().create_task(machine.close())
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)

    def attach(self, guest_id: str, volume: Volume) -> None:
        self._volumes.attach(guest_id, volume)

    def detach(self, guest_id: str, volume: Volume) -> None:
        self._volumes.detach(guest_id, volume)

    def copy_content(self, source: str, target: str) -> None:
        self._volumes.copy(source, target)

    def delete_content(self, name: str) -> None:
        self._volumes.delete(name)

    def console(self, guest_id: str) -> str | None:
        return self._machine(guest_id).console.read()

    def processor_seconds(self, guest_id: str) -> float | None:
        return self._machines[guest_id].processor_seconds() if guest_id in self._machines else None

    def answers(self, member_id: str) -> bool | None:
        return None if self._fabric is None else self._wiring.balancing.answers(member_id)

    async def close(self) -> None:
        if self._fabric is not None:
            await self._forwarders.close()
            self._wiring.freeze()
        for machine in self._machines.values():
            machine.stop()
        await asyncio.gather(*self._endings, *(machine.close() for machine in self._machines.values()))
        if self._fabric is not None:
            await self._volumes.close()
            if self._temporary:
                await self._volumes.delete_all()
            await self._wiring.close()
        if self._temporary:
            for directory in self._directory.iterdir():
                await self._launcher.delete_disk(directory)
        self._held.close()

    def _machine(self, guest_id: str) -> Machine:
        if self._cloudside is None or self._fabric is None:
            raise ValueError("The driver has not been opened.")
        if guest_id not in self._machines:
            directory = self._directory / guest_id
            self._machines[guest_id] = Machine(
                guest_id, directory, self._launcher, self._cloudside, self._wiring, self._volumes, self._fabric.users
            )
        return self._machines[guest_id]


def _lock(file: IO[str], image: Image) -> None:
    """Lock an image against being built or deleted."""
    try:
        flock(file, LOCK_SH | LOCK_NB)
    except BlockingIOError:
        raise GuestsUnavailable(f"The guest image {image.name!r} is being built; try again later.") from None
