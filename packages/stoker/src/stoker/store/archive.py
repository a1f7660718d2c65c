"""Archives of removed records: files of JSON lines, written before the records are removed."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from stoker_foundation.clock import Clock

_PIECE = 65_536
"""Bytes that are read at once to find the end of the last complete line."""

Line = tuple[str, Mapping[str, Any]]
"""A removed row, and the name of its table."""


class Archive:
    """Appends rows to `stoker-HOST-DATE.jsonl` in a directory, a file for each day (UTC).

    A line is `{"table": …, "removed_at": …, "row": {…}}`; what is encrypted in the database stays so. A record whose
    removal was interrupted is written again by the next attempt: the last line of a row counts.
    """

    def __init__(self, directory: Path, host: str, clock: Clock) -> None:
        self._directory = directory
        self._host = re.sub(r"[^A-Za-z0-9.-]", "_", host)
        self._clock = clock

    def write(self, lines: Iterable[Line]) -> None:
        """Append rows, and return when they are on the disk. Raises OSError."""
        now = self._clock.now()
        data = b"".join(
            orjson.dumps(_plain(table, now, row), default=str, option=orjson.OPT_APPEND_NEWLINE) for table, row in lines
        )
        if not data:
            return
        path = self._directory / f"stoker-{self._host}-{datetime.fromtimestamp(now, UTC):%Y-%m-%d}.jsonl"
        is_new = not path.exists()
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            _cut_torn_line(descriptor)
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if is_new:
            _sync_directory(self._directory)


def _plain(table: str, now: float, row: Mapping[str, object]) -> dict[str, object]:
    return {"table": str(table), "removed_at": now, "row": {str(name): value for name, value in row.items()}}


def _cut_torn_line(descriptor: int) -> None:
    """Remove what a process wrote last that died before the line was complete: its rows have not been removed."""
    size = end = os.fstat(descriptor).st_size
    while end:
        start = max(0, end - _PIECE)
        found = os.pread(descriptor, end - start, start).rfind(b"\n")
        if found >= 0:
            end = start + found + 1
            break
        end = start
    if end < size:
        os.ftruncate(descriptor, end)


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
