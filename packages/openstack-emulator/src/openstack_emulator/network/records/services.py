"""What the services beside the network itself keep: VPN, firewalls, service chains, taps, layer 2 gateways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from openstack_emulator.core.typed import Part
from openstack_emulator.network.records.core import NamedRecord, OwnedRecord

# VPN


@dataclass(slots=True, kw_only=True, eq=False)
class VpnService(NamedRecord):
    """What connects a router, or one of its subnets, to other sites."""

    status: str = ""
    subnet_id: str | None
    router_id: str
    admin_state_up: bool
    flavor_id: str | None
    external_v4_ip: str | None
    external_v6_ip: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class IkePolicy(NamedRecord):
    """How the ends of a connection agree on keys."""

    auth_algorithm: str
    encryption_algorithm: str
    phase1_negotiation_mode: str
    pfs: str
    ike_version: str
    lifetime: dict[str, object]


@dataclass(slots=True, kw_only=True, eq=False)
class IpsecPolicy(NamedRecord):
    """How a connection encrypts."""

    transform_protocol: str
    encapsulation_mode: str
    auth_algorithm: str
    encryption_algorithm: str
    pfs: str
    lifetime: dict[str, object]


@dataclass(slots=True, kw_only=True, eq=False)
class EndpointGroup(NamedRecord):
    """What is behind an end of a connection."""

    type: str
    endpoints: list[str]


@dataclass(slots=True, kw_only=True, eq=False)
class IpsecSiteConnection(NamedRecord):
    """A connection to another site."""

    status: str = ""
    vpnservice_id: str
    ikepolicy_id: str
    ipsecpolicy_id: str
    local_ep_group_id: str | None
    peer_ep_group_id: str | None
    local_id: str
    peer_id: str
    peer_address: str
    peer_cidrs: list[str]
    psk: str
    mtu: int
    initiator: str
    dpd: dict[str, object]
    auth_mode: str
    route_mode: str
    admin_state_up: bool


# Firewalls


@dataclass(slots=True, kw_only=True, eq=False)
class Firewall(NamedRecord):
    """A policy on routers."""

    status: str = ""
    firewall_policy_id: str
    admin_state_up: bool
    shared: bool
    router_ids: list[str]


@dataclass(slots=True, kw_only=True, eq=False)
class FirewallPolicy(NamedRecord):
    """Rules in their order."""

    shared: bool
    audited: bool
    firewall_rules: list[str]


@dataclass(slots=True, kw_only=True, eq=False)
class FirewallRule(NamedRecord):
    """What a firewall does with some packets."""

    shared: bool
    firewall_policy_id: str | None
    position: int | None
    protocol: str | None
    ip_version: int
    source_ip_address: str | None
    destination_ip_address: str | None
    source_port: str | None
    destination_port: str | None
    action: str
    enabled: bool


# Service chains


@dataclass(slots=True, kw_only=True, eq=False)
class PortPair(NamedRecord):
    """The ports by which packets reach and leave a service function."""

    ingress: str
    egress: str
    service_function_parameters: dict[str, object]


@dataclass(slots=True, kw_only=True, eq=False)
class PortPairGroup(NamedRecord):
    """Port pairs of functions that do the same."""

    port_pairs: list[str]
    port_pair_group_parameters: dict[str, object]


@dataclass(slots=True, kw_only=True, eq=False)
class FlowClassifier(NamedRecord):
    """Which packets go through a chain."""

    ethertype: str
    protocol: str | None
    source_port_range_min: int | None
    source_port_range_max: int | None
    destination_port_range_min: int | None
    destination_port_range_max: int | None
    source_ip_prefix: str | None
    destination_ip_prefix: str | None
    logical_source_port: str | None
    logical_destination_port: str | None
    l7_parameters: dict[str, object]


@dataclass(slots=True, kw_only=True, eq=False)
class PortChain(NamedRecord):
    """Service functions one after the other."""

    chain_id: int
    port_pair_groups: list[str]
    flow_classifiers: list[str]
    chain_parameters: dict[str, object]


# Taps


@dataclass(slots=True, kw_only=True, eq=False)
class TapService(NamedRecord):
    """A port that receives copies of packets."""

    status: str = ""
    port_id: str


@dataclass(slots=True, kw_only=True, eq=False)
class TapFlow(NamedRecord):
    """A port whose packets are copied."""

    status: str = ""
    tap_service_id: str
    source_port: str
    direction: str
    vlan_filter: str | None


# Layer 2 gateways


@dataclass(slots=True, kw_only=True, eq=False)
class L2Gateway(OwnedRecord):
    """Devices that connect networks to the physical world."""

    name: str
    devices: list[dict[str, object]]


@dataclass(slots=True, kw_only=True, eq=False)
class L2GatewayConnection(OwnedRecord):
    """A network that a layer 2 gateway connects."""

    l2_gateway_id: str
    network_id: str
    segmentation_id: Any


@dataclass(slots=True, kw_only=True)
class Connection(Part):
    """A network that a network gateway connects."""

    network_id: str
    segmentation_type: str
    segmentation_id: int


@dataclass(slots=True, kw_only=True, eq=False)
class NetworkGateway(OwnedRecord):
    """Devices that connect networks to the physical world. ports: the connections."""

    name: str
    default: bool
    devices: list[dict[str, object]]
    ports: list[Connection]
