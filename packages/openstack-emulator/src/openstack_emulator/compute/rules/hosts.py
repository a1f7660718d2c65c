"""Compute hosts: their capacity, and the services that they run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from openstack_emulator.compute.records import Host, Server, ServerFlavor, ServiceProcess
from openstack_emulator.compute.rules.counters import Counters
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table

COMPUTE_HOSTS = ("compute-1", "compute-2", "compute-3", "compute-4")
CONTROLLER = "controller"
CAPACITY: Mapping[str, Any] = {"vcpus": 512, "memory_mb": 4 * 1024 * 1024, "local_gb": 200 * 1024}
CPU_RATIO = 16


class HostUsage(NamedTuple):
    """What is used of a host."""

    running_vms: int
    vcpus_used: int
    memory_mb_used: int
    local_gb_used: int


class Inventory(NamedTuple):
    """How much of something a host can hold, with what may be promised beyond what it has, and how much is used."""

    capacity: int
    used: int


class Provider(NamedTuple):
    """A host as Placement knows it, with its amounts by resource class."""

    uuid: str
    resources: Mapping[str, Inventory]
    host: str

    def free(self, name: str) -> int:
        """How much of a resource class is left; nothing of one that the host does not have."""
        amount = self.resources.get(name, Inventory(0, 0))
        return amount.capacity - amount.used


class Hosts(Rules):
    """Compute hosts, and the services of compute by host.

    servers: the table of servers, whose flavors count as used.
    """

    def __init__(self, records: Records, counters: Counters, servers: Table[Server]) -> None:
        super().__init__(records)
        self.rows = records.table("hosts", Host)
        self.services = records.table("services", ServiceProcess)
        self._counters = counters
        self._servers = servers

    def seed(self) -> None:
        for host in COMPUTE_HOSTS:
            self.rows.add(Host(id=host, uuid=new_id(), number=self._counters.next("hosts"), **CAPACITY))
        for binary, host in (
            ("nova-conductor", CONTROLLER),
            ("nova-scheduler", CONTROLLER),
            *(("nova-compute", host) for host in COMPUTE_HOSTS),
        ):
            self.services.add(
                ServiceProcess(
                    id=new_id(),
                    number=self._counters.next("services"),
                    binary=binary,
                    host=host,
                    disabled=False,
                    disabled_reason=None,
                    forced_down=False,
                )
            )

    def usable(self) -> list[str]:
        """The hosts whose compute service is enabled and up."""
        off = {row.host for row in self.services if row.disabled or row.forced_down}
        return [host.id for host in self.rows if host.id not in off]

    def providers(self) -> list[Provider]:
        """The usable hosts with what they have; the limits are those of `has_room`."""
        found = []
        for name in self.usable():
            host, used = self.rows.require(name), self.usage(name)
            amounts = {
                "VCPU": Inventory(host.vcpus * CPU_RATIO, used.vcpus_used),
                "MEMORY_MB": Inventory(host.memory_mb, used.memory_mb_used),
                "DISK_GB": Inventory(host.local_gb, used.local_gb_used),
            }
            found.append(Provider(host.uuid, amounts, name))
        return found

    def usage(self, host: str) -> HostUsage:
        """The resources that the servers of a host use."""
        servers = self._servers.select(host=host)
        return HostUsage(
            len(servers),
            sum(server.flavor.vcpus for server in servers),
            512 + sum(server.flavor.ram for server in servers),
            sum(server.flavor.disk + server.flavor.ephemeral for server in servers),
        )

    def servers_on(self, host: str) -> list[Server]:
        """The servers of a host."""
        return self._servers.select(host=host)

    def service_of(self, host: str | None) -> ServiceProcess | None:
        """The compute service of a host."""
        return self.services.first(binary="nova-compute", host=host)

    def has_room(self, host: str, flavor: ServerFlavor) -> bool:
        """Whether a server of a flavor fits on a host."""
        record, used = self.rows.require(host), self.usage(host)
        return (
            used.vcpus_used + flavor.vcpus <= record.vcpus * CPU_RATIO
            and used.memory_mb_used + flavor.ram <= record.memory_mb
            and used.local_gb_used + flavor.disk + flavor.ephemeral <= record.local_gb
        )
