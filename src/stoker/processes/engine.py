"""`stoker engine`: one engine of a cluster."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial

from oslo_config import cfg

from stoker.engine.core import Engine
from stoker.operations import OPERATIONS
from stoker.processes.assembly import made_engine, require_schema
from stoker.processes.lifetime import cluster_config, run, until_stopped
from stoker.processes.listening import listening_at
from stoker.processes.opened_database import opened_database
from stoker.processes.status import EngineMetrics, StatusServer
from stoker.rpc.dispatch import Dispatcher
from stoker.rpc.messaging import MessagingPeers, MessagingServer, close_transport, open_transport
from stoker.rpc.notifications import open_bus

_log = logging.getLogger(__name__)


async def serve(config: cfg.ConfigOpts) -> None:
    """Run an engine until SIGTERM; its unfinished operations are then offered to other engines."""
    transport = open_transport(config)
    async with AsyncExitStack() as opened:
        opened.push_async_callback(close_transport, transport)
        database = await opened.enter_async_context(opened_database(config))
        await require_schema(database)
        peers = MessagingPeers(transport)
        opened.push_async_callback(peers.close)
        engine = await opened.enter_async_context(made_engine(config, database, peers=peers, bus=open_bus(config)))
        loop, service = asyncio.get_running_loop(), Dispatcher(engine, OPERATIONS)
        server = MessagingServer(transport, engine.id, loop, service, engine.membership)
        await _observe(config, engine, server, opened)
        await engine.start()
        opened.push_async_callback(engine.stop)
        server.start()
        opened.push_async_callback(server.stop)
        _log.info("The engine %s is running on %s", engine.id, engine.settings.host)
        await until_stopped("stoker engine")
        _log.info("Stopping; unfinished operations are offered to other engines")


async def _observe(config: cfg.ConfigOpts, engine: Engine, server: MessagingServer, opened: AsyncExitStack) -> None:
    """Serve metrics and the health check, if configured."""
    metrics = EngineMetrics(engine)
    if config.engine.status_port is not None:
        status = StatusServer(engine, metrics, lambda: server.serving)
        opened.push_async_callback(status.stop)
        host, port = config.engine.status_host, config.engine.status_port
        with listening_at(host, port, "[engine] status_host, status_port"):
            await status.start(host, port)


def main(config_files: Sequence[str] = ()) -> None:
    """Entry point."""
    run(partial(cluster_config, config_files), serve)
