"""The reservation service: its tables, and the rules for them. Who depends on whom is to be read here."""

from __future__ import annotations

from typing import ClassVar

from openstack_emulator.core.cloud import Cloud, Records
from openstack_emulator.reservation.rules.addresses import Addresses
from openstack_emulator.reservation.rules.calendar import Calendar
from openstack_emulator.reservation.rules.compute import Compute
from openstack_emulator.reservation.rules.compute_kinds import (
    FlavorReservations,
    HostReservations,
    InstanceReservations,
)
from openstack_emulator.reservation.rules.events import BEFORE_END, END, START, Events
from openstack_emulator.reservation.rules.hosts import Hosts
from openstack_emulator.reservation.rules.kinds import AddressReservations, ReservationKind
from openstack_emulator.reservation.rules.leases import Leases


class Reservations(Records):
    """Hosts, floating IPs, and leases of them."""

    service = "blazar"
    not_found_messages: ClassVar = {"leases": "Object with {{'lease_id': '{}'}} not found"}

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.calendar = calendar = Calendar(self)
        self._compute = compute = Compute(cloud)
        self.hosts = hosts = Hosts(self, calendar, compute)
        self.addresses = Addresses(self, calendar)
        kinds: list[ReservationKind] = [
            HostReservations(calendar, hosts, compute),
            InstanceReservations(calendar, hosts, compute),
            FlavorReservations(calendar, hosts, compute),
            AddressReservations(calendar, self.addresses),
        ]
        events = Events(self, calendar.leases.get)
        self.leases = leases = Leases(self, calendar, kinds, events)
        events.actions = {START: leases.begin, BEFORE_END: leases.warn, END: leases.finish}
        events.on_failed_start = leases.fail

    def seed(self) -> None:
        """Create the aggregate of the hosts in the pool, which an operator creates with the service."""
        self._compute.create_pool()
