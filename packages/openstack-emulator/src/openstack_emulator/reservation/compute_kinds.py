"""Reservations of the compute service: whole hosts, and room for servers of a size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from openstack_emulator.compute.deletion import Deletion
from openstack_emulator.compute.flavors import Flavors
from openstack_emulator.compute.hosts import RESERVATION_OWNER, RESERVATION_POOL, RESERVED_SIZE, Aggregates
from openstack_emulator.compute.records import ComputeRecords
from openstack_emulator.compute.server_groups import ServerGroups
from openstack_emulator.compute.shelving import ServerImages
from openstack_emulator.core import fields
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import bad_request, conflict
from openstack_emulator.core.store import Record
from openstack_emulator.reservation.calendar import Calendar, Period
from openstack_emulator.reservation.hosts import Hosts, fields_of
from openstack_emulator.reservation.kinds import Kind, number, required
from openstack_emulator.reservation.requirements import requirement

BEFORE_END = ("default", "snapshot", "email")


class ComputeKind(Kind):
    """Hosts of a reservation are in an aggregate with its ID as name."""

    def __init__(self, records: Records, calendar: Calendar, hosts: Hosts) -> None:
        super().__init__(records, calendar)
        self.hosts = hosts

    @property
    def compute(self) -> ComputeRecords:
        return self.cloud.of(ComputeRecords)

    @property
    def aggregates(self) -> Aggregates:
        return self.hosts.aggregates

    def suitable(self, *requirements: Any) -> list[Record]:
        """The reservable hosts with the required properties. Raises ApiError 400 or 404."""
        conditions = [requirement(given, self.hosts.has_property) for given in requirements]
        usable = set(self.compute.hosts.usable())
        return [
            host
            for host in self.hosts.rows
            if host["reservable"]
            and host["hypervisor_hostname"] in usable
            and all(condition(fields_of(host)) for condition in conditions)
        ]

    def names_of(self, reservation: Record) -> list[str]:
        """The names of a reservation's hosts."""
        keys = self.calendar.resources_of(reservation)
        return [self.hosts.rows.require(key)["hypervisor_hostname"] for key in keys]

    def move(self, names: Iterable[str], aggregate: Record | None, present: bool) -> None:
        """Put hosts into an aggregate, or take them out."""
        for name in names:
            if aggregate is not None and (name in aggregate["hosts"]) != present:
                (self.aggregates.add_host if present else self.aggregates.remove_host)(aggregate, name)

    def end_servers(self, servers: Iterable[Record]) -> None:
        """Delete servers whose reservation ends."""
        for server in servers:
            self.compute.component(Deletion).begin(server)

    def remove_aggregate(self, reservation: Record) -> None:
        aggregate = self.aggregates.rows.first(name=reservation["id"])
        if aggregate is not None:
            self.move(list(aggregate["hosts"]), aggregate, False)
            self.aggregates.delete(aggregate)


class HostReservations(ComputeKind):
    """Whole hosts: they leave the pool for an aggregate that the scheduler hint `reservation` names."""

    resource_type = "physical:host"

    def accept(self, given: Mapping[str, Any]) -> Record:
        low, high = number(given, "min", 1), number(given, "max", 1)
        if low > high:
            raise bad_request("Invalid values for min/max of hosts. Max must be equal to or larger than min.")
        before_end = given.get("before_end") or "default"
        if before_end not in BEFORE_END:
            raise bad_request("Malformed parameter before_end")
        wanted = {name: required(given, name) for name in ("hypervisor_properties", "resource_properties")}
        self.suitable(*wanted.values())
        return {**wanted, "min": low, "max": high, "before_end": before_end}

    def choose(self, wanted: Record, period: Period, had: list[str]) -> list[str]:
        suitable = self.suitable(wanted["hypervisor_properties"], wanted["resource_properties"])
        free = [host["id"] for host in suitable if next(self.calendar.during(host["id"], period), None) is None]
        free.sort(key=lambda key: key not in had)
        if len(free) < wanted["min"]:
            raise conflict("Not enough hosts available")
        return free[: wanted["max"]]

    def prepare(self, reservation: Record, lease: Record) -> None:
        aggregate = self.aggregates.create(reservation["id"], None)
        self.aggregates.set_metadata(aggregate, {RESERVATION_OWNER: lease["project_id"]})
        self.calendar.reservations.update(reservation, aggregate_id=int(aggregate["id"]))

    def start(self, reservation: Record, lease: Record) -> None:
        names = self.names_of(reservation)
        self.move(names, self.aggregates.rows.first(name=RESERVATION_POOL), False)
        self.move(names, self.aggregates.rows.first(name=reservation["id"]), True)

    def warn(self, reservation: Record, lease: Record) -> None:
        if reservation["before_end"] == "snapshot":
            for server in self._servers(reservation):
                if server["image_id"] and server["vm_state"] == "active":
                    self.compute.component(ServerImages).create(server, f"snapshot_{server['name']}", {})

    def end(self, reservation: Record, lease: Record) -> None:
        self.end_servers(self._servers(reservation))
        self.remove_aggregate(reservation)
        pool = self.aggregates.rows.first(name=RESERVATION_POOL)
        self.move(self.names_of(reservation), pool, True)

    def _servers(self, reservation: Record) -> list[Record]:
        """The servers on the hosts of a reservation that has begun."""
        aggregate = self.aggregates.rows.first(name=reservation["id"])
        names = [] if aggregate is None else aggregate["hosts"]
        return [server for name in names for server in self.compute.hosts.servers_on(name)]


class InstanceReservations(ComputeKind):
    """Room for servers: they get a flavor of their own, with the ID of the reservation, and a server group."""

    resource_type = "virtual:instance"

    def accept(self, given: Mapping[str, Any]) -> Record:
        size = {name: number(given, name, 1) for name in ("vcpus", "memory_mb")}
        return {**size, "disk_gb": number(given, "disk_gb", 0), **self.placement(given)}

    def placement(self, given: Mapping[str, Any]) -> Record:
        """Return how many servers a reservation has room for, and where. Raises ApiError 400 or 404."""
        affinity = required(given, "affinity")
        together = None if affinity in (None, "None", "") else fields.as_boolean(affinity)
        if together is None and affinity not in (None, "None", ""):
            raise bad_request("Malformed parameter affinity (only affinity = True, False or None is supported)")
        properties = required(given, "resource_properties")
        self.suitable(properties)
        return {"amount": number(given, "amount", 1), "affinity": together, "resource_properties": properties}

    def choose(self, wanted: Record, period: Period, had: list[str]) -> list[str]:
        """The hosts, each as often as it has servers of the reservation."""
        hosts = sorted(self.suitable(wanted["resource_properties"]), key=lambda host: host["id"] not in had)
        room = {host["id"]: self._room(host, wanted, period) for host in hosts}
        amount = wanted["amount"]
        if wanted["affinity"]:
            chosen = [key for key in room if room[key] >= amount][:1] * amount
        elif wanted["affinity"] is None:
            chosen = [key for key in room for _ in range(room[key])][:amount]
        else:
            chosen = [key for key in room if room[key]][:amount]
        if len(chosen) < amount:
            raise conflict("Not enough hosts available")
        return list(dict.fromkeys(chosen))

    def _room(self, host: Record, wanted: Record, period: Period) -> int:
        """How many servers of the size a host has room for all the time."""
        others = list(self.calendar.during(host["id"], period))
        if any(reservation["resource_type"] == HostReservations.resource_type for reservation, _ in others):
            return 0
        moments = [period.start, *(lease["start_date"] for _, lease in others if lease["start_date"] > period.start)]
        least = int(wanted["amount"])
        for field, capacity in (("vcpus", "vcpus"), ("memory_mb", "memory_mb"), ("disk_gb", "local_gb")):
            for moment in moments:
                used = sum(
                    reservation[field] * _most_on_one_host(reservation)
                    for reservation, lease in others
                    if lease["start_date"] <= moment < lease["end_date"]
                )
                if wanted[field]:
                    least = min(least, (host[capacity] - used) // wanted[field])
        return max(least, 0)

    def prepare(self, reservation: Record, lease: Record) -> None:
        key = reservation["id"]
        policy = {True: "affinity", False: "anti-affinity"}.get(reservation["affinity"])
        group: Record = {"id": None}
        if policy is not None:
            owner = {"project_id": lease["project_id"], "user_id": lease["user_id"]}
            rest = {"policy": policy, "rules": {}, "members": []}
            group = {"id": new_id(), "name": f"reservation:{key}", **rest, **owner}
            self.compute.component(ServerGroups).rows.add(group)
        self._make_flavor(reservation)
        aggregate = self.aggregates.create(key, None)
        self.aggregates.set_metadata(aggregate, {"reservation": key, "filter_tenant_id": lease["project_id"]})
        room = {"total": reservation["amount"], "on_one_host": _most_on_one_host(reservation)}
        self.aggregates.rows.update(aggregate, _reserved=room)
        changes = {"flavor_id": key, "server_group_id": group["id"], "aggregate_id": int(aggregate["id"])}
        self.calendar.reservations.update(reservation, **changes)

    def _make_flavor(self, reservation: Record) -> Record:
        key = reservation["id"]
        return self.compute.flavors.create(
            {
                "id": key,
                "name": f"reservation:{key}",
                "ram": reservation["memory_mb"],
                "vcpus": reservation["vcpus"],
                "disk": reservation["disk_gb"],
                "is_public": False,
                "extra_specs": {**reservation.get("_extra_specs", {}), RESERVED_SIZE: key},
            }
        )

    def start(self, reservation: Record, lease: Record) -> None:
        self.move(self.names_of(reservation), self.aggregates.rows.first(name=reservation["id"]), True)
        flavors: Flavors = self.compute.flavors
        flavor = flavors.rows.get(reservation["id"]) or self._make_flavor(reservation)
        if lease["project_id"] not in flavor["_projects"]:
            flavors.add_access(flavor, lease["project_id"])

    def end(self, reservation: Record, lease: Record) -> None:
        key = reservation["id"]
        servers = self.compute.servers.rows.select(project_id=lease["project_id"])
        self.end_servers(server for server in servers if server["flavor"]["id"] == key)
        groups, flavors = self.compute.component(ServerGroups).rows, self.compute.flavors.rows
        for rows, row in ((groups, groups.get(reservation["server_group_id"] or "")), (flavors, flavors.get(key))):
            if row is not None:
                rows.remove(row)
        self.remove_aggregate(reservation)


class FlavorReservations(InstanceReservations):
    """Room for servers of a flavor: their own flavor has its size and its extra specs."""

    resource_type = "flavor:instance"

    def accept(self, given: Mapping[str, Any]) -> Record:
        key = required(given, "flavor_id")
        flavor = self.compute.flavors.rows.get(str(key))
        if flavor is None:
            raise bad_request(f"Malformed parameter flavor_id: there is no flavor {key}.")
        size = {"vcpus": flavor["vcpus"], "memory_mb": flavor["ram"], "disk_gb": flavor["disk"]}
        specs = {name: value for name, value in flavor["extra_specs"].items() if name != RESERVED_SIZE}
        return {**size, **self.placement(given), "_extra_specs": specs}


def _most_on_one_host(reservation: Record) -> int:
    """How many servers of a reservation may be on one host."""
    return 1 if reservation["affinity"] is False else int(reservation["amount"])
