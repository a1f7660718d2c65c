"""The virtual IP address of a load balancer: a port in the emulated network service."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import Any

from openstack_emulator.core.cloud import Cloud
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Context
from openstack_emulator.loadbalancer.records import LoadBalancer, Member
from openstack_emulator.loadbalancer.rules.errors import failure
from openstack_emulator.network.records.core import Port, Subnet
from openstack_emulator.network.rules.composition import NetworkService
from openstack_emulator.network.rules.kinds.kind import Actor

PLACES = ("vip_port_id", "vip_network_id", "vip_subnet_id")
OWNER = "Octavia"


class VirtualAddresses:
    """Makes the ports of load balancers, and deletes those that it has made."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud

    @property
    def _network(self) -> NetworkService:
        return self._cloud.of(NetworkService)

    def check_subnet(self, caller: Context, subnet_id: str | None) -> None:
        """400 for a subnet that the caller cannot see."""
        if subnet_id is not None:
            self._reach("subnets", "Subnet", caller, subnet_id)

    def place(self, caller: Context, balancer: LoadBalancer) -> None:
        """Find the subnet of a new load balancer's address, and the address if it names a port.

        Of a network's subnets, it is the one that contains a given address, or the first one with IPv4, or else the
        first one with IPv6. Raises ApiError 400 for places that do not exist, and 409 for a port in use.
        """
        if balancer.vip_port_id:
            self._settle(balancer, self._free_port(caller, balancer.vip_port_id))
            balancer.owns_port = False
            return
        if balancer.vip_subnet_id:
            subnet: Subnet = self._reach("subnets", "Subnet", caller, balancer.vip_subnet_id)
        elif balancer.vip_network_id:
            self._reach("networks", "Network", caller, balancer.vip_network_id)
            subnet = self._subnet_of(balancer.vip_network_id, balancer.vip_address)
        else:
            raise failure(f"VIP must contain one of: {', '.join(PLACES)}.")
        balancer.vip_network_id, balancer.vip_subnet_id = subnet.network_id, subnet.id

    def _free_port(self, caller: Context, port_id: str) -> Port:
        port: Port = self._reach("ports", "Port", caller, port_id)
        if port.device_id:
            raise ApiError(409, f"Port {port_id} is in use by {port.device_id}.")
        if not port.fixed_ips:
            raise bad_request(f"Port {port_id} has no address.")
        return port

    def version(self, balancer: LoadBalancer) -> int:
        """Return the IP version of a load balancer's address: 4 or 6."""
        if balancer.vip_address:
            return ip_address(balancer.vip_address).version
        return self._network.state.rows.subnets.require(balancer.vip_subnet_id or "").ip_version

    def take(self, balancer: LoadBalancer) -> None:
        """Create the port of a load balancer on its subnet, unless it names one.

        Raises ApiError 400 for an address that cannot be had.
        """
        if not balancer.vip_port_id:
            self._settle(balancer, self._create_port(balancer))

    def _subnet_of(self, network_id: str, address: str | None) -> Subnet:
        subnets = self._network.state.rows.subnets.select(network_id=network_id)
        fitting = [subnet for subnet in subnets if address is None or ip_address(address) in ip_network(subnet.cidr)]
        if not fitting:
            suffix = "" if address is None else f" with the address {address}"
            raise bad_request(f"Network {network_id} has no subnet{suffix}.")
        return min(fitting, key=lambda subnet: subnet.ip_version)

    @staticmethod
    def _settle(balancer: LoadBalancer, port: Port) -> None:
        balancer.vip_port_id, balancer.vip_network_id = port.id, port.network_id
        first = port.fixed_ips[0]
        balancer.vip_subnet_id, balancer.vip_address = first.subnet_id, first.ip_address

    def release(self, balancer: LoadBalancer) -> None:
        """Delete the port of a load balancer, unless its user made it."""
        if balancer.owns_port and balancer.vip_port_id:
            self._network.delete_port(balancer.vip_port_id)

    def answers(self, balancer: LoadBalancer, member: Member) -> bool:
        """Whether something answers at a member's address: a port with it that is up."""
        address = member.monitor_address or member.address
        ports = self._network.ports.rows.select(project_id=balancer.project_id, status="ACTIVE")
        return any(
            fixed.ip_address == address and member.subnet_id in (None, fixed.subnet_id)
            for port in ports
            for fixed in port.fixed_ips
        )

    def _create_port(self, balancer: LoadBalancer) -> Port:
        fixed = {"subnet_id": balancer.vip_subnet_id}
        if balancer.vip_address:
            fixed["ip_address"] = balancer.vip_address
        body = {
            "name": f"octavia-lb-{balancer.id}",
            "network_id": balancer.vip_network_id,
            "device_id": f"lb-{balancer.id}",
            "device_owner": OWNER,
            "admin_state_up": False,
            "fixed_ips": [fixed],
        }
        try:
            return self._network.create_port(balancer.project_id, body, admin=True)
        except ApiError as error:
            raise ApiError(400, f"The VIP port cannot be created: {error.message}") from None

    def _reach(self, table: str, title: str, caller: Context, key: str) -> Any:
        try:
            return self._network.state.of(table).reach(Actor(caller.project_id, caller.is_admin), key)
        except ApiError:
            raise bad_request(f"{title} {key} not found.") from None
