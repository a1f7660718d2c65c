"""What can be reserved: the base of the kinds, and floating IPs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.validation.conversions import as_integer
from openstack_emulator.network.records.core import FloatingIp
from openstack_emulator.network.rules.kinds.kind import CLOUD
from openstack_emulator.reservation.records import Address, Lease, Reservation
from openstack_emulator.reservation.rules.addresses import Addresses
from openstack_emulator.reservation.rules.calendar import Calendar, Period

MAXIMUM_INTEGER = 2**31 - 1
"""Of a column in Blazar's database."""


class AddressShortage(ApiError):
    """There are too few floating IPs for a reservation."""

    def __init__(self) -> None:
        super().__init__(400, "Not enough floating IPs available")


class ReservationKind(ABC):
    """A kind of reservation; `resource_type` is its name in requests, `fields` are those that only it has.

    `start` must be idempotent: it is called again when a reservation that has begun gets more resources.
    """

    resource_type: ClassVar[str]
    fields: ClassVar[tuple[str, ...]]

    def __init__(self, calendar: Calendar) -> None:
        self.calendar = calendar

    @abstractmethod
    def accept(self, values: Mapping[str, object]) -> dict[str, Any]:
        """Return the fields of a reservation that a request describes. Raises ApiError 400."""

    @abstractmethod
    def choose(self, reservation: Reservation, period: Period, present: list[str]) -> list[str]:
        """Return the IDs of the resources for a reservation, of those that it had if possible.

        Raises: ApiError 400 or 409.
        """

    def prepare(self, reservation: Reservation, lease: Lease) -> None:  # noqa: B027  most kinds need nothing
        """Create what a new reservation needs before it begins."""

    @abstractmethod
    def start(self, reservation: Reservation, lease: Lease) -> None:
        """Let the project use the resources. Raises ApiError."""

    def warn(self, reservation: Reservation, lease: Lease) -> None:  # noqa: B027  most kinds do nothing
        """Do what is to be done before the end."""

    @abstractmethod
    def end(self, reservation: Reservation, lease: Lease) -> None:
        """Return the resources, whether the reservation has begun or not."""


class AddressReservations(ReservationKind):
    """Floating IPs: they are created in the project when the lease begins, and deleted when it ends."""

    resource_type = "virtual:floatingip"
    fields = ("network_id", "amount", "required_floatingips")

    def __init__(self, calendar: Calendar, addresses: Addresses) -> None:
        super().__init__(calendar)
        self._addresses = addresses

    def accept(self, values: Mapping[str, object]) -> dict[str, Any]:
        network = required_parameter(values, "network_id")
        requested = values.get("required_floatingips") or []
        if not isinstance(requested, list) or not all(isinstance(text, str) for text in requested):
            raise bad_request("Malformed parameter required_floatingips: it must be a list of addresses.")
        amount = integer_parameter(values, "amount", 0)
        if len(requested) > amount:
            raise bad_request(
                "Invalid values for required_floatingips and amount. The amount must be equal to or longer than length "
                "of required_floatingips."
            )
        return {"network_id": network, "amount": amount, "required_floatingips": requested}

    def choose(self, reservation: Reservation, period: Period, present: list[str]) -> list[str]:
        free = [
            row
            for row in self._addresses.rows
            if row.floating_network_id == reservation.network_id
            and row.reservable
            and self.calendar.is_free(row.id, period)
        ]
        addresses, amount = reservation.required_floatingips or [], reservation.amount or 0
        if not set(addresses) <= {row.floating_ip_address for row in free}:
            raise AddressShortage
        free.sort(key=lambda row: (row.floating_ip_address not in addresses, row.id not in present))
        if len(free) < amount:
            raise AddressShortage
        return [row.id for row in free[:amount]]

    def start(self, reservation: Reservation, lease: Lease) -> None:
        floating_ips = self._addresses.network.floatingips
        for address in self._addresses_of(reservation):
            if self._created(address, reservation) is None:
                floating_ip = floating_ips.create(
                    CLOUD,
                    {
                        "floating_network_id": address.floating_network_id,
                        "floating_ip_address": address.floating_ip_address,
                        "project_id": lease.project_id,
                    },
                )
                floating_ips.rows.update(floating_ip, tags=_tags(reservation))

    def end(self, reservation: Reservation, lease: Lease) -> None:
        floating_ips = self._addresses.network.floatingips
        for address in self._addresses_of(reservation):
            if (floating_ip := self._created(address, reservation)) is not None:
                floating_ips.delete(CLOUD, floating_ip)

    def _addresses_of(self, reservation: Reservation) -> list[Address]:
        return [self._addresses.rows.require(key) for key in self.calendar.resources_of(reservation)]

    def _created(self, address: Address, reservation: Reservation) -> FloatingIp | None:
        """The floating IP that was created for a reservation; None if there is none."""
        rows = self._addresses.network.floatingips.rows
        found = rows.first(floating_ip_address=address.floating_ip_address)
        return found if found is not None and found.tags == _tags(reservation) else None


def _tags(reservation: Reservation) -> list[str]:
    return ["blazar", f"reservation:{reservation.id}"]


def required_parameter(values: Mapping[str, object], name: str) -> object:
    """Return a parameter of a reservation. Raises ApiError 400 if it is missing."""
    if name not in values:
        raise missing_parameter(name)
    return values[name]


def missing_parameter(name: str) -> ApiError:
    """Return the error for a request without a required parameter."""
    return bad_request(f"Missing parameter {name}")


def integer_parameter(values: Mapping[str, object], name: str, minimum: int) -> int:
    """Return a parameter that is an integer of at least `minimum`. Raises ApiError 400."""
    found = as_integer(required_parameter(values, name))
    if found is None or not minimum <= found <= MAXIMUM_INTEGER:
        raise bad_request(f"Malformed parameter {name}")
    return found
