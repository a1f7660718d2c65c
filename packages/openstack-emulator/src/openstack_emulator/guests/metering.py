"""How much processor time a guest uses and waits for: that of its processes, from /proc."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from openstack_emulator.core.guests.driver import ProcessorTime

TICKS = os.sysconf("SC_CLK_TCK")
NANOSECONDS = 1e9
INTERVAL = 10.0
"""Seconds between two measures of a guest."""
TIMES = slice(11, 15)
"""Where /proc/PID/stat has, after the name: the times in user and kernel mode, and those of children that ended."""


def processor_time(process: int) -> ProcessorTime:
    """Return the processor time of a process and of all that it has started, directly or indirectly; and how long their
    threads that have not ended waited for processors, where the kernel tells."""
    ticks, withheld, waiting = 0, 0, [process]
    while waiting:
        place = Path("/proc", str(waiting.pop()))
        with suppress(OSError):  # it has ended
            ticks += sum(int(field) for field in place.joinpath("stat").read_text().rpartition(")")[2].split()[TIMES])
            for thread in place.joinpath("task").iterdir():
                with suppress(OSError, IndexError):
                    withheld += int(thread.joinpath("schedstat").read_text().split()[1])
                waiting += [int(child) for child in thread.joinpath("children").read_text().split()]
    return ProcessorTime(ticks / TICKS, withheld / NANOSECONDS)
