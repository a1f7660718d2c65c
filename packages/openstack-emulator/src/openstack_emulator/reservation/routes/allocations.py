"""The allocations of resources over HTTP."""

from __future__ import annotations

from openstack_emulator.core.http import Request
from openstack_emulator.reservation.rules.composition import Reservations
from openstack_emulator.reservation.views import View, allocation_view


def allocation(service: Reservations, request: Request, key: str) -> View:
    """The reservations of a resource; the query selects them by `lease_id` and `reservation_id`."""
    query = request.query
    return allocation_view(service, key, query.get("lease_id"), query.get("reservation_id"))
