"""Share networks, their subnets, and the security services that share servers in them use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component, visible
from openstack_emulator.core.errors import bad_request, conflict, forbidden
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Collection, Record
from openstack_emulator.share.quotas import Quotas
from openstack_emulator.share.tables import ZONE

NETWORK_PLACE = ("neutron_net_id", "neutron_subnet_id")
LOOSE = frozenset({"name", "description"})
"""What can be changed while shares use the object."""


class ShareNetworks(Component):
    """Share networks with their subnets.

    rows, services: the collections of share networks and security services. shares: the collection of shares: a
    network that shares use cannot be deleted.
    """

    def __init__(
        self, records: Records, rows: Collection, services: Collection, shares: Collection, quotas: Quotas
    ) -> None:
        super().__init__(records)
        self.rows = rows
        self.services = services
        self.subnets = records.table("subnets", "share_network_id")
        self._shares = shares
        self._quotas = quotas

    def create(self, context: Context, wanted: Mapping[str, Any]) -> Record:
        """A new share network with its default subnet; 413 beyond the quota, 400 for half of a place."""
        _refuse_zone(wanted.get("availability_zone"))
        place = _place(wanted)
        self._quotas.check(context.project, {"share_networks": 1})
        network = self.rows.add(
            {
                "id": new_id(),
                "name": wanted.get("name"),
                "description": wanted.get("description"),
                "project_id": context.project,
                "created_at": self.moment(),
                "updated_at": None,
                "_security_services": [],
            }
        )
        self._add_subnet(network, wanted, place)
        return network

    def _add_subnet(self, network: Record, wanted: Mapping[str, Any], place: Mapping[str, Any]) -> Record:
        unknown = ("network_type", "segmentation_id", "cidr", "ip_version", "gateway", "mtu", "_share_server_id")
        return self.subnets.add(
            {
                "id": new_id(),
                "share_network_id": network["id"],
                "availability_zone": wanted.get("availability_zone"),
                "metadata": wanted.get("metadata") or {},
                "created_at": self.moment(),
                "updated_at": None,
                **place,
                **dict.fromkeys(unknown),
            }
        )

    def add_subnet(self, network: Record, wanted: Mapping[str, Any]) -> Record:
        """A further subnet; 400 for half of a place, or an unknown availability zone."""
        _refuse_zone(wanted.get("availability_zone"))
        return self._add_subnet(network, wanted, _place(wanted))

    def remove_subnet(self, subnet: Record) -> None:
        """Delete a subnet; 409 while shares have servers on it."""
        server = subnet["_share_server_id"]
        if server is not None and self._shares.first(share_server_id=server) is not None:
            raise conflict(f"Cannot delete share network subnet {subnet['id']}, it has one or more shares.")
        self.subnets.remove(subnet)

    def subnets_of(self, network: Record) -> list[Record]:
        """The subnets of a share network, the default one first."""
        return self.subnets.select(share_network_id=network["id"])

    def update(self, network: Record, changes: Mapping[str, Any]) -> None:
        """Change a share network; 403 for its place while shares use it, 400 for a place of several subnets."""
        place = {key: changes[key] for key in NETWORK_PLACE if key in changes}
        if place:
            self._refuse_used(network, "change the subnet of")
            subnets = self.subnets_of(network)
            if len(subnets) != 1:
                raise bad_request(f"Share network {network['id']} does not have exactly one subnet to change.")
            now = {key: subnets[0][key] for key in NETWORK_PLACE}
            self.subnets.update(subnets[0], **_place({**now, **place}), updated_at=self.moment())
        kept = {key: value for key, value in changes.items() if key in LOOSE}
        self.rows.update(network, **kept, updated_at=self.moment())

    def delete(self, network: Record) -> None:
        """Delete a share network with its subnet; 409 while shares use it, and with several subnets."""
        used = len(self._shares.select(share_network_id=network["id"]))
        if used:
            raise conflict(f"Can not delete share network {network['id']}, it has {used} share(s).")
        subnets = self.subnets_of(network)
        if len(subnets) > 1:
            raise conflict(f"The share network {network['id']} has more than one subnet attached. Delete them first.")
        for subnet in subnets:
            self.subnets.remove(subnet)
        self.rows.remove(network)

    def services_of(self, network: Record) -> list[Record]:
        """The security services of a share network."""
        return [self.services.require(key) for key in network["_security_services"]]

    def add_service(self, context: Context, network: Record, service_id: str) -> None:
        """Let share servers use a security service; 409 for a second one of a type, 403 while shares use the
        network."""
        service = visible(self.services, context, service_id)
        self._refuse_used(network, "add security services to")
        if any(one["type"] == service["type"] for one in self.services_of(network)):
            raise conflict(
                f"Cannot add security service to share network. Security service with '{service['type']}' type already "
                f"added to '{network['id']}' share network"
            )
        added = [*network["_security_services"], service["id"]]
        self.rows.update(network, _security_services=added, updated_at=self.moment())

    def remove_service(self, context: Context, network: Record, service_id: str) -> None:
        """Undo `add_service`; 403 while shares use the network, 400 for a service that it does not have."""
        service = visible(self.services, context, service_id)
        self._refuse_used(network, "remove security services from")
        if service["id"] not in network["_security_services"]:
            raise bad_request(f"Security service {service_id} is not associated with share network {network['id']}.")
        kept = [one for one in network["_security_services"] if one != service["id"]]
        self.rows.update(network, _security_services=kept, updated_at=self.moment())

    def server_on(self, network_id: str) -> str | None:
        """The share server for new shares in a share network, which is created with the first; None where that fails.

        Its subnet then shows where it is, as the network service describes it.
        """
        network = self.rows.get(network_id)
        subnets = self.subnets_of(network) if network is not None else []
        if not subnets:
            return None
        subnet = subnets[0]
        if subnet["_share_server_id"] is None and (place := self._described(subnet)) is not None:
            self.subnets.update(subnet, **place, _share_server_id=new_id(), updated_at=self.moment())
        server: str | None = subnet["_share_server_id"]
        return server

    def _described(self, subnet: Record) -> dict[str, Any] | None:
        """What the network service knows about a subnet; None when it does not exist."""
        networks, subnets = (self.cloud.collection_of("neutron", name) for name in ("networks", "subnets"))
        network = networks.get(subnet["neutron_net_id"] or "") if networks is not None else None
        found = subnets.get(subnet["neutron_subnet_id"] or "") if subnets is not None else None
        if network is None or found is None:
            return None
        return {
            "network_type": network.get("provider:network_type"),
            "segmentation_id": network.get("provider:segmentation_id"),
            "mtu": network.get("mtu"),
            "cidr": found["cidr"],
            "ip_version": found["ip_version"],
            "gateway": found["gateway_ip"],
        }

    def is_used(self, network: Record) -> bool:
        """Whether shares use the network."""
        return self._shares.first(share_network_id=network["id"]) is not None

    def _refuse_used(self, network: Record, what: str) -> None:
        if self.is_used(network):
            raise forbidden(f"Cannot {what} share network {network['id']}: it is used by share servers.")


class SecurityServices(Component):
    """Security services: directories by which share servers know users."""

    def __init__(self, records: Records, networks: ShareNetworks) -> None:
        super().__init__(records)
        self.rows = networks.services
        self._networks = networks

    def create(self, context: Context, wanted: Mapping[str, Any]) -> Record:
        names = ("name", "description", "type", "dns_ip", "server", "domain", "user", "password", "ou")
        return self.rows.add(
            {
                "id": new_id(),
                **{name: wanted.get(name) for name in names},
                "status": "new",
                "project_id": context.project,
                "created_at": self.moment(),
                "updated_at": None,
            }
        )

    def update(self, service: Record, changes: Mapping[str, Any]) -> None:
        """Change a security service; 403 for what share servers use already."""
        if changes.keys() - LOOSE and any(self._networks.is_used(one) for one in self.networks_of(service)):
            raise forbidden(
                "Cannot update security service. It is used by share servers: only its name and description can be "
                "changed."
            )
        self.rows.update(service, **changes, updated_at=self.moment())

    def delete(self, service: Record) -> None:
        """Delete a security service; 403 while a share network has it."""
        if self.networks_of(service):
            raise forbidden("Cannot delete security service. It is assigned to share network(s)")
        self.rows.remove(service)

    def networks_of(self, service: Record) -> list[Record]:
        """The share networks that have a security service."""
        return [row for row in self._networks.rows if service["id"] in row["_security_services"]]

    def of_network(self, context: Context, network_id: str) -> list[Record]:
        """The security services of a share network; 404 for one that the caller cannot see."""
        return self._networks.services_of(visible(self._networks.rows, context, network_id))


def _refuse_zone(zone: str | None) -> None:
    """Raise ApiError 400 for an unknown availability zone."""
    if zone not in (None, "", ZONE):
        raise bad_request(f"The provided availability zone {zone} does not exist.")


def _place(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The network and subnet of a share network's subnet: both, or neither."""
    place = {name: wanted.get(name) for name in NETWORK_PLACE}
    if bool(place["neutron_net_id"]) != bool(place["neutron_subnet_id"]):
        raise bad_request(
            "When creating a new share network subnet you need to specify both neutron_net_id and neutron_subnet_id or "
            "none of them."
        )
    return place
