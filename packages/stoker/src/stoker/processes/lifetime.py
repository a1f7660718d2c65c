"""Start and end of the processes of a cluster: configuration, signals, and errors at start."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from collections.abc import Callable, Coroutine, Sequence
from functools import partial

import uvloop
from oslo_config import cfg

from stoker.base.config import load_config, shown_options
from stoker.base.errors import StokerError
from stoker.base.logging import setup as set_logging_up
from stoker.base.unused_options import log_unused_options
from stoker.processes.memory import configure_allocator, reduce_garbage_collection
from stoker.processes.report import report_section
from stoker.processes.settings import TOKEN_CHECK, set_login
from stoker.processes.signals import handle_signals
from stoker.rpc import messaging

LOG = logging.getLogger(__name__)

EXIT_SECONDS = 5.0
"""For the threads of libraries, after a process has closed everything: one that waits for a broker takes longer."""


def cluster_config(
    files: Sequence[str],
    args: Sequence[str] = (),
    prog: str = "stoker",
    register: Callable[[cfg.ConfigOpts], None] | None = None,
) -> cfg.ConfigOpts:
    """Load heat.conf for a process of a cluster; without `files` from the usual places. Raises cfg.Error.

    `args` and `prog` are the command line and the name of a program that takes oslo.config's options; `register`
    declares further ones.
    """

    def register_all(config: cfg.ConfigOpts) -> None:
        messaging.register_options(config)
        if register is not None:
            register(config)

    config = load_config(args, list(files) or None, register_all, prog)
    set_login(config, TOKEN_CHECK, "password", {})
    return config


def begin_logging(config: cfg.ConfigOpts) -> None:
    """Set up logging for a process of a cluster, and log which options in the configuration files have no effect."""
    set_logging_up(config, readable=True)
    log_unused_options(config, messaging.LIBRARY_GROUPS)


async def until_stopped(name: str) -> None:
    """Return at SIGTERM or SIGINT; handle the other signals meanwhile (see `handle_signals`).

    Call this when all long-lived objects of the process have been created.
    """
    configure_allocator()
    reduce_garbage_collection()
    await handle_signals(name).wait()


def run(load: Callable[[], cfg.ConfigOpts], serve: Callable[[cfg.ConfigOpts], Coroutine[object, object, None]]) -> None:
    """Run a process to its end. If it cannot start, it prints one message and exits with status 1."""
    try:
        config = load()
        begin_logging(config)
        report_section("Settings", partial(shown_options, config))
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serve(config))
            exit_within(EXIT_SECONDS)
    except (StokerError, cfg.Error, OSError) as error:
        sys.exit(f"stoker: {error}")


def exit_within(seconds: float) -> None:
    """Limit the rest of the process's life. Call this when everything is closed, and nothing is left to be recorded.

    Python waits at its exit for the threads of all executors. A message that is being sent to a broker that has
    vanished without closing the connection keeps one for as long as the heartbeats of AMQP allow, a minute by default.
    """

    def leave() -> None:
        LOG.warning("Exiting without waiting for the connections to the message broker any longer")
        logging.shutdown()
        os._exit(0)

    timer = threading.Timer(seconds, leave)
    timer.daemon = True
    timer.start()
