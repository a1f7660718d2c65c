"""Reservations of the compute service: whole hosts, and room for servers of a size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.compute.rules.aggregates import RESERVATION_OWNER, RESERVATION_POOL
from openstack_emulator.core.cloud import new_id
from openstack_emulator.core.errors import bad_request, conflict
from openstack_emulator.core.validation.conversions import as_boolean
from openstack_emulator.reservation.records import Host, Lease, Reservation
from openstack_emulator.reservation.rules.calendar import Calendar, Period
from openstack_emulator.reservation.rules.compute import Compute, Size
from openstack_emulator.reservation.rules.hosts import Hosts, fields_of
from openstack_emulator.reservation.rules.kinds import ReservationKind, integer_parameter, required_parameter
from openstack_emulator.reservation.rules.requirements import requirement

BEFORE_END = ("default", "snapshot", "email")
_CAPACITIES = (("vcpus", "vcpus"), ("memory_mb", "memory_mb"), ("disk_gb", "local_gb"))
"""Fields of a reservation, and of a host, that has so much for all."""


class ComputeKind(ReservationKind):
    """Hosts of a reservation are in an aggregate with its ID as name."""

    def __init__(self, calendar: Calendar, hosts: Hosts, compute: Compute) -> None:
        super().__init__(calendar)
        self.hosts = hosts
        self.compute = compute

    def suitable(self, *requirements: object) -> list[Host]:
        """The reservable hosts with the required properties. Raises ApiError 400 or 404."""
        conditions = [requirement(expression, self.hosts.has_property) for expression in requirements]
        usable = self.compute.usable()
        return [
            host
            for host in self.hosts.rows
            if host.reservable
            and host.hypervisor_hostname in usable
            and all(condition(fields_of(host)) for condition in conditions)
        ]

    def names_of(self, reservation: Reservation) -> list[str]:
        """The names of a reservation's hosts."""
        return [self.hosts.rows.require(key).hypervisor_hostname for key in self.calendar.resources_of(reservation)]


class HostReservations(ComputeKind):
    """Whole hosts: they leave the pool for an aggregate that the scheduler hint `reservation` names."""

    resource_type = "physical:host"
    fields = ("hypervisor_properties", "resource_properties", "min", "max", "before_end", "aggregate_id")

    def accept(self, values: Mapping[str, object]) -> dict[str, Any]:
        low, high = integer_parameter(values, "min", 1), integer_parameter(values, "max", 1)
        if low > high:
            raise bad_request("Invalid values for min/max of hosts. Max must be equal to or larger than min.")
        before_end = values.get("before_end") or "default"
        if before_end not in BEFORE_END:
            raise bad_request("Malformed parameter before_end")
        body = {name: required_parameter(values, name) for name in ("hypervisor_properties", "resource_properties")}
        self.suitable(*body.values())
        return {**body, "min": low, "max": high, "before_end": before_end}

    def choose(self, reservation: Reservation, period: Period, present: list[str]) -> list[str]:
        suitable = self.suitable(reservation.hypervisor_properties, reservation.resource_properties)
        free = [host.id for host in suitable if self.calendar.is_free(host.id, period)]
        free.sort(key=lambda key: key not in present)
        if len(free) < (reservation.min or 0):
            raise conflict("Not enough hosts available")
        return free[: reservation.max]

    def prepare(self, reservation: Reservation, lease: Lease) -> None:
        metadata = {RESERVATION_OWNER: lease.project_id}
        reservation.aggregate_id = self.compute.create_aggregate(reservation.id, metadata)
        self.calendar.reservations.save(reservation)

    def start(self, reservation: Reservation, lease: Lease) -> None:
        names = self.names_of(reservation)
        self.compute.remove_hosts(names, RESERVATION_POOL)
        self.compute.add_hosts(names, reservation.id)

    def warn(self, reservation: Reservation, lease: Lease) -> None:
        if reservation.before_end == "snapshot":
            self.compute.save_servers(reservation.id)

    def end(self, reservation: Reservation, lease: Lease) -> None:
        self.compute.delete_servers_in(reservation.id)
        self.compute.delete_aggregate(reservation.id)
        self.compute.add_hosts(self.names_of(reservation), RESERVATION_POOL)


class InstanceReservations(ComputeKind):
    """Room for servers: they get a flavor of their own, with the ID of the reservation, and a server group."""

    resource_type = "virtual:instance"
    fields = ("vcpus", "memory_mb", "disk_gb", "amount", "affinity", "resource_properties", "flavor_id",
              "server_group_id", "aggregate_id")  # fmt: skip

    def accept(self, values: Mapping[str, object]) -> dict[str, Any]:
        size = {name: integer_parameter(values, name, 1) for name in ("vcpus", "memory_mb")}
        return {**size, "disk_gb": integer_parameter(values, "disk_gb", 0), **self.placement(values)}

    def placement(self, values: Mapping[str, object]) -> dict[str, Any]:
        """Return how many servers a reservation has room for, and where. Raises ApiError 400 or 404."""
        affinity = required_parameter(values, "affinity")
        together = None if affinity in (None, "None", "") else as_boolean(affinity)
        if together is None and affinity not in (None, "None", ""):
            raise bad_request("Malformed parameter affinity (only affinity = True, False or None is supported)")
        properties = required_parameter(values, "resource_properties")
        self.suitable(properties)
        return {
            "amount": integer_parameter(values, "amount", 1),
            "affinity": together,
            "resource_properties": properties,
        }

    def choose(self, reservation: Reservation, period: Period, present: list[str]) -> list[str]:
        """The hosts, each as often as it has servers of the reservation."""
        hosts = sorted(self.suitable(reservation.resource_properties), key=lambda host: host.id not in present)
        room = {host.id: self._room(host, reservation, period) for host in hosts}
        amount = reservation.amount or 0
        if reservation.affinity:
            chosen = [key for key in room if room[key] >= amount][:1] * amount
        elif reservation.affinity is None:
            chosen = [key for key in room for _ in range(room[key])][:amount]
        else:
            chosen = [key for key in room if room[key]][:amount]
        if len(chosen) < amount:
            raise conflict("Not enough hosts available")
        return list(dict.fromkeys(chosen))

    def _room(self, host: Host, reservation: Reservation, period: Period) -> int:
        """How many servers of the size a host has room for all the time."""
        others = list(self.calendar.during(host.id, period))
        if any(other.reservation.resource_type == HostReservations.resource_type for other in others):
            return 0
        moments = [period.start, *(other.start for other in others if other.start > period.start)]
        least = reservation.amount or 0
        for field, capacity in _CAPACITIES:
            size = reservation.get(field)
            for moment in moments:
                used = sum(
                    other.reservation.get(field) * _most_on_one_host(other.reservation)
                    for other in others
                    if other.start <= moment < other.end
                )
                if size:
                    least = min(least, (host.get(capacity) - used) // size)
        return max(least, 0)

    def prepare(self, reservation: Reservation, lease: Lease) -> None:
        key = reservation.id
        policy = {True: "affinity", False: "anti-affinity", None: None}[reservation.affinity]
        if policy is not None:
            reservation.server_group_id = new_id()
            self.compute.create_group(
                reservation.server_group_id, f"reservation:{key}", policy, lease.project_id, lease.user_id
            )
        self.compute.create_flavor(key, _size(reservation))
        metadata = {"reservation": key, "filter_tenant_id": lease.project_id}
        reservation.flavor_id, reservation.aggregate_id = key, self.compute.create_aggregate(key, metadata)
        self.compute.set_room(key, reservation.amount or 0, _most_on_one_host(reservation))
        self.calendar.reservations.save(reservation)

    def start(self, reservation: Reservation, lease: Lease) -> None:
        self.compute.add_hosts(self.names_of(reservation), reservation.id)
        if self.compute.size_of(reservation.id) is None:
            self.compute.create_flavor(reservation.id, _size(reservation))
        self.compute.share_flavor(reservation.id, lease.project_id)

    def end(self, reservation: Reservation, lease: Lease) -> None:
        self.compute.delete_servers_of(lease.project_id, reservation.id)
        self.compute.delete_group(reservation.server_group_id or "")
        self.compute.delete_flavor(reservation.id)
        self.compute.delete_aggregate(reservation.id)


class FlavorReservations(InstanceReservations):
    """Room for servers of a flavor: their own flavor has its size and its extra specs."""

    resource_type = "flavor:instance"

    def accept(self, values: Mapping[str, object]) -> dict[str, Any]:
        key = required_parameter(values, "flavor_id")
        size = self.compute.size_of(str(key))
        if size is None:
            raise bad_request(f"Malformed parameter flavor_id: there is no flavor {key}.")
        body = {"vcpus": size.vcpus, "memory_mb": size.memory_mb, "disk_gb": size.disk_gb}
        return {**body, **self.placement(values), "extra_specs": size.extra_specs}


def _size(reservation: Reservation) -> Size:
    return Size(
        reservation.vcpus or 0, reservation.memory_mb or 0, reservation.disk_gb or 0, reservation.extra_specs or {}
    )


def _most_on_one_host(reservation: Reservation) -> int:
    """How many servers of a reservation may be on one host."""
    return 1 if reservation.affinity is False else reservation.amount or 0
