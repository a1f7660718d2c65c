"""The signals that every process handles."""

from __future__ import annotations

import asyncio
import logging
import signal

from stoker.processes.report import write_report

_log = logging.getLogger(__name__)


def handle_signals(name: str) -> asyncio.Event:
    """Return an event that SIGTERM and SIGINT set.

    SIGUSR2 writes a report of the process `name` to the standard error stream. SIGHUP is logged and has no effect.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGHUP, _log.warning, "SIGHUP has no effect: options are read at the start")
    loop.add_signal_handler(signal.SIGUSR2, write_report, name)
    return stop
