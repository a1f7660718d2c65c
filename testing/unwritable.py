"""Databases on servers that store nothing for a while, as if their disks were full."""

from __future__ import annotations

from contextlib import suppress

from sqlalchemy import Engine
from sqlalchemy.exc import DatabaseError

_READ_ONLY = {
    "postgresql": (
        "SET default_transaction_read_only = off",
        "ALTER SYSTEM SET default_transaction_read_only = {}",
        "SELECT pg_reload_conf()",
    ),
    "mysql": ("SET GLOBAL tx_read_only = {}",),
}
_SESSIONS = {
    "postgresql": "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = '{}' AND pid <> pg_backend_pid()",
    "mysql": "SELECT concat('KILL ', id) FROM information_schema.processlist WHERE db = '{}' AND id <> connection_id()",
}


def let_store(server: Engine, name: str, may: bool) -> None:
    """Let sessions store something, or nothing any more; those of a database are ended."""
    backend = server.dialect.name
    with server.connect() as connection:
        for statement in _READ_ONLY[backend]:
            connection.exec_driver_sql(statement.format("off" if may else "on"))
        ended = connection.exec_driver_sql(_SESSIONS[backend].format(name)).scalars().all()
        for kill in ended if backend == "mysql" else ():
            with suppress(DatabaseError):  # it has ended meanwhile
                connection.exec_driver_sql(kill)
        connection.invalidate()  # its setting is of no use to others
