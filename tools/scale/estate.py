"""The database of a large estate: stacks of the three shapes that engines have made, and copies of their rows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import func, select

from stoker.store.database import Database
from stoker.store.tables import resources, stacks
from stoker.testing.sandbox import unsynchronized_database
from testing.estate import multiply

CACHE_KILOBYTES = 1_000_000
"""For the indexes, into which rows are sorted as they come."""


@contextmanager
def place() -> Iterator[Path]:
    """A directory for the database, in memory where there is enough of it."""
    memory = Path("/dev/shm")
    roomy = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 6 * 2**30
    with TemporaryDirectory(prefix="stoker-scale-", dir=memory if roomy else None) as directory:
        yield Path(directory)


def opened(path: Path) -> Database:
    """A database that waits for no disk."""
    return unsynchronized_database(f"sqlite:///{path}")


def fill(database: Database, number: int) -> None:
    """Copy everything that is recorded until so many resources exist, a quarter of them in deleted stacks."""
    recorded, _ = counted(database)
    if number > recorded:
        with database.engine.begin() as connection:
            connection.exec_driver_sql(f"PRAGMA cache_size=-{CACHE_KILOBYTES}")
            multiply(connection, -(-number // recorded) - 1)


def counted(database: Database) -> tuple[int, int]:
    """The number of resources and of outermost stacks that are recorded."""
    with database.engine.connect() as connection:
        outermost = select(func.count()).select_from(stacks).where(stacks.c.parent_id.is_(None))
        return (
            connection.execute(select(func.count()).select_from(resources)).scalar_one(),
            connection.execute(outermost).scalar_one(),
        )
