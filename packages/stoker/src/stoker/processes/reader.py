"""One process beside an embedded engine that carries out operations which record nothing (see `readers`).

It has an engine that is not started: it owns no operations and reports no heartbeats, and its connections to the
database refuse to write. It ends when the engine's process closes the connection, or ends.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace

from oslo_config import cfg

from stoker.operations import READING
from stoker.processes.assembly import assembled_engine
from stoker.processes.memory import reduce_garbage_collection
from stoker.processes.opened_database import database_pool, opened_database
from stoker.processes.signals import handle_signals
from stoker.rpc.dispatch import Dispatcher
from stoker.rpc.pipes import serve_pipe


async def serve_reads(config: cfg.ConfigOpts, cloud_name: str | None, descriptor: int) -> None:
    """Serve the calls that arrive on the open file `descriptor` until SIGTERM, or until its other end is closed."""
    stop = handle_signals("stoker up (reads)")
    async with (
        opened_database(config, replace(database_pool(config), read_only=True)) as database,
        assembled_engine(config, database, cloud_name=cloud_name) as engine,
    ):
        services = engine.services
        reduce_garbage_collection()
        serving = asyncio.ensure_future(serve_pipe(descriptor, Dispatcher(engine, READING)))
        serving.add_done_callback(lambda _: stop.set())
        while not stop.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), services.settings.heartbeat_seconds)
            await services.return_memory(idle=True)
        serving.cancel()
        services.evaluator.stop()
        services.memory.values.close()
