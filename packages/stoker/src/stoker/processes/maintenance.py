"""Maintenance of the database that the engines share: its tables, and the records of deleted stacks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from oslo_config import cfg

from stoker.processes.opened_database import database_pool, opened_database
from stoker.store import claims, marks, purging, schema
from stoker.store.archive import Archive
from stoker.store.database import Database
from stoker_foundation.clock import SystemClock

Result = TypeVar("Result")


def on_any_database(config: cfg.ConfigOpts, work: Callable[[Database], Result]) -> Result:
    """Return the result of `work` on the configured database, whatever its tables.

    Its statements may take any time: they work on whole tables, and no lease depends on them.
    Raises cfg.Error when none is configured, Invalid when it cannot be reached or used.
    """

    async def run() -> Result:
        async with opened_database(config, replace(database_pool(config), silence=None)) as opened:
            return await asyncio.to_thread(work, opened)

    return asyncio.run(run())


def on_database(config: cfg.ConfigOpts, work: Callable[[Database], Result]) -> Result:
    """Like `on_any_database`, for work on the tables. Raises Invalid if they do not fit this release."""

    def require_fit(opened: Database) -> Result:
        opened.read_now(schema.require_fit)
        return work(opened)

    return on_any_database(config, require_fit)


def versions(config: cfg.ConfigOpts) -> schema.Versions:
    """Return the revisions of the tables and of this release."""
    return on_any_database(config, lambda opened: opened.read_now(schema.versions))


def sync(config: cfg.ConfigOpts) -> schema.Versions:
    """Create the tables, or upgrade them to this release. Engines of the previous release continue to work."""

    def upgrade(opened: Database) -> schema.Versions:
        opened.migrate()
        return opened.read_now(schema.versions)

    return on_any_database(config, upgrade)


def purge(config: cfg.ConfigOpts, age: float, project_id: str | None, batch: int) -> tuple[int, bool]:
    """Remove stacks that were deleted more than `age` seconds ago, `batch` at a time; return how many, and whether the
    file of an SQLite database could be rewritten without free pages.

    With them, all that no other stack uses is removed, and engines that have not reported themselves for a day, except
    for the last one. What is removed is archived before if `archive_directory` is set.
    """
    clock = SystemClock()
    now, directory = clock.now(), config.engine.archive_directory
    archive = Archive(Path(directory), config.host, clock) if directory else None

    def forget(opened: Database) -> tuple[int, bool]:
        total = 0
        while True:
            with opened.writing() as connection:
                removal = purging.deleted_stacks(connection, archive is not None, now - age, project_id, batch)
                if removal is None:
                    break
                if archive is not None:
                    archive.write(removal.lines)
                total += removal.carry_out(connection)
        with opened.writing() as connection:
            last = marks.latest(connection)  # the engine that the database's mark names
            before = now - claims.REMEMBERED_SECONDS
            claims.forget_engines(connection, before if last is None else min(before, last))
            purging.forget_writers(connection, now - claims.REMEMBERED_SECONDS)
        return total, purging.compact(opened)

    return on_database(config, forget)
