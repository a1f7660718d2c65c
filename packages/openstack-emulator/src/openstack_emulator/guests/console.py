"""The console log of a guest: a file of bounded size."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

LARGEST = 1 << 20
"""Bytes after which the older half of a log is dropped: a guest must not fill the disk."""
READ_BYTES = 1 << 16


class ConsoleLog:
    """What a guest has written to its console, in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, data: bytes) -> None:
        with self._path.open("ab") as file:
            file.write(data)
            size = file.tell()
        if size > LARGEST:
            self._path.write_bytes(self._path.read_bytes()[-LARGEST // 2 :])

    async def keep(self, reading: int) -> None:
        """Write what comes through a pipe, until no process has it open for writing. reading: its descriptor."""
        reader = asyncio.StreamReader()
        pipe = os.fdopen(reading, "rb", buffering=0)
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        while data := await reader.read(READ_BYTES):
            self.write(data)

    def read(self) -> str:
        """Return the log; empty if there is none."""
        try:
            return self._path.read_bytes().decode(errors="replace").replace("\r\n", "\n")
        except FileNotFoundError:
            return ""
