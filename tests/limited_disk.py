"""A database file that cannot grow, as on a full disk."""

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
