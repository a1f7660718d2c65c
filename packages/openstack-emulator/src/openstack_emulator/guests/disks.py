"""The contents of volumes of virtual machines: sparse files, which are disks of the machines."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from openstack_emulator.core.guests.driver import IMAGE, Volume
from openstack_emulator.guests.volumes import Contents

GIBIBYTE = 1 << 30


class DiskContents(Contents):
    """Contents that are raw disk images.

    give: makes a file the guests'. install: writes the guests' image to a file.
    """

    def __init__(
        self, directory: Path, give: Callable[[Path], None], install: Callable[[Path], Awaitable[None]]
    ) -> None:
        super().__init__(directory)
        self._give = give
        self._install = install

    async def disk(self, volume: Volume, root: bool = False) -> Path:
        """Return the file of a volume, with at least the size of the volume, when what was ordered has been done.

        root: the volume is the disk of a guest: without a content, it gets that of the image.
        """
        await self.done()
        place = self._directory / f"volume-{volume.id}"
        if root and not place.exists():
            await self._copy(IMAGE, place.name)
        with place.open("ab") as file:
            if file.tell() < volume.size * GIBIBYTE:
                os.truncate(file.fileno(), volume.size * GIBIBYTE)
        self._give(place)
        return place

    async def _copy(self, source: str, target: str) -> None:
        draft, place = self._directory / f"{target}.part", self._directory / target
        if source == IMAGE:
            await self._install(draft)
            draft.rename(place)
            return
        if not (self._directory / source).exists():
            place.unlink(missing_ok=True)
            return
        command = ["cp", "--sparse=always", "--reflink=auto", str(self._directory / source), str(draft)]
        process = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.DEVNULL)
        if await process.wait() != 0:
            draft.unlink(missing_ok=True)
            raise OSError(f"{source} cannot be copied to {target}: cp ended with status {process.returncode}")
        draft.rename(place)

    async def _delete(self, *names: str) -> None:
        for name in names:
            with suppress(FileNotFoundError):
                (self._directory / name).unlink()
