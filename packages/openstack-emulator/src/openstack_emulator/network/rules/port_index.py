"""What ports take, derived from them."""

from __future__ import annotations

from openstack_emulator.network.records.core import Port
from openstack_emulator.network.rules.attributes import address_of


class PortIndex:
    """What ports use: addresses of subnets, MAC addresses of networks, security groups. Built again at each start."""

    def __init__(self) -> None:
        self.addresses: dict[str, dict[int, str]] = {}
        self.macs: set[tuple[str, str]] = set()
        self.group_ports: dict[str, set[str]] = {}

    def add(self, port: Port) -> None:
        for fixed in port.fixed_ips:
            taken = self.addresses.setdefault(fixed.subnet_id, {})
            taken[int(address_of(fixed.ip_address))] = port.id
        self.macs.add((port.network_id, port.mac_address))
        for group_id in port.security_groups:
            self.group_ports.setdefault(group_id, set()).add(port.id)

    def remove(self, port: Port) -> None:
        for fixed in port.fixed_ips:
            self.addresses[fixed.subnet_id].pop(int(address_of(fixed.ip_address)), None)
        self.macs.discard((port.network_id, port.mac_address))
        for group_id in port.security_groups:
            self.group_ports[group_id].discard(port.id)

    def taken(self, subnet_id: str) -> dict[int, str]:
        """Address as a number → the port that has it."""
        return self.addresses.get(subnet_id, {})
