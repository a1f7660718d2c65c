"""Databases of servers that have the tables of this release."""

from __future__ import annotations

from functools import cache

from stoker.store.database import Database
from stoker.store.tables import metadata
from testing.servers import DatabaseServer

ORIGINAL = "tables"

_SHORT_WAIT = {"postgresql": "SET lock_timeout = '10s'", "mysql": "SET innodb_lock_wait_timeout = 10"}
"""What a transaction that a test has left open must not prevent for long, by the kind of server."""


def with_tables(server: DatabaseServer, name: str) -> str:
    """Create a database with the tables of this release, and return its URL.

    It is a copy of one that all revisions have made, once for each server.
    """
    return server.copy(name, _original(server))


def emptied(server: DatabaseServer) -> str:
    """Return the URL of a database that has the tables of this release, and no rows.

    It is the same one each time, and what was in it is deleted, which takes a tenth of the time of making another one.
    Numbers that the server gives to rows go on.
    """
    url = _reused(server)
    database = Database(url)
    with database.writing() as connection:
        connection.exec_driver_sql(_SHORT_WAIT[database.url.get_backend_name()])
        for table in reversed(metadata.sorted_tables):
            connection.execute(table.delete())
    database.close()
    return url


@cache
def _original(server: DatabaseServer) -> str:
    database = Database(server.new_database(ORIGINAL))
    database.migrate()
    database.close()
    return ORIGINAL


@cache
def _reused(server: DatabaseServer) -> str:
    return with_tables(server, "reused")
