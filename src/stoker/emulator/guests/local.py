"""What the drivers have in common whose guests are processes of this machine."""

from __future__ import annotations

import asyncio
import tempfile
from abc import abstractmethod
from collections.abc import Collection
from contextlib import ExitStack, closing
from fcntl import LOCK_NB, LOCK_SH, flock
from pathlib import Path
from typing import IO, Generic, TypeVar

from stoker.emulator.guests.driver import Cloudside, Guest, GuestDriver, GuestsUnavailable
from stoker.emulator.guests.fabric import Fabric
from stoker.emulator.guests.forwarding import Forwarders
from stoker.emulator.guests.images import Image
from stoker.emulator.guests.launching import Launcher, is_guest_directory
from stoker.emulator.guests.machine import Machine
from stoker.emulator.guests.metering import INTERVAL
from stoker.emulator.guests.spaces import PlanPort
from stoker.emulator.guests.topology import Topology
from stoker.emulator.guests.volumes import Contents
from stoker.emulator.guests.wiring import Wiring

M = TypeVar("M", bound=Machine)


class LocalDriver(GuestDriver, Generic[M]):
    """Runs guests whose disks are files of this machine, and connects them with networks in namespaces.

    Guests end with the process of the cloud. When a cloud with a state file is started again, the guests of its active
    servers are started again from their disks.

    launcher: starts guests. directory: of the disks; None: a temporary one. contents: the name of the directory with
    the contents of volumes. plan_port: connects a port with the namespace of its guest.

    Raises: GuestsUnavailable if this machine does not allow such guests, or if the image is being built.
    """

    connected = True
    balancing = True
    metering_interval = INTERVAL
    unsupported = frozenset({"pause", "unpause", "suspend", "resume", "rescue", "unrescue", "trigger_crash_dump"})

    def __init__(self, launcher: Launcher, directory: Path | None, contents: str, plan_port: PlanPort) -> None:
        self._ids = launcher.ids
        self._plan_port = plan_port
        self._machines: dict[str, M] = {}
        self._endings: set[asyncio.Task[None]] = set()
        self._cloudside: Cloudside | None = None
        self._fabric: Fabric | None = None
        with ExitStack() as held:
            if launcher.image.lock is not None:
                _lock(held.enter_context(launcher.image.lock.open("a")), launcher.image)
            self._temporary = directory is None
            self._directory = directory or Path(
                held.enter_context(tempfile.TemporaryDirectory(prefix="stoker-guests-"))
            )
            self._directory.mkdir(parents=True, exist_ok=True)
            self._contents = self._directory / contents
            self._contents.mkdir(exist_ok=True)
            launcher.give(self._contents)
            with closing(Fabric(self._ids, self._contents)) as fabric:
                launcher.check(self._directory, fabric.users)
            self._held = held.pop_all()

    @abstractmethod
    def _open(self, fabric: Fabric, wiring: Wiring) -> Contents:
        """Prepare for guests, and return the contents of volumes."""

    @abstractmethod
    def _new_machine(self, guest_id: str, directory: Path, cloudside: Cloudside, wiring: Wiring) -> M:
        """Return a guest that does not run."""

    def open(self, cloudside: Cloudside, guest_ids: Collection[str]) -> None:
        self._cloudside = cloudside
        self._fabric = Fabric(self._ids, self._contents)
        self._users = self._fabric.users
        self._wiring = Wiring(self._fabric, cloudside, self._plan_port)
        self._copies = self._open(self._fabric, self._wiring)
        self._forwarders = Forwarders(self._fabric)
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

    def copy_content(self, source: str, target: str) -> None:
        self._copies.copy(source, target)

    def delete_content(self, name: str) -> None:
        self._copies.delete(name)

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
            await self._copies.close()
            if self._temporary:
                await self._copies.delete_all()
            await self._wiring.close()
        self._machines.clear()
        if self._temporary:
            for guest_id in [place.name for place in self._directory.iterdir() if is_guest_directory(place)]:
                self.remove(guest_id)
            await asyncio.gather(*self._endings)
        self._held.close()

    def _machine(self, guest_id: str) -> M:
        if self._cloudside is None or self._fabric is None:
            raise ValueError("The driver has not been opened.")
        if guest_id not in self._machines:
            directory = self._directory / guest_id
            self._machines[guest_id] = self._new_machine(guest_id, directory, self._cloudside, self._wiring)
        return self._machines[guest_id]


def _lock(file: IO[str], image: Image) -> None:
    """Lock an image against being built or deleted."""
    try:
        flock(file, LOCK_SH | LOCK_NB)
    except BlockingIOError:
        raise GuestsUnavailable(f"The guest image {image.name!r} is being built; try again later.") from None
