"""Databases of servers that have the tables of this release."""

from __future__ import annotations

from functools import cache

from stoker.store.database import Database
from testing.servers import DatabaseServer

ORIGINAL = "tables"


def with_tables(server: DatabaseServer, name: str) -> str:
    """Create a database with the tables of this release, and return its URL.

    It is a copy of one that all revisions have made, once for each server.
    """
    return server.copy(name, _original(server))


@cache
def _original(server: DatabaseServer) -> str:
    database = Database(server.new_database(ORIGINAL))
    database.migrate()
    database.close()
    return ORIGINAL
