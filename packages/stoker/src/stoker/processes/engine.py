"""`stoker engine`: one engine of a cluster."""

from __future__ import annotations

import argparse
import asyncio
import logging
import shlex
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial

from oslo_config import cfg

from stoker.engine.core import Engine
from stoker.operations import OPERATIONS
from stoker.processes.assembly import made_engine, require_schema
from stoker.processes.isolation import ProcessIsolation, try_suspects
from stoker.processes.lifetime import cluster_config, run, until_stopped
from stoker.processes.listening import listening_at
from stoker.processes.mark_files import MarkFiles
from stoker.processes.marked_ids import MarkedIds
from stoker.processes.marks import MarkKeeper
from stoker.processes.opened_database import opened_database, stored_at_start
from stoker.processes.signals import handle_signals
from stoker.processes.status import EngineMetrics, StatusServer
from stoker.rpc.dispatch import Dispatcher
from stoker.rpc.messaging import MessagingPeers, MessagingServer, close_transport, open_transport
from stoker.rpc.notifications import open_bus

_log = logging.getLogger(__name__)


async def serve(config: cfg.ConfigOpts, config_files: Sequence[str] = (), trial: str | None = None) -> None:
    """Run an engine until SIGTERM; its unfinished operations are then offered to other engines.

    With a `trial`, the root of a tree of stacks, it runs the suspects of that tree only (see `isolation`).
    """
    transport = open_transport(config)
    async with AsyncExitStack() as opened:
        opened.push_async_callback(close_transport, transport)
        database = await opened.enter_async_context(opened_database(config))
        await require_schema(database)
        peers = MessagingPeers(transport)
        opened.push_async_callback(peers.close)
        isolation = None if trial else ProcessIsolation("-m", "stoker.processes.engine", *_named(config_files))
        engine = await opened.enter_async_context(
            made_engine(config, database, peers=peers, bus=open_bus(config), isolation=isolation, trial=trial)
        )
        engine.services.types.registry.load()  # all from one release, even if the package is upgraded meanwhile
        loop, service = asyncio.get_running_loop(), Dispatcher(engine, OPERATIONS)
        server = MessagingServer(transport, engine.services.id, loop, service, engine.membership)
        if trial is not None:
            server.start()
            opened.push_async_callback(server.stop)
            await try_suspects(engine, trial, handle_signals("stoker engine"))
            return
        await _observe(config, engine, server, opened)
        marks = MarkFiles.of_cluster(database.url, config.engine.state_directory)
        shown = MarkedIds(engine.services.types.registry, engine.services.sealer)
        keeper = MarkKeeper(database, marks, engine.services.clock, shown, config_file_options(config_files))
        await keeper.compare_with_mark()
        await stored_at_start(config, database, engine.start)
        opened.push_async_callback(keeper.stop)
        keeper.begin()
        opened.push_async_callback(engine.stop)
        if isolation is not None:
            opened.push_async_callback(asyncio.to_thread, isolation.stop)
        server.start()
        opened.push_async_callback(server.stop)
        await engine.take_over()
        _log.info("The engine %s is running on %s", engine.services.id, engine.services.settings.host)
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


def _named(config_files: Sequence[str]) -> list[str]:
    return [word for file in config_files for word in ("--config-file", file)]


def config_file_options(config_files: Sequence[str]) -> str:
    """Return the options that name a cluster to a command in a shell."""
    return shlex.join(_named(config_files or ["heat.conf"]))


def main(config_files: Sequence[str] = (), trial: str | None = None) -> None:
    """Entry point."""
    run(partial(cluster_config, config_files), partial(serve, config_files=config_files, trial=trial))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="stoker.processes.engine", description="An engine for suspects.")
    parser.add_argument("--config-file", action="append", default=[], help="configuration file of the cluster")
    parser.add_argument("--trial", required=True, help="root stack of the tree whose suspects it runs")
    given = parser.parse_args()
    main(given.config_file, given.trial)
