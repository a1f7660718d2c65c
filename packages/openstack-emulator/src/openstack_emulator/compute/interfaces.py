"""Network interfaces of servers: ports of the network service."""

from __future__ import annotations

from typing import Any

from openstack_emulator.compute.hosts import Aggregates
from openstack_emulator.compute.servers import Servers
from openstack_emulator.compute.states import PLUGGABLE
from openstack_emulator.compute.tables import SHORT
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Record
from openstack_emulator.network.records.core import Network, Port
from openstack_emulator.network.rules.composition import NetworkService

NOT_FOUND = 404
NO_SUBNET = "Network requires port_security_enabled and subnet associated in order to apply security groups."
AMBIGUOUS = "Multiple possible networks found, use a Network ID to be more specific."


class Interfaces(Component):
    """Which ports servers have, and which of them were created for the server and go with it."""

    def __init__(self, records: Records, servers: Servers, aggregates: Aggregates) -> None:
        super().__init__(records)
        self.rows = records.table("interfaces", "server_id")
        self.servers = servers
        self._aggregates = aggregates
        records.deferrable(self.finish_detach_interface)

    @property
    def _network(self) -> NetworkService:
        return self.cloud.of(NetworkService)

    def of_server(self, server: Record) -> list[Port]:
        """The ports of a server."""
        return self._network.ports_of_device(server["id"])

    def asked_for(self, context: Context, networks: Any) -> list[Record]:
        """The interfaces that a new server gets: `{uuid}` or `{port}` each, with fixed_ip and tag.

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
                return [{"uuid": self._allocated_network(context.project)}]
            return [{"uuid": row.id} for row in candidates]
        return [self._interface(context, row) for row in networks]

    def _allocated_network(self, project_id: str) -> str:
        """The id of the network allocated to a project that has none; 400 when the cloud cannot allocate one."""
        try:
            return self._network.topology.get(project_id)
        except ApiError:
            raise bad_request(f"Unable to automatically allocate a network for project {project_id}") from None

    def _interface(self, context: Context, row: Record) -> Record:
        kept = {key: row[key] for key in ("uuid", "port", "fixed_ip", "tag") if row.get(key)}
        if "port" in kept:
            self.free_port(context, kept["port"])
        elif "uuid" in kept:
            try:
                network = self._network.network_for(context.project, kept["uuid"], context.is_admin)
            except ApiError as error:
                raise as_compute_error(error) from None
            self._require_subnet(network, f"Network {network.id} requires a subnet in order to boot instances on.")
            self._require_free(network, kept.get("fixed_ip"))
        else:
            raise bad_request("Bad network format: missing 'uuid'")
        return kept

    def _require_subnet(self, network: Network, message: str) -> None:
        if self._network.subnets.rows.first(network_id=network.id) is None:
            raise bad_request(message)

    def _require_free(self, network: Network, address: str | None) -> None:
        for port in self._network.ports.rows.select(network_id=network.id) if address else ():
            if any(fixed.ip_address == address for fixed in port.fixed_ips):
                device = port.device_id
                raise bad_request(f"Fixed IP address {address} is already in use on instance {device}.")

    def plug(self, server: Record, wanted: Record) -> Port:
        """Add an interface to a server; its port.

        wanted: `port` of an existing port, or `uuid` of a network with optional `fixed_ip` and `security_groups`
        (ids); and `tag`.

        Raises: ApiError 400 for unknown networks and ports and for networks without a free address, 409 for a port in
        use.
        """
        owner = f"compute:{self._aggregates.zone_of(server['host'])}"
        given: str | None = wanted.get("port")
        if given and (stale := self.rows.get(given)) is not None:
            self.rows.remove(stale)
        try:
            port_id = given or self._create_port(server, wanted).id
            port = self._network.bind_port(port_id, server["id"], owner, server["host"] or "")
        except ApiError as error:
            raise as_compute_error(error) from None
        self.rows.add({"id": port_id, "server_id": server["id"], "created": given is None, "tag": wanted.get("tag")})
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

    def _create_port(self, server: Record, wanted: Record) -> Port:
        body: dict[str, Any] = {"network_id": wanted["uuid"]}
        if wanted.get("fixed_ip"):
            body["fixed_ips"] = [{"ip_address": wanted["fixed_ip"]}]
        if wanted.get("security_groups"):
            body["security_groups"] = wanted["security_groups"]
        return self._network.create_port(server["project_id"], body, admin=True)

    def attach(self, context: Context, server: Record, wanted: Record) -> Port:
        """Add an interface to a server; its port. Without a port or network: on the project's network."""
        self.servers.require_state(server, "attach_interface", PLUGGABLE)
        if wanted.get("port"):
            if wanted["port"] not in self._network.ports.rows:
                raise not_found(f"Port id {wanted['port']} could not be found.")
            self.free_port(context, wanted["port"])
        elif not wanted.get("uuid"):
            used = {port.network_id for port in self.of_server(server)}
            candidates = [row.id for row in self._network.default_network_for(server["project_id"])]
            free = [key for key in candidates if key not in used] or candidates
            if len(free) != 1:
                raise conflict(AMBIGUOUS)
            wanted = {**wanted, "uuid": free[0]}
        if not wanted.get("port") and (network := self._network.networks.rows.get(wanted["uuid"])) is not None:
            self._require_subnet(network, NO_SUBNET)
        return self.plug(server, wanted)

    def detach(self, server: Record, port_id: str) -> None:
        """Begin to remove an interface from a server; 404 when it has no such interface."""
        self.servers.require_state(server, "detach_interface", PLUGGABLE)
        if not any(port.id == port_id for port in self.of_server(server)):
            raise missing_port(server, port_id)
        self.after(SHORT, self.finish_detach_interface, server["id"], port_id)

    def finish_detach_interface(self, server_id: str, port_id: str) -> None:
        row = self.rows.get(port_id)
        if row is None or row["server_id"] != server_id:
            return
        self.rows.remove(row)
        self._give_up(port_id, created=row["created"])
        self.servers.history.end(server_id)

    def release(self, server: Record) -> None:
        """Delete the ports that were created for a server, and unbind the others."""
        created = {row["id"] for row in self.rows.select(server_id=server["id"]) if row["created"]}
        for port in self.of_server(server):
            self._give_up(port.id, created=port.id in created)
        for row in self.rows.select(server_id=server["id"]):
            self.rows.remove(row)

    def _give_up(self, port_id: str, created: bool) -> None:
        """Delete a port that was created for a server, or unbind another."""
        if created:
            self._network.delete_port(port_id)
        else:
            self._network.unbind_port(port_id)


def missing_port(server: Record, port_id: str) -> ApiError:
    """404 for a port that is not one of the server's."""
    return not_found(f"Instance {server['id']} does not have a port with id {port_id}")


def as_compute_error(error: ApiError) -> ApiError:
    """An error of the network service as compute answers it: what is unknown there is a bad request here."""
    return ApiError(400 if error.status in (400, 404) else error.status, error.message)
