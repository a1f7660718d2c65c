"""Stacks come and go, in virtual time: memory and database stay as large as they were after the first ones."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import func, select

from stoker.store import tables
from stoker.testing.sandbox import Sandbox

pytestmark = pytest.mark.slow

ROUNDS = 12
RESOURCES = 100
"""In each round a stack of so many is created, changed and deleted."""
MEBIBYTE = 2**20


class Limited(Sandbox):
    """A sandbox that keeps little of what is gone, and looks for it each hour."""

    _settings = replace(
        Sandbox._settings,
        deleted_stacks_kept=1,
        max_events_per_stack=20,
        event_purge_batch_size=1,
        max_operations_per_stack=3,
    )

    @property
    def rows(self) -> dict[str, int]:
        """The number of rows of each table."""
        with self._database.engine.connect() as connection:
            return {
                table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
                for table in tables.metadata.sorted_tables
            }

    @property
    def database_bytes(self) -> int:
        """The size of the database without free pages."""
        with self._database.engine.connect() as connection:
            pages, free, size = (
                int(connection.exec_driver_sql(f"PRAGMA {name}").scalar_one())
                for name in ("page_count", "freelist_count", "page_size")
            )
        return (pages - free) * size


def resident() -> int:
    """The memory of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture
def sandbox() -> Iterator[Limited]:
    made = Limited()
    yield made
    made.close()


def template(directory: Path, text: str) -> Path:
    path = directory / "stack.yaml"
    resources = "".join(
        f"  r{number}:\n    type: OS::Heat::Value\n    properties: {{value: {text} {number}}}\n"
        for number in range(RESOURCES)
    )
    path.write_text(f"heat_template_version: 2021-04-16\nresources:\n{resources}")
    return path


def round_trip(sandbox: Limited, directory: Path, number: int) -> None:
    """A stack comes, changes and goes; another one, which stays, changes; and an hour passes."""
    name = f"round{number}"
    sandbox.deploy(name, template(directory, "first"))
    sandbox.deploy(name, template(directory, "second"))
    sandbox.delete(name)
    living = directory / "living.yaml"
    living.write_text(
        "heat_template_version: 2021-04-16\nresources:\n"
        f"  text: {{type: OS::Heat::Value, properties: {{value: round {number}}}}}\n"
    )
    sandbox.deploy("living", living)
    sandbox.advance(3700.0)


def test_soak_leaves_no_memory_or_rows(sandbox: Limited, tmp_path: Path) -> None:
    for number in range(6):  # caches fill, and the stack that stays reaches its limits
        round_trip(sandbox, tmp_path, number)
    gc.collect()
    rows, size, memory = sandbox.rows, sandbox.database_bytes, resident()
    for number in range(6, ROUNDS):
        round_trip(sandbox, tmp_path, number)
    gc.collect()
    grown = resident() - memory
    assert {name: (was, sandbox.rows[name]) for name, was in rows.items() if sandbox.rows[name] > was} == {}
    assert sandbox.database_bytes <= size * 1.1
    assert grown < 10 * MEBIBYTE, f"{grown / MEBIBYTE:.1f} MiB"
