"""The story of `stoker demo --scaling`: alarms on the load of servers change the number of servers."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

from keystoneauth1.session import Session
from rich.console import Console
from rich.text import Text

from stoker.cli.client.stack_client import Stack
from stoker.cli.terminal.errors import CommandFailed

COOLDOWN = 3
"""Seconds for which the demo's policies have no effect after a change."""
LARGEST = 3
SMALLEST = 1
"""Bounds of the example's group."""

_BUSY, _IDLE = 95, 5
_GRANULARITY = 300
"""Seconds of one value of the metric, as in the example."""
_TIMEOUT = 120.0
_PAUSE = 0.3


class ScalingDemonstration:
    """The servers of the example and the pool of its load balancer, in the emulated cloud at `cloud_url`.

    `group` is the nested stack of the group.
    """

    def __init__(self, session: Session, cloud_url: str, group: Stack, pool: str, out: Console) -> None:
        self._session = session
        self._cloud_url = cloud_url
        self._group = group
        self._pool = pool
        self._out = out

    def grow(self) -> None:
        """Report busy servers until the group has its maximum size."""
        for size in range(len(self._servers()) + 1, LARGEST + 1):
            self._scale(_BUSY, size)

    def shrink(self) -> None:
        """Report idle servers until the group has its minimum size."""
        for size in range(len(self._servers()) - 1, SMALLEST - 1, -1):
            self._scale(_IDLE, size)

    def _scale(self, percent: int, size: int) -> None:
        """Report the load, and have alarms evaluated, until the group has this size. Raises CommandFailed."""
        began = time.monotonic()
        while True:
            changing = self._group.reload().busy  # the cooldown begins when the change is complete
            servers = self._servers()
            members = self._members()
            if not changing and len(servers) == size and members == sorted(servers.values()):
                break
            if time.monotonic() > began + _TIMEOUT:
                raise CommandFailed(f"The group does not have {size} servers after {_TIMEOUT:.0f} seconds.")
            if not changing and len(servers) != size:  # alarms after the cooldown would change the size once more
                self._report(percent)
                self._session.post(f"{self._cloud_url}/control/evaluations", authenticated=False)
            time.sleep(_PAUSE)
        took = f"after {time.monotonic() - began:.0f} s"
        self._out.print(
            Text(f"  load {percent:2d} %: number of servers {size} {took}; members of the pool: {', '.join(members)}")
        )

    def _report(self, percent: int) -> None:
        """Report the load of every server to the metric service.

        Busy servers are reported for the period before the present one, idle ones for the present one: the alarms watch
        the latest period, so the demo need not wait for another one to begin.
        """
        period = time.time() // _GRANULARITY * _GRANULARITY - (_GRANULARITY if percent == _BUSY else 0)
        measure = {"timestamp": datetime.fromtimestamp(period, UTC).isoformat(), "value": percent}
        measures = {server: {"cpu_util": [measure]} for server in self._servers()}
        self._ask("POST", "metric", "/v1/batch/resources/metrics/measures", measures)

    def _servers(self) -> dict[str, str]:
        """Return the addresses of the active servers by ID."""
        found = self._ask("GET", "compute", "/servers/detail")["servers"]
        return {
            server["id"]: next(iter(server["addresses"].values()))[0]["addr"]
            for server in found
            if server["status"] == "ACTIVE" and server["addresses"]
        }

    def _members(self) -> list[str]:
        """Return the addresses of the pool's members."""
        found = self._ask("GET", "load-balancer", f"/v2.0/lbaas/pools/{self._pool}/members")["members"]
        return sorted(member["address"] for member in found)

    def _ask(self, method: str, service: str, path: str, body: object = None) -> Any:
        response = self._session.request(path, method, endpoint_filter={"service_type": service}, json=body)
        return response.json() if response.content else None
