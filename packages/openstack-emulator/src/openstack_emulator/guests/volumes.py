"""The contents of volumes, snapshots and backups of a cloud with guests."""

from __future__ import annotations

import asyncio
import logging
import re
from abc import ABC, abstractmethod
from functools import partial
from pathlib import Path
from uuid import uuid4

from openstack_emulator.core.guests.driver import IMAGE, Volume
from openstack_emulator.guests.launching import LaunchFailed, NamespaceLauncher, VolumeMount, task_command
from openstack_emulator.guests.namespace_process import NamespaceProcess, NetworkFailed
from openstack_emulator.guests.orders import Orders
from openstack_emulator.guests.spaces import guest_space

log = logging.getLogger(__name__)

DIRECTORIES = "volumes"
"""The name of the directory with the contents that are directories."""
DISK = ".disk"
"""Of the names of directories that contain what is different from the image, like the disk of a guest."""
FORMER = ".former-"
"""In the names of directories that were replaced, and to which a guest still writes that had them open."""
DEVICE = re.compile(r"/dev/[a-z]+[0-9]*")
HOLD_SECONDS = 30.0
"""How long a guest waits for the end of another one that runs from the same volume: longer than that one may take."""


class Contents(ABC):
    """Carries out what is done to the contents of volumes, one operation after the other.

    directory: of the contents. Names are `volume-ID`, `snapshot-ID` and `backup-ID`; what does not exist is empty.
    `IMAGE` is the content of the guests' image, which is only read.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._held: dict[str, asyncio.Lock] = {}
        self._orders = Orders(_report)

    @abstractmethod
    async def _copy(self, source: str, target: str) -> None:
        """Replace a content by a copy of another one. Raises: OSError."""

    @abstractmethod
    async def _delete(self, *names: str) -> None:
        """Delete contents that exist. Raises: OSError."""

    def copy(self, source: str, target: str) -> asyncio.Future[bool]:
        """Replace a content by a copy of another one; the future says in the end whether that succeeded."""
        ended: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._orders.add(partial(self._copy_for, ended, source, target))
        return ended

    async def _copy_for(self, ended: asyncio.Future[bool], source: str, target: str) -> None:
        succeeded = False
        try:
            await self._copy(source, target)
            succeeded = True
        finally:
            ended.set_result(succeeded)

    def delete(self, name: str) -> None:
        """Delete a content."""
        self._orders.add(partial(self._delete_one, name))

    async def done(self) -> None:
        """Wait until all operations have been carried out."""
        await self._orders.finished()

    async def close(self) -> None:
        """Carry out the operations, and end."""
        await self._orders.close()

    async def delete_all(self) -> None:
        """Delete all contents."""
        await self._delete(*(path.name for path in self._directory.iterdir()))

    async def _delete_one(self, name: str) -> None:
        if (self._directory / name).exists():
            await self._delete(name)

    def lock(self, volume: Volume) -> asyncio.Lock:
        """Return what a guest holds while a volume is its disk, so that no other guest writes to it."""
        return self._held.setdefault(volume.id, asyncio.Lock())


def _report(error: Exception) -> None:
    """Log why an operation failed; with the traceback of what was not expected."""
    expected = isinstance(error, OSError | NetworkFailed)
    log.error("An operation on the content of a volume failed: %s", error, exc_info=None if expected else error)


class Volumes(Contents):
    """Contents that are directories, which guests in namespaces see as devices.

    Those that are made from the image have only what is different from it, in directories with the suffix `DISK`. The
    suffix is not a name in the directory, which a guest could make.

    launcher: makes such directories.
    """

    def __init__(self, directory: Path, launcher: NamespaceLauncher, namespace_process: NamespaceProcess) -> None:
        super().__init__(directory)
        self._launcher = launcher
        self._namespace_process = namespace_process
        self._running: set[str] = set()
        self._shown: set[tuple[str, Volume]] = set()
        self._orders.add(self._delete_former)

    async def _copy(self, source: str, target: str) -> None:
        suffix = DISK if source == IMAGE or self._is_disk(source) else ""
        if source == IMAGE:
            await self._delete_one(f"{target}{DISK}")
            self._launcher.prepare_disk(self._directory / f"{target}{DISK}")
        else:
            await self._replace(f"{source}{suffix}", f"{target}{suffix}")
        await super()._delete_one(target if suffix else f"{target}{DISK}")

    def _is_disk(self, name: str) -> bool:
        return (self._directory / f"{name}{DISK}").exists()

    async def _delete_one(self, name: str) -> None:
        for file_name in (name, f"{name}{DISK}"):
            await super()._delete_one(file_name)

    async def disk(self, volume: Volume) -> Path:
        """Return the directory of a volume that is the disk of a guest, when all that was ordered has been done; a
        volume without a system gets that of the image."""
        await self.done()
        name = f"volume-{volume.id}"
        if not self._is_disk(name):
            await self._copy(IMAGE, name)
        place = self._directory / f"{name}{DISK}"
        self._launcher.prepare_disk(place)
        return place

    async def _delete(self, *names: str) -> None:
        await self._run("delete", *names)

    def attach(self, guest_id: str, volume: Volume) -> None:
        """Show a volume to a guest, if it runs."""
        self._orders.add(partial(self._attach, guest_id, volume))

    def detach(self, guest_id: str, volume: Volume) -> asyncio.Future[bool]:
        """Take a volume from a guest, if it runs; the future says in the end whether the guest has it no more. What the
        guest still has open is not the volume any more."""
        ended: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._orders.add(partial(self._detach_for, ended, guest_id, volume))
        return ended

    async def _detach_for(self, ended: asyncio.Future[bool], guest_id: str, volume: Volume) -> None:
        try:
            await self._detach(guest_id, volume)
        finally:
            ended.set_result((guest_id, volume) not in self._shown)

    async def ready(self, guest_id: str, volumes: list[Volume]) -> list[VolumeMount]:
        """Return the volumes of a guest that is about to run, when all that was ordered has been done."""
        await self.done()
        self.end(guest_id)
        for volume in volumes:
            await self._require(volume)
            self._shown.add((guest_id, volume))
        return [
            VolumeMount(str(self._directory / self._present(volume)), volume.device.strip("/"), self._layered(volume))
            for volume in volumes
            if DEVICE.fullmatch(volume.device)
        ]

    def begin(self, guest_id: str, volumes: list[Volume]) -> None:
        """A guest runs and has its own root directory; these are its volumes, which may have changed since `ready`.

        Until then, its paths are those of this machine.
        """
        self._running.add(guest_id)
        for guest, volume in list(self._shown):
            if guest == guest_id and volume not in volumes:
                self.detach(guest_id, volume)
        for volume in volumes:
            self.attach(guest_id, volume)

    def end(self, guest_id: str) -> None:
        """A guest does not run any more."""
        self._running.discard(guest_id)
        self._orders.add(self._delete_former)
        self._shown = {(other, volume) for other, volume in self._shown if other != guest_id}

    def _present(self, volume: Volume) -> str:
        """Return the name of the directory of a volume."""
        name = f"volume-{volume.id}"
        return f"{name}{DISK}" if self._is_disk(name) else name

    def _layered(self, volume: Volume) -> bool:
        return self._is_disk(f"volume-{volume.id}")

    async def _replace(self, source: str, target: str) -> None:
        await self._run("copy", source, target, f"{target}{FORMER}{uuid4()}")

    async def _delete_former(self) -> None:
        if left := [path.name for path in self._directory.glob(f"*{FORMER}*")]:
            await self._delete(*left)

    async def _run(self, task: str, *names: str) -> None:
        command = task_command(task, self._launcher.ids, self._directory, names=names)
        process = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.DEVNULL)
        if await process.wait() != 0:
            raise OSError(f"the operation {task} on {' and '.join(names)} ended with status {process.returncode}")

    async def _require(self, volume: Volume) -> None:
        if not (self._directory / self._present(volume)).exists():
            name = f"volume-{volume.id}"
            await self._replace(name, name)

    async def _attach(self, guest_id: str, volume: Volume) -> None:
        if (guest_id, volume) in self._shown or guest_id not in self._running:
            return
        if not DEVICE.fullmatch(volume.device):
            log.warning("The volume %s is not shown in its guest at %s: /dev/NAME is needed.", volume.id, volume.device)
            return
        await self._require(volume)
        await self._namespace_process.order(
            "attach", guest_space(guest_id), volume=self._present(volume), device=volume.device,
            layers=self._launcher.image.layers if self._layered(volume) else [],
        )  # fmt: skip
        self._shown.add((guest_id, volume))

    async def _detach(self, guest_id: str, volume: Volume) -> None:
        if (guest_id, volume) not in self._shown or guest_id not in self._running:
            return
        self._shown.discard((guest_id, volume))
        try:
            await self._namespace_process.order("detach", guest_space(guest_id), device=volume.device)
        finally:
            if not any(other.id == volume.id for _, other in self._shown):
                await self._copy(f"volume-{volume.id}", f"volume-{volume.id}")


class DiskLock:
    """Holds the volume that is the disk of a guest while the guest runs, so that no other guest writes to it."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._held: asyncio.Lock | None = None

    async def take(self, root: Volume) -> None:
        """Wait until the volume is the disk of no other guest. Raises: LaunchFailed."""
        lock = self._contents.lock(root)
        try:
            await asyncio.wait_for(lock.acquire(), HOLD_SECONDS)
        except TimeoutError:
            raise LaunchFailed(
                f"The guest cannot be started: another guest runs from the volume {root.id}. Stop its server first."
            ) from None
        self._held = lock

    def release(self) -> None:
        """Let other guests have the volume, if there is one."""
        held, self._held = self._held, None
        if held is not None:
            held.release()
