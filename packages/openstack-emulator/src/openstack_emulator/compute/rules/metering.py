"""Measures of the guests of servers, which the compute agent of Ceilometer would send to the metric service."""

from __future__ import annotations

import asyncio

from openstack_emulator.compute.rules.servers import Servers
from openstack_emulator.compute.rules.states import RUNNING
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.guests.driver import ProcessorTime
from openstack_emulator.core.rules import Rules

NANOSECONDS = 1e9


def utilization(before: ProcessorTime, now: ProcessorTime, capacity: float) -> float:
    """Return the per cent that a guest has used of the processor time that it was given.

    capacity: the seconds that its flavor has between the two measures.
    """
    used = now.used - before.used
    withheld = min(max(now.withheld - before.withheld, 0.0), max(capacity - used, 0.0))
    available = capacity - withheld
    return 100 * used / available if available > 0 else 100.0


class Metering(Rules):
    """Sends the metrics `cpu` (nanoseconds of processor time) and `cpu_util`: the per cent that the guest used of its
    flavor's processors, as far as it was given them. What others took is no idle time of the guest."""

    def __init__(self, records: Records, servers: Servers) -> None:
        super().__init__(records)
        self._servers = servers
        self._last: dict[str, tuple[float, ProcessorTime]] = {}
        """Time and processor time of the last measure of each guest."""

    def open(self) -> None:
        """Measure in the interval of the cloud's driver, if it can."""
        if self.cloud.guests.metering_interval is not None:
            self.measure()
            asyncio.get_running_loop().call_later(self.cloud.guests.metering_interval, self.open)

    def measure(self) -> None:
        """Measure all guests that run."""
        now, before, self._last = self.cloud.clock.now(), self._last, {}
        for server in self._servers.rows:
            time = self.cloud.guests.processor_time(server.id) if server.power_state == RUNNING else None
            if time is None:
                continue
            self._last[server.id] = now, time
            values = {"cpu": time.used * NANOSECONDS}
            then, formerly = before.get(server.id, (now, time))
            if now > then and time.used >= formerly.used:  # it is less after a restart
                values |= {"cpu_util": utilization(formerly, time, (now - then) * server.flavor.vcpus)}
            self.records.notify("gnocchi", "measure", server.id, values)
