"""Network interfaces of servers: ports of the network service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from openstack_emulator.compute.records import Interface, RequestedInterface, Server
from openstack_emulator.compute.rules.aggregates import Aggregates
from openstack_emulator.compute.rules.constants import SHORT
from openstack_emulator.compute.rules.servers import Servers
from openstack_emulator.compute.rules.states import PLUGGABLE
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.network.records.core import Network, Port
from openstack_emulator.network.rules.composition import NetworkService

NOT_FOUND = 404
NO_SUBNET = "Network requires port_security_enabled and subnet associated in order to apply security groups."
AMBIGUOUS = "Multiple possible networks found, use a Network ID to be more specific."


class Interfaces(Rules):
    """Which ports servers have, and which of them were created for the server and go with it."""

    def __init__(self, records: Records, servers: Servers, aggregates: Aggregates) -> None:
        super().__init__(records)
        self.rows = records.table("interfaces", Interface, "server_id")
        self.servers = servers
        self._aggregates = aggregates
        records.deferrable(self.finish_detach_interface)

    @property
    def _network(self) -> NetworkService:
        return self.cloud.of(NetworkService)

    def of_server(self, server: Server) -> list[Port]:
        """The ports of a server."""
        return self._network.ports_of_device(server.id)

    def requested(self, context: Context, networks: Any) -> list[RequestedInterface]:
        """The interfaces that a new server gets.

        networks: of the request, a list, `none` or `auto`.

        Raises: ApiError 400 for unknown networks and ports, 409 for ports in use or an ambiguous network.
        """
        if networks == "none":
            return []
        if not networks or networks == "auto":
            candidates = self._network.default_network_for(context.project)
            if len(candidates) > 1:
                raise conflict(AMBIGUOUS)
            if not candidates and networks == "auto":
                return [RequestedInterface(uuid=self._allocated_network(context.project))]
            return [RequestedInterface(uuid=row.id) for row in candidates]
        return [self._interface(context, row) for row in networks]

    def _allocated_network(self, project_id: str) -> str:
        """The id of the network allocated to a project that has none; 400 when the cloud cannot allocate one."""
        try:
            return self._network.topology.get(project_id)
        except ApiError:
            raise bad_request(f"Unable to automatically allocate a network for project {project_id}") from None

    def _interface(self, context: Context, row: Mapping[str, Any]) -> RequestedInterface:
        uuid, port, fixed_ip, tag = (row.get(name) or None for name in ("uuid", "port", "fixed_ip", "tag"))
        if port is not None:
            self.free_port(context, port)
        elif uuid is not None:
            try:
                network = self._network.network_for(context.project, uuid, context.is_admin)
            except ApiError as error:
                raise as_compute_error(error) from None
            self._require_subnet(network, f"Network {network.id} requires a subnet in order to boot instances on.")
            self._require_free(network, fixed_ip)
        else:
            raise bad_request("Bad network format: missing 'uuid'")
        return RequestedInterface(uuid=uuid, port=port, fixed_ip=fixed_ip, tag=tag)

    def _require_subnet(self, network: Network, message: str) -> None:
        if self._network.subnets.rows.first(network_id=network.id) is None:
            raise bad_request(message)

    def _require_free(self, network: Network, address: str | None) -> None:
        for port in self._network.ports.rows.select(network_id=network.id) if address else ():
            if any(fixed.ip_address == address for fixed in port.fixed_ips):
                device = port.device_id
                raise bad_request(f"Fixed IP address {address} is already in use on instance {device}.")

    def plug(
        self, server: Server, requested_interface: RequestedInterface, security_groups: Sequence[str] = ()
    ) -> Port:
        """Add an interface to a server; its port.

        security_groups: the ids of those of a new port; the default one if there are none.

        Raises: ApiError 400 for unknown networks and ports and for networks without a free address, 409 for a port in
        use.
        """
        owner = f"compute:{self._aggregates.zone_of(server.host)}"
        requested_port = requested_interface.port
        if requested_port and (stale := self.rows.get(requested_port)) is not None:
            self.rows.remove(stale)
        try:
            port_id = requested_port or self._create_port(server, requested_interface, security_groups).id
            port = self._network.bind_port(port_id, server.id, owner, server.host or "")
        except ApiError as error:
            raise as_compute_error(error) from None
        self.rows.add(
            Interface(id=port_id, server_id=server.id, created=requested_port is None, tag=requested_interface.tag)
        )
        return port

    def free_port(self, context: Context, port_id: str) -> Port:
        """A port that the caller may attach to a server.

        Raises: ApiError 400 for an unknown one, 409 for one in use.
        """
        try:
            port = self._network.update_port(port_id)
        except ApiError as error:
            if error.status == NOT_FOUND:
                raise bad_request(f"Port id {port_id} could not be found.") from None
            raise as_compute_error(error) from None
        if port.project_id != context.project_id and not context.is_admin:
            raise bad_request(f"Port id {port_id} could not be found.")
        if port.device_id:
            raise conflict(f"Port {port_id} is still in use.")
        return port

    def _create_port(
        self, server: Server, requested_interface: RequestedInterface, security_groups: Sequence[str]
    ) -> Port:
        body: dict[str, Any] = {"network_id": requested_interface.uuid}
        if requested_interface.fixed_ip:
            body |= {"fixed_ips": [{"ip_address": requested_interface.fixed_ip}]}
        if security_groups:
            body |= {"security_groups": list(security_groups)}
        return self._network.create_port(server.project_id, body, admin=True)

    def attach(self, context: Context, server: Server, requested_interface: RequestedInterface) -> Port:
        """Add an interface to a server; its port. Without a port or network: on the project's network."""
        self.servers.require_state(server, "attach_interface", PLUGGABLE)
        if requested_interface.port:
            if requested_interface.port not in self._network.ports.rows:
                raise not_found(f"Port id {requested_interface.port} could not be found.")
            self.free_port(context, requested_interface.port)
        elif not requested_interface.uuid:
            used = {port.network_id for port in self.of_server(server)}
            candidates = [row.id for row in self._network.default_network_for(server.project_id)]
            free = [key for key in candidates if key not in used] or candidates
            if len(free) != 1:
                raise conflict(AMBIGUOUS)
            requested_interface = replace(requested_interface, uuid=free[0])
        if (
            not requested_interface.port
            and (network := self._network.networks.rows.get(requested_interface.uuid or "")) is not None
        ):
            self._require_subnet(network, NO_SUBNET)
        return self.plug(server, requested_interface)

    def detach(self, server: Server, port_id: str) -> None:
        """Begin to remove an interface from a server; 404 when it has no such interface."""
        self.servers.require_state(server, "detach_interface", PLUGGABLE)
        if not any(port.id == port_id for port in self.of_server(server)):
            raise missing_port(server, port_id)
        self.after(SHORT, self.finish_detach_interface, server.id, port_id)

    def finish_detach_interface(self, server_id: str, port_id: str) -> None:
        row = self.rows.get(port_id)
        if row is None or row.server_id != server_id:
            return
        self.rows.remove(row)
        self._release(port_id, created=row.created)
        self.servers.history.end(server_id)

    def release(self, server: Server) -> None:
        """Delete the ports that were created for a server, and unbind the others."""
        created = {row.id for row in self.rows.select(server_id=server.id) if row.created}
        for port in self.of_server(server):
            self._release(port.id, created=port.id in created)
        for row in self.rows.select(server_id=server.id):
            self.rows.remove(row)

    def _release(self, port_id: str, created: bool) -> None:
        """Delete a port that was created for a server, or unbind another."""
        if created:
            self._network.delete_port(port_id)
        else:
            self._network.unbind_port(port_id)


def missing_port(server: Server, port_id: str) -> ApiError:
    """404 for a port that is not one of the server's."""
    return not_found(f"Instance {server.id} does not have a port with id {port_id}")


def as_compute_error(error: ApiError) -> ApiError:
    """An error of the network service as compute answers it: what is unknown there is a bad request here."""
    return ApiError(400 if error.status in (400, 404) else error.status, error.message)
