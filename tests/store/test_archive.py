"""Archives of removed records: complete lines, on the disk before the records are removed, whatever is interrupted."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from stoker.store.archive import Archive
from stoker_foundation.clock import ManualClock


def rows(directory: Path) -> list[Any]:
    return [json.loads(line) for path in sorted(directory.iterdir()) for line in path.read_text().splitlines()]


def test_a_line_has_the_table_the_time_and_the_row(tmp_path: Path) -> None:
    clock = ManualClock(1_000_000.0)
    archive = Archive(tmp_path, "host/one", clock)
    archive.write([("events", {"id": "e1", "reason": "a\nb"}), ("stacks", {"id": "s1", "deleted_at": None})])
    clock.advance(86_400.0)
    archive.write([("events", {"id": "e2"})])
    archive.write([])
    assert rows(tmp_path) == [
        {"table": "events", "removed_at": 1_000_000.0, "row": {"id": "e1", "reason": "a\nb"}},
        {"table": "stacks", "removed_at": 1_000_000.0, "row": {"id": "s1", "deleted_at": None}},
        {"table": "events", "removed_at": 1_086_400.0, "row": {"id": "e2"}},
    ]
    names = ["stoker-host_one-1970-01-12.jsonl", "stoker-host_one-1970-01-13.jsonl"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}


@pytest.mark.parametrize("torn", [b'{"table": "eve', b'{"table": "events", "row": "' + b"x" * 200_000])
@pytest.mark.parametrize("complete", [0, 2])
def test_a_line_that_was_interrupted_is_replaced(tmp_path: Path, torn: bytes, complete: int) -> None:
    archive = Archive(tmp_path, "host", ManualClock(0.0))
    archive.write([("events", {"id": number}) for number in range(complete)])
    path = tmp_path / "stoker-host-1970-01-01.jsonl"
    with path.open("ab") as file:
        file.write(torn)
    archive.write([("events", {"id": complete})])
    assert [line["row"]["id"] for line in rows(tmp_path)] == list(range(complete + 1))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError):
        Archive(tmp_path, "host", ManualClock(0.0)).write([("events", {"id": 1})])


def test_a_missing_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Archive(tmp_path / "missing", "host", ManualClock(0.0)).write([("events", {"id": 1})])
