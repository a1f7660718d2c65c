"""Compares the database of an embedded Stoker with its mark, and renews the mark."""

from __future__ import annotations

import asyncio
import logging

from stoker.base.clock import Clock, isoformat, sleep
from stoker.processes.mark_files import MARK_SECONDS, Gap, MarkFiles
from stoker.store import marks
from stoker.store.database import Database

LOG = logging.getLogger(__name__)


def look(database: Database, files: MarkFiles) -> Gap | None:
    """Compare the database with its mark, before an engine writes to it, and return what it lacks, as then recorded.

    A gap that was found before remains until it is accepted, or the database that it was found from is back.
    """
    known, mark = files.gap(), files.mark()
    former = {each.stack_id: each for each in known.differences} if known else {}
    is_back = known is not None and database.read_now(marks.has, known.engine, known.marked_at)
    if is_back:
        files.forget_gap()
        known = None
    if mark is None or not database.read_now(marks.is_older, mark):
        return known
    found = {each.stack_id: each for each in database.read_now(marks.differences, mark)}
    # The mark of a database that lacked stacks tells nothing about them when the one that has them is back.
    found = {key: found[key] for key in found if key not in former} if is_back else former | found
    if not found:
        LOG.info("The database is older than its mark of %s, but no stack has changed", isoformat(mark.seen_at))
        return None
    gap = Gap(mark.engine, mark.seen_at, database.read_now(marks.latest), tuple(found.values()))
    files.write_gap(gap)
    return gap


class MarkKeeper:
    """Renews the mark of a database while an engine runs on it."""

    def __init__(self, database: Database, files: MarkFiles, clock: Clock) -> None:
        self._database = database
        self._files = files
        self._clock = clock
        self._event: int | None = None

    async def run(self) -> None:
        """Renew the mark at once, and then again and again, until the task is cancelled."""
        while True:
            try:
                await self.renew()
            except Exception:
                LOG.exception("The mark of the database cannot be renewed, will retry")
            await sleep(self._clock, MARK_SECONDS)

    async def renew(self) -> None:
        """Write the mark of the database as it is now, if there are events since the last one.

        A file that cannot be written is logged.
        """
        if self._event == await self._database.read(marks.last_event):
            return
        mark = await self._database.read(marks.current)
        if mark is None:
            return
        try:
            await asyncio.to_thread(self._files.write_mark, mark)
        except OSError as error:
            LOG.warning("The mark of the database in %s cannot be written: %s", self._files.path, error)
        else:
            self._event = mark.event
