"""Which resource is reserved when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component
from openstack_emulator.core.store import Record


@dataclass(frozen=True)
class Period:
    """The period of a lease, from `start` to before `end` as `dates.written` writes them.

    lease_id: the lease, if it exists: what it has in the calendar does not count.
    planned: the lease's other reservations, each with the IDs of its resources, which count instead.
    """

    start: str
    end: str
    lease_id: str | None = None
    planned: tuple[tuple[Record, list[str]], ...] = ()


class Calendar(Component):
    """Leases, their reservations, and the resources (hosts, addresses) that a reservation has.

    leases: `{id, name, project_id, user_id, start_date, end_date, before_end_date, status, degraded, trust_id, …}`.
    reservations: `{id, lease_id, resource_id, resource_type, status, …}` with the fields of their type.
    allocations: `{id, reservation_id, resource_id}`, until the reservation ends.
    """

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.leases = records.table("leases", "project_id")
        self.reservations = records.collection("reservations", ("lease_id",), internal=True)
        self.allocations = records.collection("allocations", ("reservation_id", "resource_id"), internal=True)

    def lease_of(self, reservation: Record) -> Record:
        """The lease that a reservation is part of."""
        return self.leases.require(reservation["lease_id"])

    def of_resource(self, resource_id: str) -> list[Record]:
        """The reservations that have a resource, now or later."""
        rows = self.allocations.select(resource_id=resource_id)
        return [self.reservations.require(row["reservation_id"]) for row in rows]

    def during(self, resource_id: str, period: Period) -> Iterator[tuple[Record, Record]]:
        """The reservations that have a resource at some time in a period, each with its lease."""
        for reservation in self.of_resource(resource_id):
            lease = self.lease_of(reservation)
            overlaps = lease["start_date"] < period.end and period.start < lease["end_date"]
            if overlaps and lease["id"] != period.lease_id:
                yield reservation, lease
        for reservation, resources in period.planned:
            if resource_id in resources:
                yield reservation, {"start_date": period.start, "end_date": period.end}

    def resources_of(self, reservation: Record) -> list[str]:
        """The IDs of the resources that a reservation has."""
        return [row["resource_id"] for row in self.allocations.select(reservation_id=reservation["id"])]

    def allocate(self, reservation: Record, resources: list[str]) -> None:
        """Give a reservation these resources instead of those that it has."""
        for row in self.allocations.select(reservation_id=reservation["id"]):
            if row["resource_id"] not in resources:
                self.allocations.remove(row)
        had = self.resources_of(reservation)
        for resource in resources:
            if resource not in had:
                row = {"id": new_id(), "reservation_id": reservation["id"], "resource_id": resource}
                self.allocations.add(row)
