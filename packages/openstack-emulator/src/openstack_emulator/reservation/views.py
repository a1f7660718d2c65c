"""Leases, hosts and addresses as clients see them."""

from __future__ import annotations

from openstack_emulator.core.typed import TypedRecord
from openstack_emulator.reservation.records import Lease, Property, Reservation
from openstack_emulator.reservation.rules.composition import Reservations

View = dict[str, object]
_COMMON = ("id", "lease_id", "resource_id", "resource_type", "status", "missing_resources", "resources_changed",
           "created_at", "updated_at")  # fmt: skip
"""The fields that reservations of all types have."""


def shown(record: TypedRecord) -> View:
    """A record, with all of its fields that clients may see."""
    return {name: value for name, value in record.to_json().items() if name[0] != "_"}


def lease_view(service: Reservations, lease: Lease) -> View:
    """A lease with its reservations and events."""
    leases = service.leases
    view = shown(lease)
    view.pop("before_end_date")  # which its events show
    return {
        **view,
        "reservations": [_reservation_view(service, reservation) for reservation in leases.reservations_of(lease)],
        "events": [shown(event) for event in leases.events.of(lease)],
    }


def _reservation_view(service: Reservations, reservation: Reservation) -> View:
    names = (*_COMMON, *service.leases.kind_of(reservation).fields)
    return {name: reservation.get(name) for name in names}


def property_view(row: Property) -> View:
    """The name of a capability."""
    return {"id": row.key, "property": row.id, "created_at": row.created_at, "updated_at": row.updated_at}


def allocation_view(service: Reservations, key: str, lease_id: str | None, reservation_id: str | None) -> View:
    """The reservations of a resource; a lease and a reservation, if given, select among them."""
    found = []
    for reservation in service.calendar.of_resource(key):
        lease = service.calendar.lease_of(reservation)
        if lease_id in (None, lease.id) and reservation_id in (None, reservation.id):
            dates = {"start_date": lease.start_date, "end_date": lease.end_date}
            found.append({"id": reservation.id, "lease_id": lease.id, **dates})
    return {"resource_id": key, "reservations": found}
