"""The networks of containers: ports of the network service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from typing import Any

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Context, Request
from openstack_emulator.core.lookups import one_of_collection
from openstack_emulator.core.store import Record
from openstack_emulator.network.records import NetworkRecords

OWNER = "compute:kuryr"
NETWORKS, PORTS = "/network/v2.0/networks", "/network/v2.0/ports"
_ADDRESSES = ("v4-fixed-ip", "v6-fixed-ip")


class Networking(Component):
    """Which ports containers have, and which of them were created for the container and are deleted with it."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.collection("interfaces", ("container_id",), internal=True)

    @property
    def _network(self) -> NetworkRecords:
        return self.cloud.of(NetworkRecords)

    def asked_for(self, request: Request, nets: Sequence[Mapping[str, Any]]) -> list[Record]:
        """Return the interfaces that a request asks for: `{network}` or `{port}` each, with `fixed_ip`.

        Raises: ApiError 400 for wrong entries, 404 for unknown networks and ports, 409 for a port in use.
        """
        if not nets:
            found = self._network.default_network_for(request.context.project)
            if not found:
                raise conflict("There is no neutron network available")
            return [{"network": found[0]["id"]}]
        return [self.interface(request, entry) for entry in nets]

    def interface(self, request: Request, entry: Mapping[str, Any]) -> Record:
        """Return one interface that a request asks for. Raises: see `asked_for`."""
        if unknown := sorted(entry.keys() - {"network", "port", "preserve", *_ADDRESSES}):
            raise bad_request(f"Invalid network entry: {unknown[0]} is not known.")
        address = next((entry[name] for name in _ADDRESSES if entry.get(name)), None)
        if entry.get("port"):
            return {"port": self.free_port(request, str(entry["port"]))["id"]}
        if not entry.get("network"):
            raise bad_request("Each network entry must have 'network' or 'port'.")
        network = one_of_collection(self.cloud, request, NETWORKS, "networks", str(entry["network"]))
        if network is None:
            raise not_found(f"Neutron network {entry['network']} could not be found.", "network-not-found")
        try:
            fixed = {} if address is None else {"fixed_ip": str(ip_address(str(address)))}
        except ValueError:
            raise bad_request(f"{address!r} is not an IP address.") from None
        return {"network": network["id"], **fixed}

    def free_port(self, request: Request, key: str) -> Record:
        """Return a port that the caller may use. Raises ApiError 404, or 409 for one in use."""
        port = one_of_collection(self.cloud, request, PORTS, "ports", key)
        if port is None:
            raise not_found(f"Neutron port {key} could not be found.", "port-not-found")
        if port["device_id"]:
            raise conflict(f"Port {key} is still in use.")
        return port

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
        return str(found[0]["id"])

    def plug(self, container: Record, wanted: Record) -> Record:
        """Add an interface to a container; return its port. Raises ApiError."""
        key = wanted.get("port")
        if key is None:
            body: dict[str, Any] = {"network_id": wanted["network"], "name": f"zun-{container['name']}"[:255]}
            if wanted.get("fixed_ip"):
                body["fixed_ips"] = [{"ip_address": wanted["fixed_ip"]}]
            if container["security_groups"]:
                body["security_groups"] = container["security_groups"]
            key = self._network.create_port(container["project_id"], body, admin=True)["id"]
        port = self._network.bind_port(key, container["id"], OWNER, container["host"] or "")
        if (stale := self.rows.get(key)) is not None:
            self.rows.remove(stale)
        created = wanted.get("port") is None
        self.rows.add({"id": key, "container_id": container["id"], "created": created})
        return port

    def unplug(self, container: Record, port_id: str) -> None:
        """Remove an interface from a container, and its port if it was created for it."""
        row = self.rows.get(port_id)
        if row is None or row["container_id"] != container["id"]:
            return
        self.rows.remove(row)
        if row["created"]:
            self._network.delete_port(port_id)
        else:
            self._network.unbind_port(port_id)

    def release(self, container: Record) -> None:
        """Remove all interfaces of a container."""
        for row in self.rows.select(container_id=container["id"]):
            self.unplug(container, row["id"])

    def ports(self, container: Record) -> list[Record]:
        """Return the ports of a container."""
        return self._network.ports_of_device(container["id"])

    def regroup(self, container: Record, groups: Sequence[str]) -> None:
        """Give the ports of a container these security groups."""
        for port in self.ports(container):
            try:
                self._network.update_port(port["id"], security_groups=list(groups))
            except ApiError as error:
                raise conflict(error.message) from None

    def addresses(self, container: Record) -> dict[str, list[Record]]:
        """Return the addresses of a container by the ID of their network, as the API shows them."""
        found: dict[str, list[Record]] = {}
        for port in self.ports(container):
            row = self.rows.get(port["id"])
            entries = found.setdefault(port["network_id"], [])
            for fixed in port["fixed_ips"]:
                entries.append(
                    {
                        "addr": fixed["ip_address"],
                        "version": ip_address(fixed["ip_address"]).version,
                        "port": port["id"],
                        "subnet_id": fixed["subnet_id"],
                        "preserve_on_delete": row is None or not row["created"],
                    }
                )
        return found

    def listed(self, container: Record) -> list[Record]:
        """Return the interfaces of a container as `network_list` shows them."""
        return [
            {
                "port_id": port["id"],
                "net_id": port["network_id"],
                "fixed_ips": [
                    {
                        "ip_address": fixed["ip_address"],
                        "version": ip_address(fixed["ip_address"]).version,
                        "subnet_id": fixed["subnet_id"],
                    }
                    for fixed in port["fixed_ips"]
                ],
            }
            for port in self.ports(container)
        ]
