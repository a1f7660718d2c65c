"""One database: connections, migrations, reads in threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.pool import QueuePool

Result = TypeVar("Result")

_READERS = 4


class Database:
    """A database by its SQLAlchemy URL (`sqlite:///path`, `postgresql+psycopg://…`, `mysql+pymysql://…`)."""

    def __init__(self, url: str) -> None:
        self.url = make_url(url)
        self.engine = _engine(url)
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="store-read")

    def migrate(self) -> None:
        """Bring the tables up to this version; safe to call by several processes at once."""
        with self.engine.begin() as connection:
            config = _alembic(connection)
            command.upgrade(config, "head")

    async def read(self, query: Callable[..., Result], *arguments: Any) -> Result:
        """`query(connection, *arguments)` in a thread, in one read transaction."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, self.read_now, query, *arguments)

    def read_now(self, query: Callable[..., Result], *arguments: Any) -> Result:
        """The same on the calling thread."""
        with self.engine.connect() as connection:
            return query(connection, *arguments)

    def close(self) -> None:
        """Give all connections back."""
        self._readers.shutdown(wait=True)
        self.engine.dispose()


def _engine(url: str) -> Engine:
    if make_url(url).get_backend_name() != "sqlite":
        return create_engine(url, pool_pre_ping=True, pool_size=_READERS + 2, max_overflow=2)
    engine = create_engine(url, poolclass=QueuePool, pool_size=_READERS + 2, connect_args={"check_same_thread": False})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        # WAL lets readers go on beside the one writer; NORMAL loses nothing when a process is killed, and FULL
        # costs one fsync a group so that a power cut loses nothing either.
        connection.isolation_level = None
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=10000", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(
            "BEGIN IMMEDIATE" if connection.get_execution_options().get("writes") else "BEGIN DEFERRED"
        )

    return engine


def _alembic(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    return config
