"""Engines in processes of their own, for operations that may crash the engine which runs them (see `store.deaths`).

Such an engine runs the suspects of one tree of stacks, until they have ended or have run long enough without harm. If
it dies, they are the cause, and nobody else's operation is affected. It stops in an orderly way when the process that
started it ends, which it notices at its standard input.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import subprocess
import sys

from stoker.base.context import RequestContext
from stoker.contract.request import Answer, Request
from stoker.engine.core import Engine
from stoker.engine.ownership.peers import NoPeers, PeerUnavailable
from stoker.store import deaths
from stoker_foundation.interpreter import python_command, python_environment

_log = logging.getLogger(__name__)

_STOP_SECONDS = 20.0
_IDLE_BEATS = 10
"""Heartbeats without any operation after which an engine that tries suspects gives up: others run them."""


class ProcessIsolation:
    """Starts an engine for suspects, one at a time; `arguments` are those of the interpreter that start an engine."""

    def __init__(self, *arguments: str) -> None:
        self._arguments = arguments
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self, root_id: str) -> None:
        """Start an engine for the suspects of a tree of stacks, unless one runs."""
        if self._process is not None and self._process.poll() is None:
            return
        _log.warning("operations in the tree of the stack %s have crashed engines: they get a process", root_id)
        self._process = subprocess.Popen(  # noqa: S603  this interpreter and Stoker's modules
            python_command(*self._arguments, "--trial", root_id), env=python_environment(), stdin=subprocess.PIPE
        )

    def stop(self) -> None:
        """Stop the engine, if one runs; it hands its operations over."""
        process = self._process
        if process is None or process.stdin is None:
            return
        process.stdin.close()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class EmbeddedPeers(NoPeers):
    """The peers of an embedded engine: there are none, except that a trial may be in progress."""

    async def forward(
        self, engine_id: str, context: RequestContext, request: Request[Answer], seconds: float
    ) -> Answer:
        """Wait, since the trial ends soon; then raise PeerUnavailable."""
        await asyncio.sleep(seconds)
        raise PeerUnavailable(f"The engine {engine_id} tries an operation that may crash it, and takes no requests.")


async def try_suspects(engine: Engine, root_id: str, stop: asyncio.Event) -> None:
    """Run the suspects of a tree with an engine that was created for them, until they are cleared or have ended, `stop`
    is set, or the process that started this one ends.
    """
    loop, descriptor = asyncio.get_running_loop(), sys.stdin.fileno()

    def orphaned() -> None:
        """Stop; a database that does not respond does not keep the process."""
        loop.remove_reader(descriptor)
        stop.set()
        loop.call_later(_STOP_SECONDS, os._exit, 1)

    loop.add_reader(descriptor, orphaned)  # nothing is sent: this is the end of the other process
    idle = 0
    await engine.start()
    await engine.take_over()
    try:
        while not stop.is_set() and idle < _IDLE_BEATS and await _needed(engine, root_id):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), engine.services.settings.heartbeat_seconds)
            idle = 0 if engine.runs.all() else idle + 1
    finally:
        await engine.stop()


async def _needed(engine: Engine, root_id: str) -> bool:
    since = engine.services.clock.now() - 2 * deaths.SHORTEST_TRIAL_SECONDS
    return await engine.services.database.read(
        deaths.on_trial, root_id, engine.services.settings.engine_deaths_limit, since
    )
