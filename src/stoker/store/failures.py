"""Which errors of a database mean that it is away or busy, so that the same work can be done later."""

from __future__ import annotations

from typing import Any

from sqlalchemy.exc import DBAPIError

_POSTGRESQL_CLASSES = ("08", "25P03", "40", "53", "57P")
"""SQLSTATE: connection lost, transaction idle for too long, serialisation failed, out of resources, server shut down or
starting.
"""

_MYSQL_CODES = frozenset(
    {
        0,  # the connection was closed before
        1020,  # the row has changed since it was read
        1040, 1203,  # too many connections
        1053, 1152, 1184, 1927,  # the server goes down, or broke the connection off
        1205, 1213,  # waited too long for a lock; deadlock
        1836,  # read-only, as while another server takes over
        2002, 2003, 2006, 2013, 2014, 2055,  # not reachable, gone, lost in the middle
        4031,  # closed for being idle
    }
)  # fmt: skip


_MYSQL_UNUSABLE = frozenset({1021, 1114, 1030, 1194, 1195, 1290})
"""Disk full, table full, error of the storage engine, table damaged, server read-only."""


def unusable(error: DBAPIError) -> bool:
    """Whether the database can do nothing until somebody looks after it: full, damaged, not writable, or away."""
    if passes(error):
        return True
    cause: Any = error.orig
    match type(cause).__module__.partition(".")[0]:
        case "sqlite3":
            words = ("full", "disk I/O", "readonly", "unable to open")
            kind = type(cause).__name__  # DatabaseError itself is what a damaged file raises
            return kind == "DatabaseError" or (kind == "OperationalError" and any(word in str(cause) for word in words))
        case "psycopg":
            return str(cause.sqlstate or "").startswith(("53", "58", "25006", "XX001", "XX002"))
        case "pymysql":
            return bool(cause.args) and cause.args[0] in _MYSQL_UNUSABLE
    return False


def passes(error: DBAPIError) -> bool:
    """Whether the database is away or busy, rather than the statement wrong."""
    if error.connection_invalidated:
        return True
    cause: Any = error.orig
    match type(cause).__module__.partition(".")[0]:
        case "sqlite3":
            return any(word in str(cause) for word in ("locked", "busy"))
        case "psycopg":
            state = cause.sqlstate
            if state is None:  # there was no connection that could have given one
                return type(cause).__name__ in ("OperationalError", "ConnectionTimeout")
            return str(state).startswith(_POSTGRESQL_CLASSES)
        case "pymysql":
            code = cause.args[0] if cause.args else None
            return code in _MYSQL_CODES and type(cause).__name__ in ("OperationalError", "InterfaceError")
    return False
