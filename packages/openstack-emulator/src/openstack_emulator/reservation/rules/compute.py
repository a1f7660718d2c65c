"""What the compute service has: hypervisors, aggregates, flavors, server groups and servers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from openstack_emulator.compute.records import ReservedCapacity, Server, ServerGroup
from openstack_emulator.compute.rules.aggregates import RESERVATION_POOL, RESERVED_SIZE, Aggregates
from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.compute.rules.flavors import NewFlavor
from openstack_emulator.core.cloud import Cloud


@dataclass(frozen=True)
class Hypervisor:
    """A compute host. number: its ID in the API."""

    number: str
    name: str
    vcpus: int
    memory_mb: int
    local_gb: int


@dataclass(frozen=True)
class Size:
    """The size of servers, and the extra specs of their flavor. Memory is in mebibytes, disks are in gibibytes."""

    vcpus: int
    memory_mb: int
    disk_gb: int
    extra_specs: dict[str, str]


class Compute:
    """The compute service, as reservations need it. Reserved hosts are in an aggregate with the reservation's name."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud

    @property
    def _records(self) -> ComputeService:
        return self._cloud.of(ComputeService)

    @property
    def _aggregates(self) -> Aggregates:
        return self._records.aggregates

    # -- hosts ------------------------------------------------------------------------------------------------------

    def hypervisor(self, key: str) -> Hypervisor | None:
        """The hypervisor with a name, number or UUID."""
        for row in self._records.hosts.rows:
            if key in (row.id, str(row.number), row.uuid):
                return Hypervisor(str(row.number), row.id, row.vcpus, row.memory_mb, row.local_gb)
        return None

    def service_host(self, name: str) -> str:
        """The name of the host of a hypervisor's service."""
        service = self._records.hosts.service_of(name)
        return name if service is None else service.host

    def usable(self) -> set[str]:
        """The names of hosts that are enabled and up."""
        return set(self._records.hosts.usable())

    def servers_on(self, name: str) -> list[str]:
        """The IDs of the servers on a host."""
        return [server.id for server in self._records.hosts.servers_on(name)]

    # -- aggregates -------------------------------------------------------------------------------------------------

    def has_aggregate(self, name: str) -> bool:
        """Whether there is an aggregate of a name."""
        return self._aggregates.rows.first(name=name) is not None

    def create_pool(self) -> None:
        """Create the aggregate of the hosts in the pool."""
        if not self.has_aggregate(RESERVATION_POOL):
            self._aggregates.create(RESERVATION_POOL, None)

    def create_aggregate(self, name: str, metadata: Mapping[str, str]) -> int:
        """Create an aggregate; return its ID."""
        aggregate = self._aggregates.create(name, None)
        self._aggregates.set_metadata(aggregate, dict(metadata))
        return int(aggregate.id)

    def set_room(self, name: str, total: int, on_one_host: int) -> None:
        """Limit the servers on the hosts of an aggregate."""
        if (aggregate := self._aggregates.rows.first(name=name)) is not None:
            aggregate.reserved = ReservedCapacity(total=total, on_one_host=on_one_host)
            self._aggregates.rows.save(aggregate)

    def hosts_in(self, name: str) -> list[str]:
        """The hosts of an aggregate; none if it does not exist."""
        aggregate = self._aggregates.rows.first(name=name)
        return [] if aggregate is None else list(aggregate.hosts)

    def add_hosts(self, names: Iterable[str], aggregate: str) -> None:
        """Put hosts into an aggregate, if it exists."""
        row = self._aggregates.rows.first(name=aggregate)
        for name in names:
            if row is not None and name not in self.hosts_in(aggregate):
                self._aggregates.add_host(row, name)

    def remove_hosts(self, names: Iterable[str], aggregate: str) -> None:
        """Take hosts out of an aggregate, if it exists."""
        row = self._aggregates.rows.first(name=aggregate)
        for name in names:
            if row is not None and name in self.hosts_in(aggregate):
                self._aggregates.remove_host(row, name)

    def delete_aggregate(self, name: str) -> None:
        """Delete an aggregate, if it exists."""
        self.remove_hosts(self.hosts_in(name), name)
        if (aggregate := self._aggregates.rows.first(name=name)) is not None:
            self._aggregates.delete(aggregate)

    # -- servers ----------------------------------------------------------------------------------------------------

    def save_servers(self, aggregate: str) -> None:
        """Make images of the active servers on the hosts of an aggregate."""
        for server in self._servers_in(aggregate):
            if server.image_id and server.vm_state == "active":
                self._records.actions.images.create(server, f"snapshot_{server.name}", {})

    def delete_servers_in(self, aggregate: str) -> None:
        """Delete the servers on the hosts of an aggregate."""
        for server in self._servers_in(aggregate):
            self._records.actions.deletion.begin(server)

    def delete_servers_of(self, project_id: str, flavor_id: str) -> None:
        """Delete the servers of a project that have a flavor."""
        for server in self._records.servers.rows.select(project_id=project_id):
            if server.flavor.id == flavor_id:
                self._records.actions.deletion.begin(server)

    def _servers_in(self, aggregate: str) -> list[Server]:
        return [server for name in self.hosts_in(aggregate) for server in self._records.hosts.servers_on(name)]

    # -- flavors and groups -----------------------------------------------------------------------------------------

    def size_of(self, flavor_id: str) -> Size | None:
        """The size of servers of a flavor; None if it does not exist."""
        flavor = self._records.flavors.rows.get(flavor_id)
        if flavor is None:
            return None
        specs = {name: value for name, value in flavor.extra_specs.items() if name != RESERVED_SIZE}
        return Size(flavor.vcpus, flavor.ram, flavor.disk, specs)

    def create_flavor(self, key: str, size: Size) -> None:
        """Create a flavor for the servers on the hosts of an aggregate with its ID as name."""
        self._records.flavors.create(
            NewFlavor(
                id=key,
                name=f"reservation:{key}",
                ram=size.memory_mb,
                vcpus=size.vcpus,
                disk=size.disk_gb,
                is_public=False,
                extra_specs={**size.extra_specs, RESERVED_SIZE: key},
            )
        )

    def share_flavor(self, key: str, project_id: str) -> None:
        """Let a project use a flavor."""
        flavors = self._records.flavors
        flavor = flavors.rows.require(key)
        if project_id not in flavor.projects:
            flavors.add_access(flavor, project_id)

    def delete_flavor(self, key: str) -> None:
        """Delete a flavor, if it exists."""
        if (flavor := self._records.flavors.rows.get(key)) is not None:
            self._records.flavors.rows.remove(flavor)

    def create_group(self, key: str, name: str, policy: str, project_id: str, user_id: str) -> None:
        """Create a server group with an ID."""
        self._records.server_groups.rows.add(
            ServerGroup(id=key, name=name, policy=policy, rules={}, members=[], project_id=project_id, user_id=user_id)
        )

    def delete_group(self, key: str) -> None:
        """Delete a server group, if it exists."""
        if (group := self._records.server_groups.rows.get(key)) is not None:
            self._records.server_groups.rows.remove(group)
