"""The signals that every process handles."""

from __future__ import annotations

import asyncio
import signal

from stoker.processes.report import write_report


def handle_signals(name: str) -> asyncio.Event:
    """Return an event that SIGTERM and SIGINT set.

    SIGUSR2 writes a report of the process `name` to the standard error stream.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGUSR2, write_report, name)
    return stop
