"""The database: connections, migrations, reads on threads, log messages about its outages, and requests that expire.

A request whose sender has stopped waiting is answered with an error. It must not take effect later, for example when a
locked database is free again: what it has not committed by then is not committed any more. The journal asks right
before it commits a request's first batch; from then on, the request is carried out to its end.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from math import ceil
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from stoker.base.errors import Invalid, StokerError
from stoker.store import schema
from stoker.store.answers import ReadingThreads
from stoker.store.failures import passes, unusable
from stoker.store.silence import notice_silence
from stoker_foundation.clock import Clock, sleep


class RequestExpired(StokerError):
    """The sender of the request has got an error meanwhile, so nothing may be committed for it."""


class Expiry:
    """Decides, for one request, between the end of its sender's timeout and its first commit. It is thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._expired = False
        self._begun = False

    @property
    def expired(self) -> bool:
        """Whether the request has expired, and nothing is committed for it."""
        return self._expired and not self._begun

    def expire(self) -> bool:
        """Let nothing be committed from now on; return False if something is committed already, or is just being."""
        with self._lock:
            self._expired = True
            return not self._begun

    def may_commit(self) -> bool:
        """Return whether the request's batch may be committed, which is then going to happen."""
        with self._lock:
            self._begun = self._begun or not self._expired
            return self._begun


EXPIRY: ContextVar[Expiry | None] = ContextVar("EXPIRY", default=None)
"""The expiry of the request that the current task carries out; None in other tasks."""


@contextmanager
def outside_request() -> Iterator[None]:
    """Commit, or start tasks that commit, independently of the request that the current task carries out."""
    token = EXPIRY.set(None)
    try:
        yield
    finally:
        EXPIRY.reset(token)


_log = logging.getLogger(__name__)

_SILENT_SECONDS = 30.0
"""Interval of messages during an outage: several attempts per second fail."""


class Outage:
    """Tracks the failures of one kind of database access; `done` names it (“read”, “written”).

    `now` returns seconds from an arbitrary start.
    """

    def __init__(self, done: str, now: Callable[[], float] = time.monotonic) -> None:
        self._done = done
        self._now = now
        self._began: float | None = None
        self._announced = False
        self._announced_at: float | None = None

    def failed(self, error: BaseException | None) -> None:
        """Record that an attempt has failed and will be retried."""
        now = self._now()
        if self._began is None:
            self._began, self._announced = now, False
        if self._announced_at is None or now >= self._announced_at + _SILENT_SECONDS:
            _log.warning("The database cannot be %s, retrying: %s", self._done, error)
            self._announced, self._announced_at = True, now

    def succeeded(self) -> None:
        """Record that an attempt has succeeded."""
        if self._began is not None and self._announced:
            _log.info("The database can be %s again, after %.0f seconds", self._done, self._now() - self._began)
        self._began = None


Result = TypeVar("Result")

_SQLITE, _POSTGRESQL = "sqlite", "postgresql"
_DRIVERS = {_SQLITE: "pysqlite", _POSTGRESQL: "psycopg", "mysql": "pymysql", "mariadb": "pymysql"}
_EXAMPLE = "postgresql+psycopg://USER:PASSWORD@HOST:PORT/NAME"
_CONNECT_SECONDS = 10
_RETRY_SECONDS = 0.5
_RECENT_SECONDS = 1.0
"""For how long a connection that was used is taken to be there still."""

_USED = "stoker_used"
"""The entry with the time of the last use in what a pool keeps of a connection."""

_LOCK = {
    _POSTGRESQL: ("SELECT pg_advisory_lock(1937010539)", "SELECT pg_advisory_unlock(1937010539)"),
    "mysql": ("SELECT GET_LOCK('stoker-schema', 600)", "SELECT RELEASE_LOCK('stoker-schema')"),
    "mariadb": ("SELECT GET_LOCK('stoker-schema', 600)", "SELECT RELEASE_LOCK('stoker-schema')"),
}
"""Statements, by backend, that let only one process migrate at a time; SQLite has only one writer anyway."""


_READ_ONLY = {
    _SQLITE: "PRAGMA query_only=ON",
    _POSTGRESQL: "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
    "mysql": "SET SESSION TRANSACTION READ ONLY",
    "mariadb": "SET SESSION TRANSACTION READ ONLY",
}
"""Statements, by backend, after which a connection refuses whatever writes."""

_WAITING = "busy_timeout=10000"
_READING_PRAGMAS = (_WAITING, "schema_version")
"""What a connection to SQLite executes first. The second reads the file, so that one that cannot be used is noticed."""

_WRITING_PRAGMAS = (_WAITING, "auto_vacuum=INCREMENTAL", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON")
"""The same for one that writes. A new file can shrink if that is set before the file has any content; otherwise the
pragma has no effect, but takes as long as reading the schema. With WAL, which is a property of the file, readers do not
block for the writer. NORMAL loses nothing when a process is killed; FULL costs one fsync per group, so that a power
failure loses nothing either.
"""


@dataclass(frozen=True, slots=True)
class Pool:
    """Connections of one process (heat.conf, section database).

    At most `readers` threads read at the same time, each with a connection of its own: with fewer, short reads wait for
    long ones. `size` connections are kept open (0: no limit), and `overflow` more may be opened temporarily. `timeout`
    is how long to wait for a free one, in seconds; connections are renewed after `recycle` seconds (-1: never).

    After `idle_transaction` seconds without a statement the server ends a transaction: otherwise that of a paused
    process, or of a lost machine, would keep its locks and block all others. A connection on which the server is silent
    for `silence` seconds while a statement waits for it is closed (see `stoker.store.silence`).

    `parameters` (`name=value&name=value`) are added to the URL. `wsrep_sync_wait` is set in each session of a Galera
    cluster: with 1, for example, reads wait until the node has all writes of the other nodes. With `read_only`, the
    server refuses whatever writes.
    """

    size: int = 5
    overflow: int = 50
    timeout: float | None = None
    recycle: int = 3600
    idle_transaction: float | None = None
    silence: float | None = None
    parameters: str = ""
    wsrep_sync_wait: int | None = None
    read_only: bool = False
    readers: int = 4

    def options(self) -> dict[str, Any]:
        """Return the arguments for SQLAlchemy's `create_engine`."""
        waiting = {} if self.timeout is None else {"pool_timeout": self.timeout}
        return {"pool_size": self.size, "max_overflow": self.overflow, "pool_recycle": self.recycle, **waiting}


class Database:
    """A database by its SQLAlchemy URL (`sqlite:///path`, `postgresql://…`, `mysql://…`).

    Raises Invalid for a malformed URL, or one of a database that is not supported.
    """

    def __init__(self, url: str, pool: Pool | None = None) -> None:
        self._pool = pool or Pool()
        self.url = _checked(url).update_query_string(self._pool.parameters, append=True)
        self.engine = _engine(self.url, self._pool)
        self._reading = _reading_engine(self.url, self._pool)
        self._outage = Outage("read")
        self._readers = ReadingThreads(self._pool.readers, "store-read")

    async def wait_until_reachable(self, attempts: int, interval: float, clock: Clock) -> None:
        """Wait until the database answers: up to `attempts` attempts (-1: no limit), `interval` seconds apart.

        Raises Invalid with the error of the last attempt. A file is tried only once: waiting does not make it
        readable.
        """
        reach = partial(self._on_reader, partial(self.read_now, lambda connection: None))
        await self._attempt(reach, "reached", lambda error: True, attempts, interval, clock)

    async def wait_until_stored(
        self, work: Callable[[], Awaitable[None]], attempts: int, interval: float, clock: Clock
    ) -> None:
        """Do `work`, which writes, again and again while the database cannot store anything: its disk may be full, or
        it is read-only for a while. The limits and errors are those of `wait_until_reachable`.
        """
        await self._attempt(work, "written", unusable, attempts, interval, clock)

    async def _attempt(
        self,
        work: Callable[[], Awaitable[None]],
        done: str,
        may_pass: Callable[[DBAPIError], bool],
        attempts: int,
        interval: float,
        clock: Clock,
    ) -> None:
        if self.url.get_backend_name() == _SQLITE:
            attempts = 1
        for attempt in count(1):
            try:
                return await work()
            except DBAPIError as error:
                if not may_pass(error):
                    raise
                shown = self.url.render_as_string(hide_password=True)
                if 0 <= attempts <= attempt:
                    raise Invalid(
                        f"The database {shown} cannot be {done} ([database] connection): {error.orig}"
                    ) from error
                _log.warning("The database %s cannot be %s, retrying in %g s: %s", shown, done, interval, error.orig)
            await sleep(clock, interval)

    def migrate(self) -> None:
        """Upgrade the tables to this release; several processes may call this at the same time.

        The connections have no limits of time: the one that holds the lock waits for the whole migration.
        """
        lock, unlock = _LOCK.get(self.url.get_backend_name(), (None, None))
        if lock is None or unlock is None:
            with self.writing() as connection:
                schema.upgrade(connection)
            return
        patient = _engine(self.url, replace(self._pool, idle_transaction=None, silence=None))
        try:
            with patient.connect() as holder:
                holder.execute(text(lock))
                try:
                    with patient.begin() as connection:
                        schema.upgrade(connection)
                finally:
                    holder.execute(text(unlock))
        finally:
            patient.dispose()

    async def read(self, query: Callable[..., Result], *arguments: object) -> Result:
        """Run `query(connection, *arguments)` on a thread. Its statements do not share a snapshot of the database.

        It is retried while the database is unreachable or busy, so that work pauses and resumes.
        """
        return await self.read_on(self._on_reader, query, *arguments)

    async def read_on(
        self,
        thread: Callable[[Callable[[], Result]], Awaitable[Result]],
        query: Callable[..., Result],
        *arguments: object,
    ) -> Result:
        """Like `read`, with a function `thread` that runs a function on a thread: for queries that compute much."""
        while True:
            try:
                found = await thread(partial(self.read_now, query, *arguments))
            except DBAPIError as error:
                if not passes(error):
                    raise
                self._outage.failed(error.orig)
            else:
                self._outage.succeeded()
                return found
            await asyncio.sleep(_RETRY_SECONDS)

    async def _on_reader(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._readers, copy_context().run, work)

    def read_now(self, query: Callable[..., Result], *arguments: object) -> Result:
        """Like `read`, on the calling thread."""
        with self._reading.connect() as connection:
            return query(connection, *arguments)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction that writes, and commit it at the end.

        On SQLite it locks the database from its beginning, so that it waits for another writer there, and not later,
        when it might have to be rolled back.
        """
        with self.engine.begin() as connection:
            if connection.dialect.name == _SQLITE:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection

    async def close_unused(self) -> None:
        """Close the connections to SQLite that nobody uses: each has copies of up to 2 MB of the file.

        Connections to a server stay open, since opening one takes the server's time.
        """
        if self.url.get_backend_name() == _SQLITE:
            await self._on_reader(self.dispose)

    def dispose(self) -> None:
        """Close the connections that nobody uses; one that is in use is closed when it is returned."""
        self.engine.dispose()
        self._reading.dispose()

    def close(self) -> None:
        """Close all connections."""
        self._readers.shutdown(wait=True)
        self.dispose()


def _checked(url: str) -> URL:
    """Return the URL with Stoker's driver. Error messages do not contain its password."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise Invalid(f"[database] connection: this is not the URL of a database. Example: {_EXAMPLE}.") from None
    backend, _, driver = parsed.drivername.partition("+")
    ours = _DRIVERS.get(backend)
    if ours is None or driver not in ("", ours):
        known = ", ".join(f"{backend}+{driver}" for backend, driver in _DRIVERS.items())
        raise Invalid(f"[database] connection: {parsed.drivername} is not supported; use one of {known}.")
    in_memory = not parsed.database or ":memory:" in parsed.database or parsed.query.get("mode") == "memory"
    if backend == _SQLITE and in_memory:
        raise Invalid(
            "[database] connection: in-memory databases are not supported; name a file: sqlite:////path/of/the/file."
        )
    return parsed.set(drivername=f"{backend}+{ours}")


def _engine(url: URL, pool: Pool) -> Engine:
    if url.get_backend_name() != _SQLITE:
        try:
            # A statement that has waited for a row's lock reads the row as it is now.
            return _server_engine(url, pool, isolation_level="READ COMMITTED")
        except ImportError as error:
            extra = "postgresql" if url.get_backend_name() == _POSTGRESQL else "mysql"
            raise Invalid(
                f"[database] connection: the driver of {url.drivername} is missing ({error}); install it with "
                f"`pip install 'stoker[{extra}]'`."
            ) from error
    return _sqlite_engine(url, pool, _WRITING_PRAGMAS)


def _sqlite_engine(url: URL, pool: Pool, pragmas: Iterable[str]) -> Engine:
    # Of the connections that nobody uses, the one is next that was used last, which has kept its statements. As the
    # writer's are not those of reads, one connection writes, which also keeps the pages of the file: SQLite forgets
    # those of a connection when another one has written.
    engine = create_engine(
        url,
        poolclass=QueuePool,
        pool_use_lifo=True,
        pool_reset_on_return=None,
        connect_args={"check_same_thread": False},
        **pool.options(),
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        connection.isolation_level = None
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")
        if pool.read_only:
            connection.execute(_READ_ONLY[_SQLITE])

    return engine


def _reading_engine(url: URL, pool: Pool) -> Engine:
    """Return the engine for reads: each statement is a transaction of its own, which needs no message to begin or end.

    So are SQLite's, where no transaction has been begun. Its connections are others than those that write.
    """
    if url.get_backend_name() == _SQLITE:
        return _sqlite_engine(url, pool, _READING_PRAGMAS)
    engine = _server_engine(url, pool, isolation_level="AUTOCOMMIT", skip_autocommit_rollback=True)
    if url.get_backend_name() == _POSTGRESQL:
        event.listen(engine, "connect", _hold_cursors)
    return engine


def _hold_cursors(connection: Any, _record: object) -> None:
    """Let PostgreSQL keep the cursors from which rows are read one after another, which end with a transaction."""
    from psycopg import ServerCursor

    def held(of: Any, **options: Any) -> ServerCursor[Any]:
        return ServerCursor(of, **options | {"withhold": True})

    connection.server_cursor_factory = held


def _server_engine(url: URL, pool: Pool, **isolation: Any) -> Engine:
    # A connection that is returned is in no transaction: whoever opened one has ended it.
    engine = create_engine(
        url,
        pool_reset_on_return=None,
        connect_args={"connect_timeout": _CONNECT_SECONDS},
        **isolation,
        **pool.options(),
    )
    lost = notice_silence(engine, pool.silence) if pool.silence is not None else _ignore_lost_connection
    _examine_idle_connections(engine, lost)
    if pool.idle_transaction is not None:
        limit = _IDLE_LIMIT[engine.dialect.name](pool.idle_transaction)
        event.listen(engine, "connect", lambda connection, _record: limit(connection))
    if pool.wsrep_sync_wait is not None and url.get_backend_name() != _POSTGRESQL:
        event.listen(engine, "connect", partial(_wait_for_nodes, pool.wsrep_sync_wait))
    if pool.read_only:
        event.listen(engine, "connect", partial(_refuse_writes, _READ_ONLY[url.get_backend_name()]))
    return engine


def _ignore_lost_connection(error: BaseException) -> None:
    """Note nothing of a lost connection, for which there is no limit."""


def _examine_idle_connections(engine: Engine, lost: Callable[[BaseException], None]) -> None:
    """Replace a connection that is lost, if nobody has used it for a while: one in use fails with its statement, which
    is then repeated.
    """

    def note(_connection: object, record: ConnectionPoolEntry) -> None:
        record.info[_USED] = time.monotonic()

    def examine(connection: Any, record: ConnectionPoolEntry, _proxy: object) -> None:
        used = record.info.get(_USED)
        if used is None or time.monotonic() < used + _RECENT_SECONDS:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            lost(error)
            raise DisconnectionError(str(error)) from error

    event.listen(engine, "checkin", note)
    event.listen(engine, "checkout", examine)


def _refuse_writes(statement: str, connection: Any, _record: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
    connection.commit()


def _wait_for_nodes(statements: int, connection: Any, _record: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET SESSION wsrep_sync_wait = {statements:d}")


def _limit_on_postgresql(seconds: float) -> Callable[[object], None]:
    def limit(connection: Any) -> None:
        connection.execute(f"SET SESSION idle_in_transaction_session_timeout = {seconds * 1000:.0f}")
        connection.commit()

    return limit


def _limit_on_mysql(seconds: float) -> Callable[[object], None]:
    """Limit all idle connections: MySQL has no limit for transactions. The pool renews its connections before use."""

    def limit(connection: Any) -> None:
        name = "idle_transaction_timeout" if "MariaDB" in connection.server_version else "wait_timeout"
        with connection.cursor() as cursor:
            cursor.execute(f"SET SESSION {name} = {ceil(seconds)}")

    return limit


_IDLE_LIMIT = {_POSTGRESQL: _limit_on_postgresql, "mysql": _limit_on_mysql, "mariadb": _limit_on_mysql}
