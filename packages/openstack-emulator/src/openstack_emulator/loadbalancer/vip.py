"""The virtual IP address of a load balancer: a port in the emulated network service."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

from openstack_emulator.core.cloud import Cloud
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Record
from openstack_emulator.loadbalancer.checks import failure
from openstack_emulator.network.kinds import Actor
from openstack_emulator.network.records import NetworkRecords

PLACES = ("vip_port_id", "vip_network_id", "vip_subnet_id")
OWNER = "Octavia"


class VirtualAddresses:
    """Makes the ports of load balancers, and deletes those that it has made."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud

    @property
    def _network(self) -> NetworkRecords:
        return self._cloud.of(NetworkRecords)

    def check_subnet(self, caller: Context, subnet_id: str | None) -> None:
        """400 for a subnet that the caller cannot see."""
        if subnet_id is not None:
            self._reach("subnets", "Subnet", caller, subnet_id)

    def place(self, caller: Context, balancer: Record) -> None:
        """Find the subnet of a new load balancer's address, and the address if it names a port.

        Of a network's subnets, it is the one that contains a given address, or the first one with IPv4, or else the
        first one with IPv6. Raises ApiError 400 for places that do not exist, and 409 for a port in use.
        """
        if not any(balancer[name] for name in PLACES):
            raise failure(f"VIP must contain one of: {', '.join(PLACES)}.")
        if balancer["vip_port_id"]:
            port = self._reach("ports", "Port", caller, balancer["vip_port_id"])
            if port["device_id"]:
                raise ApiError(409, f"Port {port['id']} is in use by {port['device_id']}.")
            if not port["fixed_ips"]:
                raise bad_request(f"Port {port['id']} has no address.")
            self._settle(balancer, port)
            return
        if balancer["vip_subnet_id"]:
            subnet = self._reach("subnets", "Subnet", caller, balancer["vip_subnet_id"])
        else:
            network = self._reach("networks", "Network", caller, balancer["vip_network_id"])
            subnet = self._subnet_of(network, balancer["vip_address"])
        balancer.update(vip_network_id=subnet["network_id"], vip_subnet_id=subnet["id"])

    def version(self, balancer: Record) -> int:
        """Return the IP version of a load balancer's address: 4 or 6."""
        if balancer["vip_address"]:
            return ip_address(balancer["vip_address"]).version
        return int(self._network.state.rows["subnets"].require(balancer["vip_subnet_id"])["ip_version"])

    def take(self, balancer: Record) -> None:
        """Create the port of a load balancer on its subnet, unless it names one.

        Raises ApiError 400 for an address that cannot be had.
        """
        if not balancer["vip_port_id"]:
            self._settle(balancer, self._made(balancer))

    def _subnet_of(self, network: Record, address: str | None) -> Record:
        subnets = sorted(
            self._network.state.rows["subnets"].select(network_id=network["id"]), key=lambda row: int(row["ip_version"])
        )
        fitting = [row for row in subnets if address is None or ip_address(address) in ip_network(row["cidr"])]
        if not fitting:
            wanted = "" if address is None else f" with the address {address}"
            raise bad_request(f"Network {network['id']} has no subnet{wanted}.")
        return fitting[0]

    @staticmethod
    def _settle(balancer: Record, port: Record) -> None:
        fixed = port["fixed_ips"][0]
        balancer.update(
            vip_port_id=port["id"],
            vip_network_id=port["network_id"],
            vip_subnet_id=fixed["subnet_id"],
            vip_address=fixed["ip_address"],
        )

    def release(self, balancer: Record) -> None:
        """Delete the port of a load balancer, unless its user made it."""
        if balancer["_owns_port"]:
            self._network.delete_port(balancer["vip_port_id"])

    def answers(self, balancer: Record, member: Record) -> bool:
        """Whether something answers at a member's address: a port with it that is up."""
        ports = self._network.ports.rows
        address = member["monitor_address"] or member["address"]
        subnet_id = member["subnet_id"]
        return any(
            fixed["ip_address"] == address and subnet_id in (None, fixed["subnet_id"])
            for port in ports.select(project_id=balancer["project_id"])
            if port["status"] == "ACTIVE"
            for fixed in port["fixed_ips"]
        )

    def _made(self, balancer: Record) -> Record:
        fixed = {"subnet_id": balancer["vip_subnet_id"]}
        if balancer["vip_address"]:
            fixed["ip_address"] = balancer["vip_address"]
        body = {
            "name": f"octavia-lb-{balancer['id']}",
            "network_id": balancer["vip_network_id"],
            "device_id": f"lb-{balancer['id']}",
            "device_owner": OWNER,
            "admin_state_up": False,
            "fixed_ips": [fixed],
        }
        try:
            return self._network.create_port(balancer["project_id"], body, admin=True)
        except ApiError as error:
            raise ApiError(400, f"The VIP port cannot be created: {error.message}") from None

    def _reach(self, table: str, title: str, caller: Context, key: str) -> Record:
        try:
            return self._network.state.table(table).reach(Actor(caller.project_id, caller.is_admin), key)
        except ApiError:
            raise bad_request(f"{title} {key} not found.") from None
