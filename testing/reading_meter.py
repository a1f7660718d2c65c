"""What statements read from SQLite: the steps of its virtual machine, and the rows and bytes that it returned.

A statement that looks at a row without returning it takes steps for it, and a search in an index takes one step,
however large the index is. So the steps tell what was looked at, and the rows what was read.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, event


@dataclass(slots=True)
class Spent:
    """What a statement, or several, took; `most` is the number of steps of one execution at most, for each set of
    parameters: how many changes are written together depends on the load.
    """

    executions: int = 0
    steps: int = 0
    most: int = 0
    rows: int = 0
    bytes: int = 0

    def add(self, other: Spent) -> None:
        """Add what other statements took."""
        self.executions += other.executions
        self.steps += other.steps
        self.most = max(self.most, other.most)
        self.rows += other.rows
        self.bytes += other.bytes


@dataclass(slots=True)
class _Execution:
    """The execution of a statement that a connection is in, or was in last."""

    of: Spent
    steps: int = 0
    sets: int = 1


class ReadingMeter:
    """Counts what the statements take of all connections that are opened while it is `attached`, by their SQL."""

    def __init__(self) -> None:
        self.statements: dict[str, Spent] = defaultdict(Spent)

    @contextmanager
    def attached(self) -> Iterator[ReadingMeter]:
        """Count in connections that are opened from now on, until the end of the context."""
        event.listen(Engine, "connect", self._opened)
        event.listen(Engine, "before_cursor_execute", self._began)
        try:
            yield self
        finally:
            event.remove(Engine, "connect", self._opened)
            event.remove(Engine, "before_cursor_execute", self._began)

    def total(self) -> Spent:
        """Return what all statements took together."""
        found = Spent()
        for spent in self.statements.values():
            found.add(spent)
        return found

    def _opened(self, connection: sqlite3.Connection, record: Any) -> None:
        current = record.info["current"] = _Execution(Spent())

        def stepped() -> int:
            current.steps += 1
            current.of.steps += 1
            current.of.most = max(current.of.most, current.steps // current.sets)
            return 0

        def returned(_cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> tuple[Any, ...]:
            current.of.rows += 1
            current.of.bytes += sum(len(value) for value in row if isinstance(value, str | bytes))
            return row

        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()  # reads the schema for all statements
        connection.set_progress_handler(stepped, 1)
        connection.row_factory = returned

    def _began(self, connection: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, many: bool) -> None:
        spent = self.statements[statement]
        spent.executions += 1
        execution = connection.connection.info["current"]
        execution.of, execution.steps, execution.sets = spent, 0, len(parameters) if many else 1
