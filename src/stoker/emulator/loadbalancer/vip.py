"""The virtual IP address of a load balancer: a port in the emulated network service."""

from __future__ import annotations

from typing import Any

from stoker.emulator.core.cloud import Cloud
from stoker.emulator.core.errors import ApiError, bad_request
from stoker.emulator.core.http import Context
from stoker.emulator.core.store import Record
from stoker.emulator.network.kinds import Actor
from stoker.emulator.network.records import NetworkRecords

PLACES = ("vip_port_id", "vip_subnet_id", "vip_network_id")
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

    def take(self, caller: Context, balancer: Record) -> None:
        """Give a new load balancer its address: on the port, or else the subnet or network, that it names.

        Raises: ApiError 400 for places that do not exist, or an address that cannot be had; 409 for a port in use.
        """
        if not any(balancer[name] for name in PLACES):
            raise bad_request(f"VIP must contain one of: {', '.join(PLACES)}.")
        if balancer["vip_port_id"]:
            port = self._reach("ports", "Port", caller, balancer["vip_port_id"])
            if port["device_id"]:
                raise ApiError(409, f"Port {port['id']} is in use by {port['device_id']}.")
        else:
            port = self._made(caller, balancer)
        fixed = port["fixed_ips"][0] if port["fixed_ips"] else {}
        if not fixed:
            raise bad_request(f"Port {port['id']} has no address.")
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

    def _made(self, caller: Context, balancer: Record) -> Record:
        fixed: dict[str, Any] = {}
        if balancer["vip_subnet_id"]:
            subnet = self._reach("subnets", "Subnet", caller, balancer["vip_subnet_id"])
            network_id, fixed["subnet_id"] = subnet["network_id"], subnet["id"]
        else:
            network_id = self._reach("networks", "Network", caller, balancer["vip_network_id"])["id"]
        if balancer["vip_address"]:
            fixed["ip_address"] = balancer["vip_address"]
        body = {
            "name": f"octavia-lb-{balancer['id']}",
            "network_id": network_id,
            "device_id": f"lb-{balancer['id']}",
            "device_owner": OWNER,
            **({"fixed_ips": [fixed]} if fixed else {}),
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
