"""What is asked of the database, statement by statement: its kind, its rows, and the rows that it locks."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sqlalchemy import Engine, event

_TABLE = re.compile(r"\b(?:FROM|INTO|UPDATE)\s+([a-z_]+)", re.IGNORECASE)
_TERM = re.compile(r"(?:([a-z_]+)\.)?\"?([a-z_]+)\"?\s*(=|IN)\s*(\((?:\?(?:, )?)+\)|\?)")
_LIST = re.compile(r"\((\?|%\([^)]*\)s)(, (\?|%\([^)]*\)s))*\)")
_WRITES = ("INSERT", "UPDATE", "DELETE")


@dataclass(frozen=True, slots=True)
class Form:
    """What the SQL of a statement tells: `kind` is like `UPDATE resources`, `terms` are the columns that are compared
    with values in its condition, each with the places of the values among all parameters.
    """

    kind: str
    table: str
    writes: bool
    terms: tuple[tuple[str, tuple[int, ...]], ...]


@lru_cache(maxsize=5000)
def form_of(text: str) -> Form:
    """The form of a statement in SQLite's notation."""
    verb = text.lstrip("( ").split(None, 1)[0].upper()
    found = _TABLE.search(text)
    table = found.group(1).lower() if found else ""
    writes = verb in _WRITES
    terms = []
    condition = text.find("WHERE")
    if condition >= 0 and verb != "INSERT":
        for each in _TERM.finditer(text, condition):
            first = text.count("?", 0, each.start())
            terms.append((each.group(2), tuple(range(first, first + each.group(4).count("?")))))
    return Form(f"{verb} {table}".strip(), table, writes, tuple(terms))


def normalized(text: str) -> str:
    """A statement with lists of one length, so that those that differ only in it are one."""
    return _LIST.sub("(…)", " ".join(text.split()))


@dataclass(slots=True)
class Transaction:
    """What was asked between two points in time: the kinds of the statements, the rows of each, the locked rows."""

    statements: list[tuple[str, int]] = field(default_factory=list)
    locked: dict[tuple[str, Any], None] = field(default_factory=dict)
    writes: bool = False


class Recorder:
    """Listens to all statements of this process while it is `attached`; `current` gets those of one transaction.

    With `timed`, the number of rows and the seconds of each are given to it with its kind.
    `examples` has one example of each distinct statement, with its parameters.
    """

    def __init__(self, timed: Callable[[str, int, float], None] | None = None) -> None:
        self.current = Transaction()
        self.counts: Counter[str] = Counter()
        self.examples: dict[str, tuple[str, Any]] = {}
        self._timed = timed
        self._locks = self._deaf = False

    @contextmanager
    def attached(self) -> Iterator[Recorder]:
        """Listen until the end of the context."""
        listeners = (
            ("before_execute", self._asked),
            ("before_cursor_execute", self._began),
            ("after_cursor_execute", self._ended),
        )
        for name, listener in listeners:
            event.listen(Engine, name, listener)
        try:
            yield self
        finally:
            for name, listener in listeners:
                event.remove(Engine, name, listener)

    @contextmanager
    def not_recording(self) -> Iterator[None]:
        """Record nothing until the end of the context."""
        self._deaf = True
        try:
            yield
        finally:
            self._deaf = False

    def take(self) -> Transaction:
        """Return what has been recorded since the last call."""
        found, self.current = self.current, Transaction()
        return found

    def _asked(self, _connection: Any, clause: Any, *_rest: Any) -> None:
        self._locks = getattr(clause, "_for_update_arg", None) is not None  # SQLite's text does not show it

    def _began(
        self, connection: Any, _cursor: Any, text: str, parameters: Any, context: Any, executemany: bool
    ) -> None:
        locks, self._locks = self._locks, False
        if self._deaf or text.startswith(("PRAGMA", "BEGIN")):
            return
        form = form_of(text)
        rows = parameters if executemany else [parameters]
        self.counts[form.kind] += 1
        self.current.statements.append((form.kind, len(rows)))
        example = normalized(text)
        if example not in self.examples:
            self.examples[example] = text, (rows[0] if rows else ())
        if form.writes or locks:
            self.current.writes = True
            for row in rows:
                self._lock(form, row)
        if self._timed is not None:
            connection.info["began"] = time.perf_counter()

    def _lock(self, form: Form, row: Any) -> None:
        if not isinstance(row, tuple | list):
            return
        for column, places in form.terms:
            if column in _KEYS.get(form.table, ("id",)):
                for place in places:
                    self.current.locked[form.table, row[place]] = None
                return

    def _ended(self, connection: Any, _cursor: Any, text: str, parameters: Any, _context: Any, many: bool) -> None:
        if self._timed is not None and (began := connection.info.pop("began", None)) is not None:
            rows = len(parameters) if many else 1
            self._timed(form_of(text).kind, rows, time.perf_counter() - began)


_KEYS = {
    "resources": ("uuid",),
    "trusts": ("credential",),
    "operation_deaths": ("operation_id",),
    "stack_locks": ("stack_id",),
}
"""The columns that name a row, of tables whose key is not `id`."""
