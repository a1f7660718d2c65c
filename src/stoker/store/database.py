"""One database: connections, migrations, reads in threads."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from math import ceil
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import QueuePool

from stoker.base.clock import Clock, sleep
from stoker.base.errors import Invalid
from stoker.store import schema
from stoker.store.failures import passes
from stoker.store.outages import Outage

Result = TypeVar("Result")

_READERS = 4
_SQLITE, _POSTGRESQL = "sqlite", "postgresql"
_DRIVERS = {_SQLITE: "pysqlite", _POSTGRESQL: "psycopg", "mysql": "pymysql", "mariadb": "pymysql"}
_EXAMPLE = "postgresql+psycopg://USER:PASSWORD@HOST:PORT/NAME"
_CONNECT_SECONDS = 10
_RETRY_SECONDS = 0.5

_LOCK = {
    _POSTGRESQL: ("SELECT pg_advisory_lock(1937010539)", "SELECT pg_advisory_unlock(1937010539)"),
    "mysql": ("SELECT GET_LOCK('stoker-schema', 600)", "SELECT RELEASE_LOCK('stoker-schema')"),
    "mariadb": ("SELECT GET_LOCK('stoker-schema', 600)", "SELECT RELEASE_LOCK('stoker-schema')"),
}
"""By backend, how one process at a time migrates; SQLite has one writer anyway."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pool:
    """Connections of one process (heat.conf, section database): `size` are kept, 0 being no limit, and `overflow` more
    may be open for a while. One is waited for `timeout` seconds and renewed after `recycle` seconds; -1 is never.

    `idle_transaction` are the seconds after which the server ends a transaction in which nothing is asked for any more:
    that of a process that is paused, or of a machine that is gone, would keep its locks and hold everybody else up.
    """

    size: int = 5
    overflow: int = 50
    timeout: float | None = None
    recycle: int = 3600
    idle_transaction: float | None = None

    def options(self) -> dict[str, Any]:
        """The same in SQLAlchemy's words."""
        waiting = {} if self.timeout is None else {"pool_timeout": self.timeout}
        return {"pool_size": self.size, "max_overflow": self.overflow, "pool_recycle": self.recycle, **waiting}


class Database:
    """A database by its SQLAlchemy URL (`sqlite:///path`, `postgresql://…`, `mysql://…`).

    Raises Invalid for a URL that is none, or of a database that cannot be used.
    """

    def __init__(self, url: str, pool: Pool | None = None) -> None:
        self.url = _checked(url)
        self.engine = _engine(self.url, pool or Pool())
        self._outage = Outage("read")
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="store-read")

    async def wait_until_reachable(self, attempts: int, interval: float, clock: Clock) -> None:
        """Return once the database answers, which is tried `attempts` times (-1: for ever), `interval` seconds apart.

        Raises Invalid with what the last attempt came to. A file is tried once: waiting does not make it readable.
        """
        if self.url.get_backend_name() == _SQLITE:
            attempts = 1
        for attempt in count(1):
            try:
                return await self._on_reader(partial(self.read_now, lambda connection: None))
            except DBAPIError as error:
                shown = self.url.render_as_string(hide_password=True)
                if 0 <= attempts <= attempt:
                    raise Invalid(
                        f"The database {shown} cannot be reached ([database] connection): {error.orig}"
                    ) from error
                _log.warning("The database %s cannot be reached, trying again in %g s: %s", shown, interval, error.orig)
            await sleep(clock, interval)

    def migrate(self) -> None:
        """Bring the tables up to this version; safe to call by several processes at once."""
        lock, unlock = _LOCK.get(self.url.get_backend_name(), (None, None))
        if lock is None or unlock is None:
            with self.writing() as connection:
                schema.upgrade(connection)
            return
        with self.engine.connect() as holder:
            holder.execute(text(lock))
            try:
                with self.writing() as connection:
                    schema.upgrade(connection)
            finally:
                holder.execute(text(unlock))

    async def read(self, query: Callable[..., Result], *arguments: Any) -> Result:
        """`query(connection, *arguments)` in a thread. Several statements in it need no common moment, and get none.

        While the database is away or busy it is asked again, so that work pauses and goes on.
        """
        return await self.read_on(self._on_reader, query, *arguments)

    async def read_on(
        self,
        thread: Callable[[Callable[[], Result]], Awaitable[Result]],
        query: Callable[..., Result],
        *arguments: Any,
    ) -> Result:
        """As `read`, on a thread of the caller's, which `thread` runs a function on: for queries that compute much."""
        work = partial(self.read_now, query, *arguments)
        while True:
            try:
                found = await thread(work)
            except DBAPIError as error:
                if not passes(error):
                    raise
                self._outage.failed(error.orig)
            else:
                self._outage.succeeded()
                return found
            await asyncio.sleep(_RETRY_SECONDS)

    async def _on_reader(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._readers, work)

    def read_now(self, query: Callable[..., Result], *arguments: Any) -> Result:
        """The same on the calling thread."""
        with self.engine.connect() as connection:
            return query(connection, *arguments)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that writes, committed in the end. On SQLite it is the only one from its beginning on, so that
        it waits for another one there and not in its middle, where it might have to give way.
        """
        with self.engine.begin() as connection:
            if connection.dialect.name == _SQLITE:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection

    def close(self) -> None:
        """Give all connections back."""
        self._readers.shutdown(wait=True)
        self.engine.dispose()


def _checked(url: str) -> URL:
    """The URL, with the driver that is ours. What is told of it has no password in it."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise Invalid(f"[database] connection: this is no URL of a database. It looks like {_EXAMPLE}.") from None
    backend, _, driver = parsed.drivername.partition("+")
    ours = _DRIVERS.get(backend)
    if ours is None or driver not in ("", ours):
        known = ", ".join(f"{backend}+{driver}" for backend, driver in _DRIVERS.items())
        raise Invalid(f"[database] connection: {parsed.drivername} is not supported; use one of {known}.")
    in_memory = not parsed.database or ":memory:" in parsed.database or parsed.query.get("mode") == "memory"
    if backend == _SQLITE and in_memory:
        raise Invalid("[database] connection: nothing is kept in memory; name a file, sqlite:////path/of/the/file.")
    return parsed.set(drivername=f"{backend}+{ours}")


def _engine(url: URL, pool: Pool) -> Engine:
    if url.get_backend_name() != _SQLITE:
        try:
            return _server_engine(url, pool)
        except ImportError as error:
            extra = "postgresql" if url.get_backend_name() == _POSTGRESQL else "mysql"
            raise Invalid(
                f"[database] connection: the driver of {url.drivername} is missing ({error}); install it with "
                f"`pip install 'stoker[{extra}]'`."
            ) from error
    engine = create_engine(url, poolclass=QueuePool, connect_args={"check_same_thread": False}, **pool.options())

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        # WAL lets readers go on beside the one writer; NORMAL loses nothing when a process is killed, and FULL
        # costs one fsync a group so that a power cut loses nothing either.
        connection.isolation_level = None
        for pragma in ("busy_timeout=10000", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    return engine


def _server_engine(url: URL, pool: Pool) -> Engine:
    """Each statement sees what others have committed, so that whoever waited for a row's lock reads what it is now."""
    engine = create_engine(
        url,
        pool_pre_ping=True,
        isolation_level="READ COMMITTED",
        connect_args={"connect_timeout": _CONNECT_SECONDS},
        **pool.options(),
    )
    if pool.idle_transaction is not None:
        limit = _IDLE_LIMIT[engine.dialect.name](pool.idle_transaction)
        event.listen(engine, "connect", lambda connection, _record: limit(connection))
    return engine


def _limit_on_postgresql(seconds: float) -> Callable[[Any], None]:
    def limit(connection: Any) -> None:
        connection.execute(f"SET SESSION idle_in_transaction_session_timeout = {seconds * 1000:.0f}")
        connection.commit()

    return limit


def _limit_on_mysql(seconds: float) -> Callable[[Any], None]:
    """MySQL knows no limit but for all idle connections; those of the pool are then renewed before they are used."""

    def limit(connection: Any) -> None:
        name = "idle_transaction_timeout" if "MariaDB" in connection.server_version else "wait_timeout"
        with connection.cursor() as cursor:
            cursor.execute(f"SET SESSION {name} = {ceil(seconds)}")

    return limit


_IDLE_LIMIT = {_POSTGRESQL: _limit_on_postgresql, "mysql": _limit_on_mysql, "mariadb": _limit_on_mysql}
