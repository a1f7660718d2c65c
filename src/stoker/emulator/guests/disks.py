"""The contents of volumes of virtual machines: sparse files, which are disks of the machines."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from stoker.emulator.guests.driver import Volume
from stoker.emulator.guests.volumes import Contents

GIBIBYTE = 1 << 30


class DiskContents(Contents):
    """Contents that are raw disk images. give: makes a file the guests'."""

    def __init__(self, directory: Path, give: Callable[[Path], None]) -> None:
        super().__init__(directory)
        self._give = give

    async def disk(self, volume: Volume) -> Path:
        """Return the file of a volume, with at least the size of the volume, when what was ordered has been done."""
        await self.done()
        place = self._directory / f"volume-{volume.id}"
        with place.open("ab") as file:
            if file.tell() < volume.size * GIBIBYTE:
                os.truncate(file.fileno(), volume.size * GIBIBYTE)
        self._give(place)
        return place

    async def _copy(self, source: str, target: str) -> None:
        draft, place = self._directory / f"{target}.part", self._directory / target
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
