"""The configured database, as engines, API processes and commands open it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from oslo_config import cfg
from sqlalchemy.exc import DBAPIError

from stoker.base.errors import Invalid
from stoker.store.database import Database, Pool
from stoker.store.failures import unusable
from stoker_foundation.clock import SystemClock

_IDLE_PART = 0.5
"""The fraction of the lease after which an idle transaction ends, so that a presumed dead engine holds no locks."""

_SILENCE_PART = 2 / 3
"""The fraction of the lease after which a silent connection is closed, so that an engine can keep its lease."""

_SHORTEST_SILENCE = 10.0
"""The minimum of that time, in seconds: a busy server may take a while."""


def database_pool(config: cfg.ConfigOpts) -> Pool:
    """Return the settings of the database's connections."""
    database = config.database
    return Pool(
        database.max_pool_size,
        database.max_overflow,
        database.pool_timeout,
        database.connection_recycle_time,
        idle_transaction=config.engine.lease_seconds * _IDLE_PART,
        silence=max(config.engine.lease_seconds * _SILENCE_PART, _SHORTEST_SILENCE),
        parameters=database.connection_parameters,
        wsrep_sync_wait=database.mysql_wsrep_sync_wait,
    )


@asynccontextmanager
async def opened_database(config: cfg.ConfigOpts, pool: Pool | None = None) -> AsyncIterator[Database]:
    """Open the configured database once it can be reached; `pool` overrides the configured settings of connections.

    Raises cfg.Error when none is configured, Invalid when it cannot be reached or used.
    """
    if not config.database.connection:
        raise cfg.Error("[database] connection: set the URL of the database that the engines share")
    database = Database(config.database.connection, pool or database_pool(config))
    try:
        retries, interval = config.database.max_retries, config.database.retry_interval
        await database.wait_until_reachable(retries, interval, SystemClock())
        yield database
    except DBAPIError as error:
        if not unusable(error):
            raise
        shown = database.url.render_as_string(hide_password=True)
        raise Invalid(f"The database {shown} cannot be used ([database] connection): {error.orig}.") from error
    finally:
        database.close()


async def stored_at_start(config: cfg.ConfigOpts, database: Database, work: Callable[[], Awaitable[None]]) -> None:
    """Do what a process writes at its start, once the database can store it, which is waited for like its answer.

    `work` may be done again after it has failed halfway. Raises Invalid when the database cannot store it in time.
    """
    retries, interval = config.database.max_retries, config.database.retry_interval
    await database.wait_until_stored(work, retries, interval, SystemClock())
