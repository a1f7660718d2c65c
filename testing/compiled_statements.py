"""SQL statements that are compiled once in a process, rather than once for each database that a test makes."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any
from unittest.mock import patch

from sqlalchemy import URL, Engine
from sqlalchemy.util import LRUCache

from stoker.store import database

SIZE = 5000


class CompiledStatements(MutableMapping[Any, Any]):
    """Statements of all databases of one dialect: SQLAlchemy's keys begin with the dialect, one for each engine.

    The documented format is that of the execution option `compiled_cache` of SQLAlchemy.
    """

    def __init__(self) -> None:
        self._compiled: LRUCache[Any, Any] = LRUCache(SIZE)

    def __getitem__(self, key: Any) -> Any:
        return self._compiled[key[1:]]

    def __setitem__(self, key: Any, compiled: Any) -> None:
        self._compiled[key[1:]] = compiled

    def __delitem__(self, key: Any) -> None:
        del self._compiled[key[1:]]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._compiled)

    def __len__(self) -> int:
        return len(self._compiled)


def share_compiled_statements() -> None:
    """Let all SQLite databases that this process opens from now on share their compiled statements.

    A listener to SQLAlchemy's events would need less of the store, but every statement of the process would look for
    listeners then, which takes a twentieth of the processor time of a test of the engine.
    """
    compiled = CompiledStatements()
    make = database.create_engine  # type: ignore[attr-defined]

    def sharing(url: URL, **options: Any) -> Engine:
        engine: Engine = make(url, **options)
        if engine.dialect.name == "sqlite":
            engine.update_execution_options(compiled_cache=compiled)
        return engine

    patch.object(database, "create_engine", sharing).start()
