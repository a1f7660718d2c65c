"""The time of day of a database server, by which the engines that share it agree on who is alive."""

from __future__ import annotations

from sqlalchemy import Connection

_QUERIES = {
    "postgresql": "SELECT extract(epoch FROM clock_timestamp())",
    "mysql": "SELECT unix_timestamp(sysdate(6))",
    "mariadb": "SELECT unix_timestamp(sysdate(6))",
}


def time_of_day(connection: Connection) -> float | None:
    """Return the server's time in seconds since the epoch; None for SQLite, whose time is that of this machine."""
    query = _QUERIES.get(connection.dialect.name)
    return None if query is None else float(connection.exec_driver_sql(query).scalar_one())
