"""Connections to a database server that notice when it has stopped answering.

A connection can be lost without any sign: a firewall or a failed machine drops its packets, or a proxy keeps accepting
what nobody answers. TCP detects the first after minutes, the second never. Therefore a connection that waits for the
server longer than a limit is closed, and the statement fails like one whose connection was lost.

A busy server can be slow, too. So each silence doubles the limit of the connections opened next, up to `MOST` times,
until `CALM_SECONDS` have passed without one.
"""

from __future__ import annotations

import functools
import logging
import math
import time
from collections.abc import Callable, Generator
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.engine import ExceptionContext

MOST = 16
"""The largest factor by which repeated silences increase the limit."""

CALM_SECONDS = 600.0
"""Time without a silence after which the limit is the configured one again."""

_KEEPALIVE_PROBES = 3
_SHORTEST_CONNECT = 2

_log = logging.getLogger(__name__)


class ResponseDeadline:
    """How long to wait for a server that does not answer; `now` returns seconds from an arbitrary start."""

    def __init__(self, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self._least = seconds
        self._now = now
        self._factor = 1
        self._exhausted_at = -CALM_SECONDS

    @property
    def seconds(self) -> float:
        """The limit of a connection that is opened now."""
        if self._now() >= self._exhausted_at + CALM_SECONDS:
            self._factor = 1
        return self._least * self._factor

    def exhausted(self) -> None:
        """Record that a server did not answer in time. Connections that are lost together count once."""
        now = self._now()
        if now >= self._exhausted_at + self.seconds:
            self._factor = min(self._factor * 2, MOST)
            self._exhausted_at = now


def notice_silence(engine: Engine, seconds: float) -> Callable[[BaseException], None]:
    """Let all connections of an engine fail when the server is silent for `seconds`.

    Return a function to call with the error of a connection that was lost where the engine does not learn of it.
    """
    connect = {"psycopg": _connect_psycopg, "pymysql": _connect_pymysql}[engine.dialect.driver]
    deadline = ResponseDeadline(seconds)

    def open_connection(_dialect: object, _record: object, arguments: object, parameters: dict[str, object]) -> object:
        return connect(deadline.seconds, arguments, parameters)

    def lost(error: BaseException) -> None:
        if isinstance(error.__cause__ or error.__context__, TimeoutError):
            deadline.exhausted()
        _log.warning("A connection to the database was lost, and is opened again: %s", error)

    def note(context: ExceptionContext) -> None:
        if context.is_disconnect:
            lost(context.original_exception)

    event.listen(engine, "do_connect", open_connection)
    event.listen(engine, "handle_error", note)
    return lost


def _connect_psycopg(limit: float, arguments: Any, parameters: dict[str, Any]) -> object:
    """Connect to PostgreSQL. TCP notices packets that are dropped, the limit everything else.

    Opening a connection may take the limit, too, but at least two seconds: libpq has no shorter timeout.
    """
    parameters["connect_timeout"] = min(parameters["connect_timeout"], max(_SHORTEST_CONNECT, math.ceil(limit)))
    for name, value in {
        "keepalives_idle": max(1, round(limit / 2)),
        "keepalives_interval": max(1, round(limit / 2 / _KEEPALIVE_PROBES)),
        "keepalives_count": _KEEPALIVE_PROBES,
        "tcp_user_timeout": round(limit * 1000),
    }.items():
        parameters.setdefault(name, value)
    connection = _watched_connection().connect(*arguments, **parameters)
    connection.limit = limit
    return connection


@functools.cache
def _watched_connection() -> Any:
    """Return psycopg's connection with a limit; the driver is imported only where it is used."""
    import psycopg

    class WatchedConnection(psycopg.Connection[Any]):
        limit: float | None = None

        def wait(self, gen: object, *arguments: Any, **options: Any) -> Any:
            return super().wait(self._watched(gen), *arguments, **options)

        def _watched(self, inner: Any) -> Generator[Any, Any, Any]:
            """Forward a driver's generator, which receives a false value whenever nothing has arrived for a moment."""
            try:
                awaited = next(inner)
                since = time.monotonic()
                while True:
                    ready = yield awaited
                    if ready:
                        since = time.monotonic()
                    elif self.limit is not None and time.monotonic() - since >= self.limit:
                        self.pgconn.finish()
                        raise psycopg.OperationalError(
                            f"the server did not answer for {self.limit:g} seconds"
                        ) from TimeoutError()
                    awaited = inner.send(ready)
            except StopIteration as end:
                return end.value

    return WatchedConnection


def _connect_pymysql(limit: float, arguments: Any, parameters: dict[str, Any]) -> object:
    """Connect to MariaDB or MySQL, whose driver has the limit itself."""
    import pymysql

    parameters.setdefault("read_timeout", limit)
    parameters.setdefault("write_timeout", limit)
    return pymysql.connect(*arguments, **parameters)
