"""Measures of the guests of servers, which the compute agent of Ceilometer would send to the metric service."""

from __future__ import annotations

import asyncio

from stoker.emulator.compute.servers import Servers
from stoker.emulator.compute.states import RUNNING
from stoker.emulator.core.cloud import Records
from stoker.emulator.core.component import Component

NANOSECONDS = 1e9


class Metering(Component):
    """Sends the metrics `cpu` (nanoseconds of processor time) and `cpu_util` (per cent of the flavor's processors)."""

    def __init__(self, records: Records, servers: Servers) -> None:
        super().__init__(records)
        self._servers = servers
        self._last: dict[str, tuple[float, float]] = {}
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
            used = self.cloud.guests.processor_seconds(server["id"]) if server["power_state"] == RUNNING else None
            if used is None:
                continue
            self._last[server["id"]] = now, used
            values = {"cpu": used * NANOSECONDS}
            then, formerly = before.get(server["id"], (now, used))
            if now > then and used >= formerly:  # it is less after a restart
                values["cpu_util"] = 100 * (used - formerly) / (now - then) / server["flavor"]["vcpus"]
            self.records.notify("gnocchi", "measure", server["id"], values)
