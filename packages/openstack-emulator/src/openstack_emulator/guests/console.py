"""The console log of a guest: a file of bounded size."""

from __future__ import annotations

from pathlib import Path

LARGEST = 1 << 20
"""Bytes after which the older half of a log is dropped: a guest must not fill the disk."""


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

    def read(self) -> str:
        """Return the log; empty if there is none."""
        try:
            return self._path.read_bytes().decode(errors="replace").replace("\r\n", "\n")
        except FileNotFoundError:
            return ""
