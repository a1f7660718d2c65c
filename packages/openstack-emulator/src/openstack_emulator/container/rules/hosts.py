"""The host of all containers, and the service process on it."""

from __future__ import annotations

from dataclasses import dataclass

from openstack_emulator.container.records import Container, Host
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import conflict
from openstack_emulator.core.objects import TIMESTAMP, missing
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table

HOST = "devstack"
CPUS = 40
MEMORY = 65536
"""Mebibytes."""
ZONE = "nova"


@dataclass(frozen=True)
class Usage:
    """What all containers have: CPUs, memory in mebibytes, and disk space in gibibytes."""

    containers: int
    cpus: float
    memory: int
    disk: int


class Hosts(Rules):
    """One host. Containers are created on it while its service is enabled and it has room."""

    def __init__(self, records: Records, containers: Table[Container]) -> None:
        super().__init__(records)
        self.rows = records.table("hosts", Host, missing=missing("compute node"))
        self._containers = containers

    def seed(self) -> None:
        """Add the host."""
        key = "7d1a3b7a-3a8a-4f0d-9f6a-0f6f7a1f2c01"
        self.rows.add(
            Host(
                id=key,
                uuid=key,
                name=HOST,
                disabled=False,
                disabled_reason=None,
                forced_down=False,
                created_at=self.records.timestamp(TIMESTAMP),
            )
        )

    @property
    def only(self) -> Host:
        """The only host."""
        return next(iter(self.rows))

    def used(self) -> Usage:
        """Return what containers have."""
        rows = list(self._containers)
        return Usage(
            len(rows),
            sum(row.cpu or 0 for row in rows),
            sum(int(row.memory or 0) for row in rows),
            sum(row.disk or 0 for row in rows),
        )

    def place(self, cpu: float, memory: int, zone: str | None = None) -> str:
        """Return the host for a new container. Raises ApiError 409 when there is none with room for it."""
        host, used = self.only, self.used()
        full = used.cpus + cpu > CPUS or used.memory + memory > MEMORY
        if host.disabled or host.forced_down or full or zone not in (None, ZONE):
            raise conflict("There are not enough hosts available.")
        return HOST
