"""A database file that cannot grow, as on a full disk, or that is read-only."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, event


class LimitedDisk:
    """Has SQLite's transactions on `engine` find no space while `full` is set."""

    def __init__(self, engine: Engine) -> None:
        self.full = False
        event.listen(engine, "begin", self._begin)

    def _begin(self, connection: Any) -> None:
        pages = 1 if self.full else 1_000_000  # SQLite takes at least what the file has now
        connection.connection.driver_connection.execute(f"PRAGMA max_page_count = {pages}")


class ReadOnlyFile:
    """Has SQLite's transactions on `engine` store nothing at all while `read_only` is set."""

    def __init__(self, engine: Engine) -> None:
        self.read_only = True
        event.listen(engine, "begin", self._begin)

    def _begin(self, connection: Any) -> None:
        connection.connection.driver_connection.execute(f"PRAGMA query_only = {int(self.read_only)}")
