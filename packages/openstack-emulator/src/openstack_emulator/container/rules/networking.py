"""The networks of containers: ports of the network service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from openstack_emulator.container.records import Container, Interface, RequestedInterface
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Context, Request
from openstack_emulator.core.lookups import one_of_collection
from openstack_emulator.core.rules import Rules
from openstack_emulator.network.records.core import Port
from openstack_emulator.network.rules.composition import NetworkService

OWNER = "compute:kuryr"
NETWORKS, PORTS = "/network/v2.0/networks", "/network/v2.0/ports"
_ADDRESSES = ("v4-fixed-ip", "v6-fixed-ip")


@dataclass(frozen=True)
class Address:
    """An address of a port."""

    ip_address: str
    version: int
    subnet_id: str


@dataclass(frozen=True)
class Connection:
    """A port of a container. is_kept: it remains when the container is deleted."""

    port_id: str
    network_id: str
    addresses: tuple[Address, ...]
    is_kept: bool


class Networking(Rules):
    """Which ports containers have, and which of them were created for the container and are deleted with it."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.table("interfaces", Interface, "container_id", internal=True)

    @property
    def _network(self) -> NetworkService:
        return self.cloud.of(NetworkService)

    def requested(self, request: Request, nets: Sequence[Mapping[str, object]]) -> list[RequestedInterface]:
        """Return the interfaces that a request asks for: `{network}` or `{port}` each, with `fixed_ip`.

        Raises: ApiError 400 for wrong entries, 404 for unknown networks and ports, 409 for a port in use.
        """
        if not nets:
            found = self._network.default_network_for(request.context.project)
            if not found:
                raise conflict("There is no neutron network available")
            return [RequestedInterface(network=found[0].id, port=None, fixed_ip=None)]
        return [self.interface(request, entry) for entry in nets]

    def interface(self, request: Request, entry: Mapping[str, object]) -> RequestedInterface:
        """Return one interface that a request asks for. Raises: see `network_id`."""
        if unknown := sorted(entry.keys() - {"network", "port", "preserve", *_ADDRESSES}):
            raise bad_request(f"Invalid network entry: {unknown[0]} is not known.")
        port, network_id = entry.get("port"), entry.get("network")
        if port:
            return RequestedInterface(network=None, port=self._free_port(request, str(port)), fixed_ip=None)
        if not network_id:
            raise bad_request("Each network entry must have 'network' or 'port'.")
        network = one_of_collection(self.cloud, request, NETWORKS, "networks", str(network_id))
        if network is None:
            raise not_found(f"Neutron network {network_id} could not be found.", "network-not-found")
        address = next((value for name in _ADDRESSES if (value := entry.get(name))), None)
        try:
            fixed_ip = None if address is None else str(ip_address(str(address)))
        except ValueError:
            raise bad_request(f"{address!r} is not an IP address.") from None
        return RequestedInterface(network=network["id"], port=None, fixed_ip=fixed_ip)

    def _free_port(self, request: Request, key: str) -> str:
        """Return the ID of a port that the caller may use. Raises ApiError 404, or 409 for one in use."""
        port = one_of_collection(self.cloud, request, PORTS, "ports", key)
        if port is None:
            raise not_found(f"Neutron port {key} could not be found.", "port-not-found")
        if port["device_id"]:
            raise conflict(f"Port {key} is still in use.")
        return str(port["id"])

    def groups(self, context: Context, names: Sequence[str]) -> list[str]:
        """Return the IDs of security groups. Raises ApiError 404, or 409 for a name that several have."""
        return [self.group(context, name) for name in dict.fromkeys(names)]

    def group(self, context: Context, name: str) -> str:
        """Return the ID of a security group. Raises ApiError 404 and 409."""
        found = self._network.security_groups_by_name_or_id(context.project, name)
        if not found:
            raise bad_request(f"Security group {name} not found.")
        if len(found) > 1:
            raise conflict(f"Multiple security group matches found for name {name}, use an ID to be more specific.")
        return found[0].id

    def plug(self, container: Container, requested_interface: RequestedInterface) -> None:
        """Add an interface to a container. Raises ApiError."""
        key = requested_interface.port
        if key is None:
            body: dict[str, Any] = {"network_id": requested_interface.network, "name": f"zun-{container.name}"[:255]}
            if requested_interface.fixed_ip:
                body |= {"fixed_ips": [{"ip_address": requested_interface.fixed_ip}]}
            if container.security_groups:
                body |= {"security_groups": container.security_groups}
            key = self._network.create_port(container.project_id, body, admin=True).id
        self._network.bind_port(key, container.id, OWNER, container.host or "")
        if (stale := self.rows.get(key)) is not None:
            self.rows.remove(stale)
        self.rows.add(Interface(id=key, container_id=container.id, created=requested_interface.port is None))

    def unplug(self, container: Container, port_id: str) -> None:
        """Remove an interface from a container, and its port if it was created for it."""
        row = self.rows.get(port_id)
        if row is None or row.container_id != container.id:
            return
        self.rows.remove(row)
        if row.created:
            self._network.delete_port(port_id)
        else:
            self._network.unbind_port(port_id)

    def release(self, container: Container) -> None:
        """Remove all interfaces of a container."""
        for row in self.rows.select(container_id=container.id):
            self.unplug(container, row.id)

    def connections(self, container: Container) -> list[Connection]:
        """Return the ports of a container."""
        return [self._connection(port) for port in self._network.ports_of_device(container.id)]

    def _connection(self, port: Port) -> Connection:
        row = self.rows.get(port.id)
        addresses = [
            Address(fixed.ip_address, ip_address(fixed.ip_address).version, fixed.subnet_id) for fixed in port.fixed_ips
        ]
        return Connection(port.id, port.network_id, tuple(addresses), row is None or not row.created)

    def regroup(self, container: Container, groups: Sequence[str]) -> None:
        """Give the ports of a container these security groups."""
        for connection in self.connections(container):
            try:
                self._network.update_port(connection.port_id, security_groups=list(groups))
            except ApiError as error:
                raise conflict(error.message) from None
