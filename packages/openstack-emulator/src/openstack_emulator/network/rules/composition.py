"""The network service: its tables, and the rules for them. Who depends on whom is to be read here.

Its methods are what other services call in process. Errors are Neutron's own (`ApiError` with its `kind`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.cloud import Cloud
from openstack_emulator.network.records.core import Agent, FloatingIp, Network, Port, SecurityGroup
from openstack_emulator.network.rules.address_groups import AddressGroups
from openstack_emulator.network.rules.agents import Agents
from openstack_emulator.network.rules.floating_ips import FloatingIps
from openstack_emulator.network.rules.gateways import NetworkGateways
from openstack_emulator.network.rules.group_rules import SecurityGroupRules
from openstack_emulator.network.rules.groups import SecurityGroups
from openstack_emulator.network.rules.kinds.kind import CLOUD, Actor, Catalog, ResourceKind
from openstack_emulator.network.rules.kinds.layer2 import (
    ADDRESS_SCOPE,
    CORE_KINDS,
    NETWORK,
    PORT,
    SEGMENT,
    SUBNET,
    SUBNETPOOL,
    TRUNK,
)
from openstack_emulator.network.rules.kinds.layer3 import FLOATING_IP, L3_KINDS, PORT_FORWARDING, ROUTER
from openstack_emulator.network.rules.kinds.security import (
    ADDRESS_GROUP,
    METERING_RULE,
    QOS_KINDS,
    QOS_POLICY,
    QOS_RULES,
    RBAC_POLICY,
    SECURITY_GROUP,
    SECURITY_GROUP_RULE,
    SECURITY_KINDS,
)
from openstack_emulator.network.rules.kinds.services import MORE_KINDS, NETWORK_GATEWAY
from openstack_emulator.network.rules.networks import Networks
from openstack_emulator.network.rules.pools import AddressScopes, SubnetPools
from openstack_emulator.network.rules.port_forwardings import PortForwardings
from openstack_emulator.network.rules.ports import Ports
from openstack_emulator.network.rules.quality import MeteringRules, QosPolicies, QosRules
from openstack_emulator.network.rules.resources import ResourceRecords, Resources, State
from openstack_emulator.network.rules.routers import Routers
from openstack_emulator.network.rules.seed import seed
from openstack_emulator.network.rules.segments import Segments
from openstack_emulator.network.rules.sharing import RbacPolicies
from openstack_emulator.network.rules.subnets import Subnets
from openstack_emulator.network.rules.topology import Topology
from openstack_emulator.network.rules.trunks import Trunks

KINDS: tuple[ResourceKind[Any], ...] = (*CORE_KINDS, *L3_KINDS, *SECURITY_KINDS, *QOS_KINDS, *MORE_KINDS)


class NetworkService(ResourceRecords):
    """A table per kind; other services use the methods below and leave the tables alone."""

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        kinds = Catalog()
        kinds.add(*KINDS)
        self.state = state = State(self, kinds)
        RbacPolicies(state, RBAC_POLICY)
        self.networks = Networks(state, NETWORK, Segments(state, SEGMENT))
        self.security_groups = SecurityGroups(state, SECURITY_GROUP)
        SecurityGroupRules(state, SECURITY_GROUP_RULE)
        self.ports = Ports(state, PORT, self.security_groups)
        AddressScopes(state, ADDRESS_SCOPE)
        self.subnetpools = SubnetPools(state, SUBNETPOOL)
        self.subnets = Subnets(state, SUBNET, self.ports, self.subnetpools)
        self.routers = Routers(state, ROUTER, self.ports)
        self.floatingips = FloatingIps(state, FLOATING_IP, self.ports, self.routers)
        PortForwardings(state, PORT_FORWARDING, self.ports, self.routers)
        self.trunks = Trunks(state, TRUNK, self.ports)
        self.address_groups = AddressGroups(state, ADDRESS_GROUP)
        QosPolicies(state, QOS_POLICY)
        MeteringRules(state, METERING_RULE)
        for kind in QOS_RULES:
            QosRules(state, kind)
        self.network_gateways = NetworkGateways(state, NETWORK_GATEWAY)
        for plural, kind in kinds.kinds.items():
            if plural not in state.resources:
                Resources(state, kind)
        self.topology = Topology(self.networks, self.subnets, self.routers, self.subnetpools)
        self.agents = Agents(state, self.table("agents", Agent))

    def seed(self) -> None:
        self.agents.seed()
        seed(self.cloud, self.networks, self.subnets, self.subnetpools, self.routers)

    def opened(self) -> None:
        self.state.reindex()

    # For other services

    def create_port(self, project_id: str, body: Mapping[str, object], admin: bool = False) -> Port:
        """A port as `POST /v2.0/ports` makes it for a caller of this project; `body` is the body's `port`."""
        return self.ports.create(Actor(project_id, admin), body)

    def update_port(self, port_id: str, **changes: object) -> Port:
        """Change a port as an admin's `PUT` does."""
        return self.ports.update(CLOUD, self.ports.rows.require(port_id), changes)

    def bind_port(self, port_id: str, device_id: str, device_owner: str, host: str) -> Port:
        """Give a free port to a device on a host: BUILD, and ACTIVE soon. 409 PortInUse when another device has it."""
        port = self.ports.rows.require(port_id)
        self.ports.bind(port, device_id, device_owner, host)
        return port

    def unbind_port(self, port_id: str) -> None:
        """Take a port from its device: DOWN and free again; nothing when it is gone."""
        if (port := self.ports.rows.get(port_id)) is not None:
            self.ports.unbind(port)

    def delete_port(self, port_id: str, force: bool = False) -> None:
        """Delete a port, its addresses and associations; nothing when it is gone.

        force: router ports and trunk parents too, which are refused otherwise (409).
        """
        port = self.ports.rows.get(port_id)
        if port is None:
            return
        if force:
            self.ports.forget(port)
        else:
            self.ports.delete(CLOUD, port)

    def ports_of_device(self, device_id: str) -> list[Port]:
        """The ports of a server, router …, in the order in which it got them."""
        return sorted(self.ports.rows.select(device_id=device_id), key=lambda port: port.place)

    def default_network_for(self, project_id: str) -> list[Network]:
        """Networks a server of the project may be put on when it names none: the project's own, else the shared ones;
        several mean that the caller must choose, none that there is nothing.

        The network that the project was set up with wins over those it has made since. Nova would make the caller
        choose; here templates that name no network go on working beside others that make some.
        """
        own = [row for row in self.networks.rows.select(project_id=project_id) if not row.external]
        preset = [row for row in own if row.preset]
        if preset:
            return preset
        actor, inner = Actor(project_id), self.networks.rows.select(external=False)
        return own or [row for row in inner if self.networks.usable(actor, row)]

    def network_for(self, project_id: str | None, network_id: str, admin: bool = False) -> Network:
        """A network that a caller of this project sees, external ones too. Raises ApiError 404 NetworkNotFound."""
        return self.networks.reach(Actor(project_id, admin), network_id)

    def security_groups_by_name_or_id(self, project_id: str, name_or_id: str) -> list[SecurityGroup]:
        """The groups of the project with this id or else this name (`default` always exists): none, one or more."""
        actor = Actor(project_id)
        self.security_groups.default_of(project_id)
        found = self.security_groups.rows.get(name_or_id)
        if found is not None and self.security_groups.visible(actor, found):
            return [found]
        named = self.security_groups.rows.select(name=name_or_id)
        return [row for row in named if self.security_groups.visible(actor, row)]

    def floating_ips_of_port(self, port_id: str) -> list[FloatingIp]:
        """The floating IPs that lead to a port."""
        return self.floatingips.rows.select(port_id=port_id)
