"""Which database errors mean that the database is unreachable or busy, so that the work can be retried."""

from __future__ import annotations

import sqlite3
from typing import Any

from sqlalchemy.exc import DBAPIError

_POSTGRESQL_CLASSES = ("08", "25P03", "40", "53300", "57P")
"""SQLSTATE: connection lost, transaction idle for too long, serialization failure, too many connections, server
shutdown or starting. The other codes of class 53 (disk full, out of memory) last until an operator frees resources.
"""

_MYSQL_CODES = frozenset(
    {
        0,  # the connection was closed before
        1020,  # the row has changed since it was read
        1040, 1203,  # too many connections
        1053, 1152, 1184, 1927,  # the server is shutting down, or aborted the connection
        1205, 1213,  # lock wait timeout; deadlock
        1836,  # read-only, for example during a failover
        2002, 2003, 2006, 2013, 2014, 2055,  # unreachable, gone away, connection lost during a query
        4031,  # closed after being idle
    }
)  # fmt: skip


_MYSQL_UNUSABLE = frozenset({3, 1021, 1026, 1030, 1114, 1194, 1195, 1290, 1792})
"""Error writing a file, disk full, again an error writing, storage engine error, table full, table damaged, server
read-only, transactions read-only.
"""

_SQLITE_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_SQLITE_UNUSABLE = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
    }
)


def unusable(error: DBAPIError) -> bool:
    """Return whether the database is unusable without an operator: full, damaged, not writable, or unreachable."""
    if passes(error):
        return True
    cause: Any = error.orig
    match type(cause).__module__.partition(".")[0]:
        case "sqlite3":
            return _sqlite_code(cause) in _SQLITE_UNUSABLE
        case "psycopg":
            return str(cause.sqlstate or "").startswith(("53", "58", "25006", "XX001", "XX002"))
        case "pymysql":
            return bool(cause.args) and cause.args[0] in _MYSQL_UNUSABLE
    return False


def passes(error: DBAPIError) -> bool:
    """Return whether the database is unreachable or busy, as opposed to an invalid statement."""
    if error.connection_invalidated:
        return True
    cause: Any = error.orig
    match type(cause).__module__.partition(".")[0]:
        case "sqlite3":
            return _sqlite_code(cause) in _SQLITE_BUSY
        case "psycopg":
            state = cause.sqlstate
            if state is None:  # without a connection there is no SQLSTATE
                return type(cause).__name__ in ("OperationalError", "ConnectionTimeout")
            return str(state).startswith(_POSTGRESQL_CLASSES)
        case "pymysql":
            code = cause.args[0] if cause.args else None
            return code in _MYSQL_CODES and type(cause).__name__ in ("OperationalError", "InterfaceError")
    return False


def _sqlite_code(error: object) -> int:
    """Return SQLite's primary result code; 0 for an error of its driver."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF
