"""How a process of the cluster begins and ends: its configuration, its signals, what it says when it cannot start."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import uvloop
from oslo_config import cfg

from stoker.base.config import load_config
from stoker.base.errors import StokerError
from stoker.base.logging import setup as set_logging_up
from stoker.processes.memory import collect_rarely, give_back
from stoker.processes.settings import TOKEN_CHECK, set_login
from stoker.processes.signals import heed_signals
from stoker.rpc import messaging


def cluster_config(files: Sequence[str]) -> cfg.ConfigOpts:
    """heat.conf, as the processes of a cluster read it; no `files` means the usual places. Raises cfg.Error."""
    config = load_config([], list(files) or None, messaging.register_options, messaging.LIBRARY_GROUPS)
    set_login(config, TOKEN_CHECK, "password", {})
    return config


async def until_stopped(name: str) -> None:
    """Return at SIGTERM or SIGINT; heed the other signals meanwhile (see `heed_signals`).

    Whatever a process needs for all its life has been made when this is called.
    """
    give_back()
    collect_rarely()
    await heed_signals(name).wait()


def run(files: Sequence[str], serve: Callable[[cfg.ConfigOpts], Coroutine[Any, Any, None]]) -> None:
    """Run a process to its end; what keeps it from starting is told in one message, and the exit status is 1."""
    try:
        config = cluster_config(files)
        set_logging_up(config, readable=True)
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serve(config))
    except (StokerError, cfg.Error, OSError) as error:
        sys.exit(f"stoker: {error}")
