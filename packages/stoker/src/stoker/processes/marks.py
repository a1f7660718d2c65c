"""Compares a database with its mark, and renews the mark."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from stoker.processes.mark_files import MARK_SECONDS, Gap, MarkFiles
from stoker.store import marks
from stoker.store.database import Database
from stoker.store.mark_records import Mark, ShownId
from stoker_foundation.clock import Clock, isoformat, sleep

LOG = logging.getLogger(__name__)

_COST = 50.0
"""The mark of a large database is renewed after this many times as long as it takes, at least."""

_LAST_SECONDS = 5.0
"""How long the last renewal waits for the database."""


def compare_with_mark(connection: Connection, files: MarkFiles, shown: ShownId, replaced: bool = False) -> Gap | None:
    """Compare the database with its mark, before an engine reports itself, and return what it lacks, as then recorded.

    A gap that was found before remains until it is accepted, or the database that it was found from is back. `replaced`
    tells that the database is older, which its reports do not show when an engine has continued to use it.
    """
    known, mark = files.gap(), files.mark()
    is_back = known is not None and marks.has(connection, known.engine, known.marked_at)
    older = mark is not None and (replaced or marks.is_older(connection, mark))
    gap = None if is_back else known
    if mark is not None and older:
        gap = _gap(connection, mark, shown, known, is_back)
        if gap is None:
            LOG.info("The database is older than its mark of %s, but no stack has changed", isoformat(mark.seen_at))
    with _logged(files):
        if gap is None and known is not None:
            files.forget_gap()
        elif gap is not None and gap is not known:
            files.write_gap(gap)
    return gap


def _gap(connection: Connection, mark: Mark, shown: ShownId, known: Gap | None, is_back: bool) -> Gap | None:
    """Return what an older database lacks; `known` was found before, unless the database that has it `is_back`."""
    former = {each.stack_id: each for each in known.differences} if known else {}
    found = {each.stack_id: each for each in marks.differences(connection, mark, shown)}
    # The mark of a database that lacked stacks tells nothing about them when the one that has them is back.
    found = {key: found[key] for key in found if key not in former} if is_back else former | found
    return Gap(mark.engine, mark.seen_at, marks.latest(connection), tuple(found.values())) if found else None


@contextmanager
def _logged(files: MarkFiles) -> Iterator[None]:
    """Log an error of writing the files, which prevents nothing else."""
    try:
        yield
    except OSError as error:
        LOG.warning("The mark of the database in %s cannot be written: %s", files.path, error)


class MarkKeeper:
    """Looks whether a database is older than its mark, and renews the mark while an engine runs on it.

    `options` of `stoker db compare` name the database in the log.
    """

    def __init__(self, database: Database, files: MarkFiles, clock: Clock, shown: ShownId, options: str) -> None:
        self._database = database
        self._files = files
        self._clock = clock
        self._shown = shown
        self._options = options
        self._event: int | None = None
        self._running: asyncio.Task[None] | None = None

    async def compare_with_mark(self, *, replaced: bool = False) -> None:
        """Log what the database lacks if it is older than its mark (see the function `compare_with_mark`)."""
        if gap := await self._database.read(compare_with_mark, self._files, self._shown, replaced):
            LOG.critical("%s", gap.sentence(self._options))

    def begin(self) -> None:
        """Renew the mark at once, and then again and again, until `stop`."""
        self._running = asyncio.ensure_future(self._run())

    async def stop(self) -> None:
        """Renew the mark for the last time; a database that cannot be read is not waited for."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)
            try:
                async with asyncio.timeout(_LAST_SECONDS):
                    await self.renew()
            except (TimeoutError, DBAPIError) as error:
                LOG.warning("The mark of the database is not renewed for the last time: %r", error)

    async def _run(self) -> None:
        while True:
            began = monotonic()
            try:
                await self.renew()
            except Exception:
                LOG.exception("The mark of the database cannot be renewed, will retry")
            await sleep(self._clock, max(MARK_SECONDS, _COST * (monotonic() - began)))

    async def renew(self) -> None:
        """Write the mark of the database as it is now, if there are events since the last one.

        If there are fewer than then, the database was replaced by an older one under the running engine. A file that
        cannot be written is logged.
        """
        event = await self._database.read(marks.last_event)
        if event == self._event:
            return
        if event < (self._event or 0):
            await self.compare_with_mark(replaced=True)
        mark = await self._database.read(marks.current, self._shown)
        if mark is None:
            return
        with _logged(self._files):
            await asyncio.to_thread(self._files.write_mark, mark)
            self._event = mark.event
