"""The signals that every process heeds."""

from __future__ import annotations

import asyncio
import signal

from stoker.processes.report import write_report


def heed_signals(name: str) -> asyncio.Event:
    """An event that SIGTERM and SIGINT set.

    From now on a report of the process `name` goes to the standard error stream at SIGUSR2.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGUSR2, write_report, name)
    return stop
