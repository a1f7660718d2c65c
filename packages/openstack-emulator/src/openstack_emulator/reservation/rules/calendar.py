"""Which resource is reserved when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.rules import Rules
from openstack_emulator.reservation.records import Allocation, Lease, Reservation


@dataclass(frozen=True)
class Period:
    """The period of a lease, from `start` to before `end` as `dates.written` writes them.

    lease_id: the lease, if it exists: what it has in the calendar does not count.
    planned: the lease's other reservations, each with the IDs of its resources, which count instead.
    """

    start: str
    end: str
    lease_id: str | None = None
    planned: tuple[tuple[Reservation, list[str]], ...] = ()


class Booking(NamedTuple):
    """A reservation that has a resource, and its period."""

    reservation: Reservation
    start: str
    end: str


class Calendar(Rules):
    """Leases, their reservations, and the resources (hosts, addresses) that a reservation has."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.leases = records.table("leases", Lease, "project_id")
        self.reservations = records.table("reservations", Reservation, "lease_id", internal=True)
        self._allocations = records.table("allocations", Allocation, "reservation_id", "resource_id", internal=True)

    def lease_of(self, reservation: Reservation) -> Lease:
        """The lease that a reservation is part of."""
        return self.leases.require(reservation.lease_id)

    def of_resource(self, resource_id: str) -> list[Reservation]:
        """The reservations that have a resource, now or later."""
        rows = self._allocations.select(resource_id=resource_id)
        return [self.reservations.require(row.reservation_id) for row in rows]

    def during(self, resource_id: str, period: Period) -> Iterator[Booking]:
        """The reservations that have a resource at some time in a period."""
        for reservation in self.of_resource(resource_id):
            lease = self.lease_of(reservation)
            overlaps = lease.start_date < period.end and period.start < lease.end_date
            if overlaps and lease.id != period.lease_id:
                yield Booking(reservation, lease.start_date, lease.end_date)
        for reservation, resources in period.planned:
            if resource_id in resources:
                yield Booking(reservation, period.start, period.end)

    def is_free(self, resource_id: str, period: Period) -> bool:
        """Whether no reservation has a resource in a period."""
        return next(self.during(resource_id, period), None) is None

    def resources_of(self, reservation: Reservation) -> list[str]:
        """The IDs of the resources that a reservation has."""
        return [row.resource_id for row in self._allocations.select(reservation_id=reservation.id)]

    def allocate(self, reservation: Reservation, resources: list[str]) -> None:
        """Give a reservation these resources instead of those that it has."""
        for row in self._allocations.select(reservation_id=reservation.id):
            if row.resource_id not in resources:
                self._allocations.remove(row)
        present = self.resources_of(reservation)
        for resource in resources:
            if resource not in present:
                self._allocations.add(Allocation(id=new_id(), reservation_id=reservation.id, resource_id=resource))
