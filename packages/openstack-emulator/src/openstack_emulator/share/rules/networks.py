"""Share networks and their subnets."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import bad_request, conflict, forbidden
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules, visible
from openstack_emulator.core.store import Table
from openstack_emulator.share.records import SecurityService, Share, ShareNetwork, Subnet
from openstack_emulator.share.rules.constants import ZONE
from openstack_emulator.share.rules.inputs import NewSubnet
from openstack_emulator.share.rules.quotas import Quotas

NETWORK_PLACE = ("neutron_net_id", "neutron_subnet_id")
LOOSE = frozenset({"name", "description"})
"""What can be changed while shares use the object."""


class ShareNetworks(Rules):
    """Share networks with their subnets.

    rows, services: the tables of share networks and security services. shares: the table of shares: a network that
    shares use cannot be deleted.
    """

    def __init__(
        self,
        records: Records,
        rows: Table[ShareNetwork],
        services: Table[SecurityService],
        shares: Table[Share],
        quotas: Quotas,
    ) -> None:
        super().__init__(records)
        self.rows = rows
        self.subnets = records.table("subnets", Subnet, "share_network_id")
        self._services = services
        self._shares = shares
        self._quotas = quotas

    def create(self, context: Context, name: str | None, description: str | None, subnet: NewSubnet) -> ShareNetwork:
        """A new share network with its default subnet; 413 beyond the quota, 400 for half of a place."""
        _refuse_misplaced(subnet)
        self._quotas.check(context.project, {"share_networks": 1})
        network = self.rows.add(
            ShareNetwork(
                id=new_id(),
                name=name,
                description=description,
                project_id=context.project,
                created_at=self.moment(),
                updated_at=None,
                security_services=[],
            )
        )
        self._add_subnet(network, subnet)
        return network

    def _add_subnet(self, network: ShareNetwork, new_subnet: NewSubnet) -> Subnet:
        return self.subnets.add(
            Subnet(
                id=new_id(),
                share_network_id=network.id,
                availability_zone=new_subnet.availability_zone,
                metadata=new_subnet.metadata,
                created_at=self.moment(),
                updated_at=None,
                neutron_net_id=new_subnet.neutron_net_id,
                neutron_subnet_id=new_subnet.neutron_subnet_id,
                network_type=None,
                segmentation_id=None,
                cidr=None,
                ip_version=None,
                gateway=None,
                mtu=None,
                share_server_id=None,
            )
        )

    def add_subnet(self, network: ShareNetwork, new_subnet: NewSubnet) -> Subnet:
        """A further subnet; 400 for half of a place, or an unknown availability zone."""
        _refuse_misplaced(new_subnet)
        return self._add_subnet(network, new_subnet)

    def remove_subnet(self, subnet: Subnet) -> None:
        """Delete a subnet; 409 while shares have servers on it."""
        server = subnet.share_server_id
        if server is not None and self._shares.first(share_server_id=server) is not None:
            raise conflict(f"Cannot delete share network subnet {subnet.id}, it has one or more shares.")
        self.subnets.remove(subnet)

    def subnets_of(self, network: ShareNetwork) -> list[Subnet]:
        """The subnets of a share network, the default one first."""
        return self.subnets.select(share_network_id=network.id)

    def update(self, network: ShareNetwork, changes: Mapping[str, object]) -> None:
        """Change a share network; 403 for its place while shares use it, 400 for a place of several subnets."""
        place = {key: changes[key] for key in NETWORK_PLACE if key in changes}
        if place:
            self._refuse_used(network, "change the subnet of")
            subnets = self.subnets_of(network)
            if len(subnets) != 1:
                raise bad_request(f"Share network {network.id} does not have exactly one subnet to change.")
            now = {key: subnets[0].get(key) for key in NETWORK_PLACE} | place
            _refuse_half(**now)
            self.subnets.update(subnets[0], **now, updated_at=self.moment())
        loose_changes = {key: value for key, value in changes.items() if key in LOOSE}
        self.rows.update(network, **loose_changes, updated_at=self.moment())

    def delete(self, network: ShareNetwork) -> None:
        """Delete a share network with its subnet; 409 while shares use it, and with several subnets."""
        used = len(self._shares.select(share_network_id=network.id))
        if used:
            raise conflict(f"Can not delete share network {network.id}, it has {used} share(s).")
        subnets = self.subnets_of(network)
        if len(subnets) > 1:
            raise conflict(f"The share network {network.id} has more than one subnet attached. Delete them first.")
        for subnet in subnets:
            self.subnets.remove(subnet)
        self.rows.remove(network)

    def services_of(self, network: ShareNetwork) -> list[SecurityService]:
        """The security services of a share network."""
        return [self._services.require(key) for key in network.security_services]

    def add_service(self, context: Context, network: ShareNetwork, service_id: str) -> None:
        """Let share servers use a security service; 409 for a second one of a type, 403 while shares use the
        network."""
        service = visible(self._services, context, service_id)
        self._refuse_used(network, "add security services to")
        if any(other.type == service.type for other in self.services_of(network)):
            raise conflict(
                f"Cannot add security service to share network. Security service with '{service.type}' type already "
                f"added to '{network.id}' share network"
            )
        self._set_services(network, [*network.security_services, service.id])

    def remove_service(self, context: Context, network: ShareNetwork, service_id: str) -> None:
        """Undo `add_service`; 403 while shares use the network, 400 for a service that it does not have."""
        service = visible(self._services, context, service_id)
        self._refuse_used(network, "remove security services from")
        if service.id not in network.security_services:
            raise bad_request(f"Security service {service_id} is not associated with share network {network.id}.")
        self._set_services(network, [member for member in network.security_services if member != service.id])

    def _set_services(self, network: ShareNetwork, service_ids: list[str]) -> None:
        network.security_services, network.updated_at = service_ids, self.moment()
        self.rows.save(network)

    def server_on(self, network_id: str) -> str | None:
        """The share server for new shares in a share network, which is created with the first; None where that fails.

        Its subnet then shows where it is, as the network service describes it.
        """
        network = self.rows.get(network_id)
        subnets = self.subnets_of(network) if network is not None else []
        if not subnets:
            return None
        subnet = subnets[0]
        if subnet.share_server_id is None and self._describe(subnet):
            subnet.share_server_id, subnet.updated_at = new_id(), self.moment()
            self.subnets.save(subnet)
        return subnet.share_server_id

    def _describe(self, subnet: Subnet) -> bool:
        """Set what the network service knows about a subnet; False when it does not exist there."""
        networks, subnets = (self.cloud.table_of("neutron", name) for name in ("networks", "subnets"))
        network = networks.get(subnet.neutron_net_id or "") if networks is not None else None
        found = subnets.get(subnet.neutron_subnet_id or "") if subnets is not None else None
        if network is None or found is None:
            return False
        subnet.network_type = network.get("provider:network_type")
        subnet.segmentation_id = network.get("provider:segmentation_id")
        subnet.mtu = network.get("mtu")
        subnet.cidr = found.get("cidr")
        subnet.ip_version = found.get("ip_version")
        subnet.gateway = found.get("gateway_ip")
        return True

    def is_used(self, network: ShareNetwork) -> bool:
        """Whether shares use the network."""
        return self._shares.first(share_network_id=network.id) is not None

    def _refuse_used(self, network: ShareNetwork, what: str) -> None:
        if self.is_used(network):
            raise forbidden(f"Cannot {what} share network {network.id}: it is used by share servers.")


def _refuse_misplaced(subnet: NewSubnet) -> None:
    """Raise ApiError 400 for an unknown availability zone, and for half of a place."""
    if subnet.availability_zone not in (None, "", ZONE):
        raise bad_request(f"The provided availability zone {subnet.availability_zone} does not exist.")
    _refuse_half(subnet.neutron_net_id, subnet.neutron_subnet_id)


def _refuse_half(neutron_net_id: str | None, neutron_subnet_id: str | None) -> None:
    """Raise ApiError 400 for a place of which only the network or only the subnet is given."""
    if bool(neutron_net_id) != bool(neutron_subnet_id):
        raise bad_request(
            "When creating a new share network subnet you need to specify both neutron_net_id and neutron_subnet_id or "
            "none of them."
        )
