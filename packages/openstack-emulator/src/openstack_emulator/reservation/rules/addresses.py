"""Floating IPs that can be reserved: addresses that the network service itself does not give away."""

from __future__ import annotations

from ipaddress import AddressValueError, IPv4Address, ip_network
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import bad_request, conflict, not_found
from openstack_emulator.core.rules import Rules
from openstack_emulator.network.rules.composition import NetworkService
from openstack_emulator.reservation.records import Address
from openstack_emulator.reservation.rules.calendar import Calendar
from openstack_emulator.reservation.rules.dates import STAMP


class Addresses(Rules):
    """The addresses of all networks."""

    def __init__(self, records: Records, calendar: Calendar) -> None:
        super().__init__(records)
        self.rows = records.table(
            "floatingips", Address, missing=lambda key: not_found(f"Floating IP {key} not found.")
        )
        self._calendar = calendar

    @property
    def network(self) -> NetworkService:
        """The records of the network service."""
        return self.cloud.of(NetworkService)

    def create(self, body: Any) -> Address:
        """Register an address. Raises ApiError: 400 for an unknown network, 404, or 409 for an address in use."""
        names = ("floating_network_id", "floating_ip_address")
        if not isinstance(body, dict):
            raise bad_request("The request body must be a JSON object.")
        for name in names:
            if not isinstance(body.get(name), str):
                raise bad_request(f"Missing parameter {name}")
        network_id, text = (body[name] for name in names)
        try:
            address = IPv4Address(text)
        except AddressValueError:
            raise bad_request(f"IP address {text} is invalid.") from None
        subnet_id = self._subnet(network_id, address)
        if any(row.floating_ip_address == text for row in self.rows):
            raise conflict(f"The floating IP {text} is registered already.")
        if self.network.state.rows.floatingips.first(floating_ip_address=text) is not None:
            raise conflict(f"Floating IP address {text} is already used by Neutron.")
        return self.rows.add(
            Address(
                id=new_id(),
                floating_network_id=network_id,
                subnet_id=subnet_id,
                floating_ip_address=text,
                reservable=True,
                created_at=self.records.timestamp(STAMP),
                updated_at=None,
            )
        )

    def remove(self, address: Address) -> None:
        """Remove an address. Raises ApiError 409 while it is reserved."""
        key = address.id
        if self._calendar.of_resource(key):
            raise conflict(f"Can't delete floating IP {key}. Floating IP id {key} is allocated by reservations.")
        self.rows.remove(address)

    def _subnet(self, network_id: str, address: IPv4Address) -> str:
        """The ID of the subnet of an external network that an address is in, but not in its allocation pools."""
        rows = self.network.state.rows
        network = rows.networks.get(network_id)
        if network is None:
            raise bad_request(f"Failed to find network {network_id}")
        for subnet in rows.subnets.select(network_id=network_id) if network.external else ():
            if subnet.ip_version == 4 and address in ip_network(subnet.cidr):
                pools = subnet.allocation_pools
                pooled = any(IPv4Address(pool.start) <= address <= IPv4Address(pool.end) for pool in pools)
                if pooled or str(address) == subnet.gateway_ip:
                    raise bad_request(
                        f"The floating IP {address} is used in allocation_pools or gateway_ip in subnet {subnet.id} ."
                    )
                return subnet.id
        raise not_found(f"Valid subnet for the floating IP {address} is not found.")
