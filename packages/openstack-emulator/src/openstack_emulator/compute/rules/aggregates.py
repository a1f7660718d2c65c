"""Aggregates of hosts, with their availability zones."""

from __future__ import annotations

from typing import Any

from openstack_emulator.compute.records import Aggregate, ReservedCapacity, Server, ServerFlavor, ServiceProcess
from openstack_emulator.compute.rules.constants import ZONE
from openstack_emulator.compute.rules.counters import Counters
from openstack_emulator.compute.rules.hosts import CONTROLLER, Hosts
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import bad_request, conflict, not_found
from openstack_emulator.core.rules import Rules

INTERNAL_ZONE = "internal"
RESERVATION_POOL = "freepool"
"""The aggregate of the hosts that only servers of reservations may use."""
RESERVATION_OWNER = "blazar:owner"
"""In the metadata of an aggregate of reserved hosts: the ID of the project whose servers may use them."""
RESERVED_SIZE = "aggregate_instance_extra_specs:reservation"
"""In the extra specs of a flavor: the aggregate whose hosts its servers may use."""


class Aggregates(Rules):
    """Aggregates of hosts, and the availability zones that they define."""

    def __init__(self, records: Records, counters: Counters, hosts: Hosts) -> None:
        super().__init__(records)
        self.rows = records.table("aggregates", Aggregate, "name")
        self.hosts = hosts
        self._counters = counters

    def zone_of(self, host: str | None) -> str:
        """The availability zone a host is in."""
        for aggregate in self.rows:
            if host in aggregate.hosts and (zone := aggregate.metadata.get("availability_zone")):
                return zone
        return ZONE

    def zones(self) -> dict[str, list[str]]:
        """The hosts of each availability zone that has any."""
        found: dict[str, list[str]] = {}
        for host in self.hosts.rows:
            found.setdefault(self.zone_of(host.id), []).append(host.id)
        return found

    def zone_of_service(self, service: ServiceProcess) -> str:
        """The availability zone of a service: those of the controller are in the internal one."""
        return INTERNAL_ZONE if service.host == CONTROLLER else self.zone_of(service.host)

    def admits(self, host: str, server: Server, flavor: ServerFlavor) -> bool:
        """Whether reservations let a server use a host: one with the flavor, or the scheduler hint, of a reservation
        may use its hosts and no others; all other servers may use only hosts that are not in the pool or reserved.
        """
        names = {row.name: row.metadata for row in self.rows if host in row.hosts}
        if (size := flavor.extra_specs.get(RESERVED_SIZE)) is not None:
            return size in names
        if (hint := server.hints.get("reservation")) is not None:
            owner = server.project_id
            return any(name == hint and metadata.get(RESERVATION_OWNER) == owner for name, metadata in names.items())
        return RESERVATION_POOL not in names and not any(RESERVATION_OWNER in metadata for metadata in names.values())

    def reserved_for(self, flavor: ServerFlavor) -> tuple[Aggregate, ReservedCapacity] | None:
        """The aggregate of the reservation that a flavor belongs to, and for how many servers it has room; or None."""
        size = flavor.extra_specs.get(RESERVED_SIZE)
        found = None if size is None else self.rows.first(name=size)
        return None if found is None or found.reserved is None else (found, found.reserved)

    def create(self, name: str, zone: str | None) -> Aggregate:
        """A new aggregate without hosts; 409 when the name is taken."""
        self._refuse_taken(name)
        return self.rows.add(
            Aggregate(
                id=str(self._counters.next("aggregates")),
                uuid=new_id(),
                name=name,
                hosts=[],
                metadata={"availability_zone": zone} if zone else {},
                created_at=self.moment(),
                updated_at=None,
            )
        )

    def update(self, aggregate: Aggregate, changes: dict[str, Any]) -> None:
        """Set name and availability_zone; 409 for a taken name or a zone its hosts cannot be in."""
        name = changes.get("name", aggregate.name)
        if name != aggregate.name:
            self._refuse_taken(name)
            self.rows.update(aggregate, name=name, updated_at=self.moment())
        if "availability_zone" in changes:
            self.set_metadata(aggregate, {"availability_zone": changes.get("availability_zone")})

    def set_metadata(self, aggregate: Aggregate, changes: dict[str, str | None]) -> None:
        """Set keys, and remove those that are None."""
        zone = changes.get("availability_zone")
        if zone is not None:
            for host in aggregate.hosts:
                self._refuse_second_zone(host, zone, aggregate)
        merged = {**aggregate.metadata, **changes}
        remaining = {key: value for key, value in merged.items() if value is not None}
        self.rows.update(aggregate, metadata=remaining, updated_at=self.moment())

    def delete(self, aggregate: Aggregate) -> None:
        """Delete an aggregate; 400 while it has hosts."""
        if aggregate.hosts:
            raise bad_request(f"Cannot remove aggregate {aggregate.id}: Host aggregate is not empty.")
        self.rows.remove(aggregate)

    def add_host(self, aggregate: Aggregate, host: str) -> None:
        """Add a host to an aggregate; 404 for an unknown host, 409 when it is a member or would be in two zones."""
        self.hosts.rows.require(host)
        if host in aggregate.hosts:
            raise conflict(f"Cannot add host {host} in aggregate {aggregate.id}: host exists already.")
        if zone := aggregate.metadata.get("availability_zone"):
            self._refuse_second_zone(host, zone, aggregate)
        self.rows.update(aggregate, hosts=[*aggregate.hosts, host], updated_at=self.moment())

    def remove_host(self, aggregate: Aggregate, host: str) -> None:
        """Remove a host from an aggregate; 404 when it is not a member."""
        if host not in aggregate.hosts:
            raise not_found(f"Cannot remove host {host} in aggregate {aggregate.id}: it has no such host.")
        remaining = [member for member in aggregate.hosts if member != host]
        self.rows.update(aggregate, hosts=remaining, updated_at=self.moment())

    def _refuse_taken(self, name: str) -> None:
        if self.rows.first(name=name) is not None:
            raise conflict(f"Aggregate {name} already exists.")

    def _refuse_second_zone(self, host: str, zone: str, aggregate: Aggregate) -> None:
        for other in self.rows:
            held = other.metadata.get("availability_zone")
            if other is not aggregate and host in other.hosts and held not in (None, zone):
                raise conflict(
                    f"Cannot add host {host} in aggregate {aggregate.id}: "
                    f"Host already in availability zone {held} of another aggregate."
                )
