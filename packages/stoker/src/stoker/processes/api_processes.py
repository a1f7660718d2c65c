"""`stoker api` and `stoker api-cfn`: the two HTTP interfaces of a cluster, each a process of its own.

They are stateless and do not use the database: any number of them may run, behind any load balancer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial

from oslo_config import cfg

from stoker.api.app import make_app
from stoker.api.auth import WSGIApplication
from stoker.api.cfn.app import make_cfn_app
from stoker.api.server import Server
from stoker.base.paste_filters import apply_paste_filters
from stoker.processes.lifetime import cluster_config, run, until_stopped
from stoker.processes.listening import listening_at
from stoker.processes.settings import server_limits, serving_threads
from stoker.processes.tokens import caller_check
from stoker.processes.web_console import with_console
from stoker.rpc.contract import EngineClient
from stoker.rpc.messaging import MessagingClient, close_transport, open_transport
from stoker_foundation.clock import SystemClock

_log = logging.getLogger(__name__)

Maker = Callable[[cfg.ConfigOpts, EngineClient], WSGIApplication]


def rest_application(config: cfg.ConfigOpts, client: EngineClient) -> WSGIApplication:
    """Return the Orchestration API with authentication, and the web console if it is enabled."""
    apply_paste_filters(config)
    clock = SystemClock()
    return with_console(config, make_app(config, client, caller_check(config, clock)), clock)


def query_application(config: cfg.ConfigOpts, client: EngineClient) -> WSGIApplication:
    """Return the CloudFormation interface."""
    apply_paste_filters(config)
    return make_cfn_app(config, client)


async def serve(config: cfg.ConfigOpts) -> None:
    """Serve the Orchestration API until SIGTERM."""
    await _serve(config, "stoker api", rest_application, "heat_api")


async def serve_cfn(config: cfg.ConfigOpts) -> None:
    """Serve the CloudFormation interface until SIGTERM."""
    await _serve(config, "stoker api-cfn", query_application, "heat_api_cfn")


async def _serve(config: cfg.ConfigOpts, name: str, make: Maker, group: str) -> None:
    transport = open_transport(config)
    options = config[group]
    try:
        application = await asyncio.to_thread(make, config, MessagingClient(transport))
        with listening_at(options.bind_host, options.bind_port, f"[{group}] bind_host, bind_port"):
            threads, limits = serving_threads(config, group), server_limits(config, group)
            server = Server(application, options.bind_host, options.bind_port, threads, limits)
        server.start()
        _log.info("%s is listening on %s", name, server.url)
        await until_stopped(name)
        await asyncio.to_thread(server.stop)
    finally:
        await close_transport(transport)


def main(config_files: Sequence[str] = ()) -> None:
    """Entry point of `stoker api`."""
    run(partial(cluster_config, config_files), serve)


def main_cfn(config_files: Sequence[str] = ()) -> None:
    """Entry point of `stoker api-cfn`."""
    run(partial(cluster_config, config_files), serve_cfn)
