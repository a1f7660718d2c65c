"""Compute hosts: their capacity, the services that they run, and aggregates with their availability zones."""

from __future__ import annotations

from typing import Any

from openstack_emulator.compute.tables import ZONE, Counters
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import bad_request, conflict, not_found
from openstack_emulator.core.store import Collection, Record

COMPUTE_HOSTS = ("compute-1", "compute-2", "compute-3", "compute-4")
CONTROLLER = "controller"
INTERNAL_ZONE = "internal"
CAPACITY = {"vcpus": 512, "memory_mb": 4 * 1024 * 1024, "local_gb": 200 * 1024}
CPU_RATIO = 16
RESERVATION_POOL = "freepool"
"""The aggregate of the hosts that only servers of reservations may use."""
RESERVATION_OWNER = "blazar:owner"
"""In the metadata of an aggregate of reserved hosts: the ID of the project whose servers may use them."""
RESERVED_SIZE = "aggregate_instance_extra_specs:reservation"
"""In the extra specs of a flavor: the aggregate whose hosts its servers may use."""


class Hosts(Component):
    """Compute hosts, and the services of compute by host.

    servers: the collection of servers, whose flavors count as used.
    """

    def __init__(self, records: Records, counters: Counters, servers: Collection) -> None:
        super().__init__(records)
        self.rows = records.table("hosts")
        self.services = records.table("services")
        self._counters = counters
        self._servers = servers

    def seed(self) -> None:
        for host in COMPUTE_HOSTS:
            self.rows.add({"id": host, "uuid": new_id(), "number": self._counters.next("hosts"), **CAPACITY})
        for binary, host in (
            ("nova-conductor", CONTROLLER),
            ("nova-scheduler", CONTROLLER),
            *(("nova-compute", host) for host in COMPUTE_HOSTS),
        ):
            self.services.add(
                {
                    "id": new_id(),
                    "number": self._counters.next("services"),
                    "binary": binary,
                    "host": host,
                    "disabled": False,
                    "disabled_reason": None,
                    "forced_down": False,
                }
            )

    def usable(self) -> list[str]:
        """The hosts whose compute service is enabled and up."""
        off = {row["host"] for row in self.services if row["disabled"] or row["forced_down"]}
        return [host["id"] for host in self.rows if host["id"] not in off]

    def usage(self, host: str) -> dict[str, int]:
        """The resources that the servers of a host use."""
        servers = self._servers.select(host=host)
        return {
            "running_vms": len(servers),
            "vcpus_used": sum(server["flavor"]["vcpus"] for server in servers),
            "memory_mb_used": 512 + sum(server["flavor"]["ram"] for server in servers),
            "local_gb_used": sum(server["flavor"]["disk"] + server["flavor"]["ephemeral"] for server in servers),
        }

    def servers_on(self, host: str) -> list[Record]:
        """The servers of a host."""
        return self._servers.select(host=host)

    def service_of(self, host: str | None) -> Record | None:
        """The compute service of a host."""
        return self.services.first(binary="nova-compute", host=host)

    def has_room(self, host: str, flavor: Record) -> bool:
        """Whether a server of a flavor fits on a host."""
        record, used = self.rows.require(host), self.usage(host)
        return bool(
            used["vcpus_used"] + flavor["vcpus"] <= record["vcpus"] * CPU_RATIO
            and used["memory_mb_used"] + flavor["ram"] <= record["memory_mb"]
            and used["local_gb_used"] + flavor["disk"] + flavor["ephemeral"] <= record["local_gb"]
        )


class Aggregates(Component):
    """Aggregates of hosts, and the availability zones that they define."""

    def __init__(self, records: Records, counters: Counters, hosts: Hosts) -> None:
        super().__init__(records)
        self.rows = records.table("aggregates", "name")
        self.hosts = hosts
        self._counters = counters

    def zone_of(self, host: str | None) -> str:
        """The availability zone a host is in."""
        for aggregate in self.rows:
            if host in aggregate["hosts"] and aggregate["metadata"].get("availability_zone"):
                return str(aggregate["metadata"]["availability_zone"])
        return ZONE

    def zones(self) -> dict[str, list[str]]:
        """The hosts of each availability zone that has any."""
        found: dict[str, list[str]] = {}
        for host in self.hosts.rows:
            found.setdefault(self.zone_of(host["id"]), []).append(host["id"])
        return found

    def zone_of_service(self, service: Record) -> str:
        """The availability zone of a service: those of the controller are in the internal one."""
        return INTERNAL_ZONE if service["host"] == CONTROLLER else self.zone_of(service["host"])

    def admits(self, host: str, server: Record, flavor: Record) -> bool:
        """Whether reservations let a server use a host: one with the flavor, or the scheduler hint, of a reservation
        may use its hosts and no others; all other servers may use only hosts that are not in the pool or reserved.
        """
        names = {row["name"]: row["metadata"] for row in self.rows if host in row["hosts"]}
        if (size := flavor["extra_specs"].get(RESERVED_SIZE)) is not None:
            return size in names
        if (hint := server["_hints"].get("reservation")) is not None:
            owner = server["project_id"]
            return any(name == hint and metadata.get(RESERVATION_OWNER) == owner for name, metadata in names.items())
        return RESERVATION_POOL not in names and not any(RESERVATION_OWNER in metadata for metadata in names.values())

    def reserved_for(self, flavor: Record) -> Record | None:
        """The aggregate of the reservation that a flavor belongs to, or None. Its `_reserved` says for how many servers
        there is room: `{total, on_one_host}`.
        """
        size = flavor["extra_specs"].get(RESERVED_SIZE)
        found = None if size is None else self.rows.first(name=size)
        return found if found is not None and "_reserved" in found else None

    def create(self, name: str, zone: str | None) -> Record:
        """A new aggregate without hosts; 409 when the name is taken."""
        self._refuse_taken(name)
        return self.rows.add(
            {
                "id": str(self._counters.next("aggregates")),
                "uuid": new_id(),
                "name": name,
                "hosts": [],
                "metadata": {"availability_zone": zone} if zone else {},
                "created_at": self.moment(),
                "updated_at": None,
            }
        )

    def update(self, aggregate: Record, changes: dict[str, Any]) -> None:
        """Set name and availability_zone; 409 for a taken name or a zone its hosts cannot be in."""
        if "name" in changes and changes["name"] != aggregate["name"]:
            self._refuse_taken(changes["name"])
            self.rows.update(aggregate, name=changes["name"], updated_at=self.moment())
        if "availability_zone" in changes:
            self.set_metadata(aggregate, {"availability_zone": changes["availability_zone"]})

    def set_metadata(self, aggregate: Record, changes: dict[str, str | None]) -> None:
        """Set keys, and remove those that are None."""
        zone = changes.get("availability_zone")
        if zone is not None:
            for host in aggregate["hosts"]:
                self._refuse_second_zone(host, zone, aggregate)
        merged = {**aggregate["metadata"], **changes}
        kept = {key: value for key, value in merged.items() if value is not None}
        self.rows.update(aggregate, metadata=kept, updated_at=self.moment())

    def delete(self, aggregate: Record) -> None:
        """Delete an aggregate; 400 while it has hosts."""
        if aggregate["hosts"]:
            raise bad_request(f"Cannot remove aggregate {aggregate['id']}: Host aggregate is not empty.")
        self.rows.remove(aggregate)

    def add_host(self, aggregate: Record, host: str) -> None:
        """Add a host to an aggregate; 404 for an unknown host, 409 when it is a member or would be in two zones."""
        self.hosts.rows.require(host)
        if host in aggregate["hosts"]:
            raise conflict(f"Cannot add host {host} in aggregate {aggregate['id']}: host exists already.")
        if zone := aggregate["metadata"].get("availability_zone"):
            self._refuse_second_zone(host, zone, aggregate)
        self.rows.update(aggregate, hosts=[*aggregate["hosts"], host], updated_at=self.moment())

    def remove_host(self, aggregate: Record, host: str) -> None:
        """Remove a host from an aggregate; 404 when it is not a member."""
        if host not in aggregate["hosts"]:
            raise not_found(f"Cannot remove host {host} in aggregate {aggregate['id']}: it has no such host.")
        kept = [one for one in aggregate["hosts"] if one != host]
        self.rows.update(aggregate, hosts=kept, updated_at=self.moment())

    def _refuse_taken(self, name: str) -> None:
        if self.rows.first(name=name) is not None:
            raise conflict(f"Aggregate {name} already exists.")

    def _refuse_second_zone(self, host: str, zone: str, aggregate: Record) -> None:
        for other in self.rows:
            held = other["metadata"].get("availability_zone")
            if other is not aggregate and host in other["hosts"] and held not in (None, zone):
                raise conflict(
                    f"Cannot add host {host} in aggregate {aggregate['id']}: "
                    f"Host already in availability zone {held} of another aggregate."
                )
