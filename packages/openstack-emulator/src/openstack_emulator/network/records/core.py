"""What the network service keeps.

Fields are as the API shows them to an administrator. A field with a default is one that the rules set, or that a
request never gives; the defaults of the others stand with the attributes of the kinds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from openstack_emulator.core.typed import Part, TypedRecord, named


@dataclass(slots=True, kw_only=True)
class FixedIp(Part):
    """An address of a port, and its subnet."""

    subnet_id: str
    ip_address: str


@dataclass(slots=True, kw_only=True)
class AddressPair(Part):
    """A further address from which a port may send."""

    mac_address: str
    ip_address: str


@dataclass(slots=True, kw_only=True)
class DhcpOption(Part):
    """An option of DHCP."""

    opt_name: str
    opt_value: str
    ip_version: int


@dataclass(slots=True, kw_only=True)
class AllocationPool(Part):
    """The addresses of a subnet from `start` to `end`, which ports get."""

    start: str
    end: str


@dataclass(slots=True, kw_only=True)
class Route(Part):
    """Where packets for a destination go next."""

    destination: str
    nexthop: str


@dataclass(slots=True, kw_only=True)
class Gateway(Part):
    """The connection of a router to an external network."""

    network_id: str
    enable_snat: bool
    external_fixed_ips: list[FixedIp]


@dataclass(slots=True, kw_only=True)
class SubPort(Part):
    """A port whose traffic a trunk carries. A network without a number gives none to what inherits it."""

    port_id: str
    segmentation_type: str
    segmentation_id: int | None


# What several kinds have in common


@dataclass(slots=True, kw_only=True, eq=False)
class OwnedRecord(TypedRecord):
    """A record of a project; of none, "" for what the service makes for itself."""

    project_id: str


@dataclass(slots=True, kw_only=True, eq=False)
class NamedRecord(OwnedRecord):
    """A record with a name."""

    name: str
    description: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class RevisedRecord(OwnedRecord):
    """A record that counts its changes."""

    created_at: str = ""
    updated_at: str = ""
    revision_number: int = 0


@dataclass(slots=True, kw_only=True, eq=False)
class TaggedRecord(RevisedRecord):
    """A record that users can tag."""

    description: str | None
    tags: list[str]


@dataclass(slots=True, kw_only=True, eq=False)
class StandardRecord(TaggedRecord):
    """What networks, subnets, ports, routers … have."""

    name: str


# Networks and their segments


@dataclass(slots=True, kw_only=True, eq=False)
class Network(StandardRecord):
    """A network.

    preset: whether its project was set up with it. agents: the IDs of the DHCP agents, if somebody chose them.
    """

    status: str = ""
    admin_state_up: bool
    availability_zones: list[str] = field(default_factory=list)
    availability_zone_hints: list[str]
    l2_adjacency: bool
    external: bool = field(metadata=named("router:external"))
    is_default: bool
    mtu: int
    port_security_enabled: bool
    dns_domain: str
    qos_policy_id: str | None
    qinq: bool
    vlan_transparent: bool | None
    network_type: str = field(default="", metadata=named("provider:network_type"))
    physical_network: str | None = field(default=None, metadata=named("provider:physical_network"))
    segmentation_id: int | None = field(default=None, metadata=named("provider:segmentation_id"))
    preset: bool = field(default=False, metadata=named("_preset"))
    agents: list[str] | None = field(default=None, metadata=named("_agents"))


@dataclass(slots=True, kw_only=True, eq=False)
class Segment(TaggedRecord):
    """What a network is made of."""

    name: str | None
    network_id: str
    network_type: str
    physical_network: str | None
    segmentation_id: int | None


@dataclass(slots=True, kw_only=True, eq=False)
class RbacPolicy(OwnedRecord):
    """Which project, `*` for all, besides its owner may use an object."""

    object_type: str
    object_id: str
    action: str
    target_tenant: str


# Addresses


@dataclass(slots=True, kw_only=True, eq=False)
class Subnet(StandardRecord):
    """A range of addresses on a network."""

    network_id: str
    ip_version: int
    cidr: str = ""
    gateway_ip: str | None = None
    enable_dhcp: bool
    dns_nameservers: list[str]
    allocation_pools: list[AllocationPool] = field(default_factory=list)
    host_routes: list[Route]
    subnetpool_id: str | None
    segment_id: str | None
    ipv6_ra_mode: str | None
    ipv6_address_mode: str | None
    service_types: list[str]
    dns_publish_fixed_ip: bool


@dataclass(slots=True, kw_only=True, eq=False)
class SubnetPool(StandardRecord):
    """Ranges that subnets are cut from."""

    ip_version: int = 4
    prefixes: list[str]
    default_prefixlen: int = 0
    min_prefixlen: int = 0
    max_prefixlen: int = 0
    default_quota: int | None
    address_scope_id: str | None
    is_default: bool


@dataclass(slots=True, kw_only=True, eq=False)
class AddressScope(OwnedRecord):
    """Within a scope no two subnet pools have the same addresses."""

    name: str
    ip_version: int


# Ports and trunks


@dataclass(slots=True, kw_only=True, eq=False)
class Port(StandardRecord):
    """A port.

    place: a number by which the ports of a device are in the order in which it got them; 0 if that is not known.
    """

    status: str
    network_id: str
    mac_address: str = ""
    admin_state_up: bool
    device_id: str
    device_owner: str
    fixed_ips: list[FixedIp] = field(default_factory=list)
    ip_allocation: str
    security_groups: list[str] = field(default_factory=list)
    allowed_address_pairs: list[AddressPair] = field(default_factory=list)
    extra_dhcp_opts: list[DhcpOption] = field(default_factory=list)
    port_security_enabled: bool = False
    vif_type: str = field(metadata=named("binding:vif_type"))
    vif_details: dict[str, object] = field(metadata=named("binding:vif_details"))
    vnic_type: str = field(metadata=named("binding:vnic_type"))
    host_id: str | None = field(metadata=named("binding:host_id"))
    profile: dict[str, object] = field(metadata=named("binding:profile"))
    qos_policy_id: str | None
    dns_name: str
    dns_domain: str
    propagate_uplink_status: bool
    place: int = field(default=0, metadata=named("_place"))


@dataclass(slots=True, kw_only=True, eq=False)
class Trunk(StandardRecord):
    """One port of a device that carries the traffic of several, told apart by VLAN."""

    status: str
    port_id: str
    sub_ports: list[SubPort] = field(default_factory=list)
    admin_state_up: bool


# Routers and floating IPs


@dataclass(slots=True, kw_only=True, eq=False)
class Router(StandardRecord):
    """A router. agents: the IDs of its L3 agents, if somebody chose them."""

    status: str = ""
    admin_state_up: bool
    availability_zones: list[str] = field(default_factory=list)
    availability_zone_hints: list[str]
    external_gateway_info: Gateway | None = None
    routes: list[Route]
    distributed: bool | None
    ha: bool | None
    flavor_id: str | None
    agents: list[str] | None = field(default=None, metadata=named("_agents"))


@dataclass(slots=True, kw_only=True, eq=False)
class FloatingIp(TaggedRecord):
    """An address of an external network, and the port and its address to which it leads through a router."""

    status: str
    router_id: str | None
    floating_network_id: str
    floating_ip_address: str = ""
    port_id: str | None
    fixed_ip_address: str | None
    dns_name: str
    dns_domain: str
    qos_policy_id: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class PortForwarding(RevisedRecord):
    """One port of a floating IP, which leads to one port of an address. router: the ID of the router on the way."""

    description: str | None
    floatingip_id: str
    internal_port_id: str
    internal_ip_address: str = ""
    internal_port: int
    external_port: int
    protocol: str
    router: str = field(default="", metadata=named("_router"))


# Security groups


@dataclass(slots=True, kw_only=True, eq=False)
class SecurityGroup(StandardRecord):
    """A set of rules for what ports may receive and send."""

    stateful: bool


@dataclass(slots=True, kw_only=True, eq=False)
class SecurityGroupRule(RevisedRecord):
    """What ports may receive from or send to whom."""

    description: str | None
    normalized_cidr: str | None = None
    belongs_to_default_sg: bool
    security_group_id: str
    direction: str
    ethertype: str
    protocol: str | None
    port_range_min: int | None
    port_range_max: int | None
    remote_ip_prefix: str | None
    remote_group_id: str | None
    remote_address_group_id: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class AddressGroup(RevisedRecord):
    """Addresses that rules of security groups name together."""

    name: str
    description: str | None
    addresses: list[str]


# Quality of service, and metering


@dataclass(slots=True, kw_only=True, eq=False)
class QosPolicy(StandardRecord):
    """A policy, whose rules are records of their own."""

    is_default: bool


@dataclass(slots=True, kw_only=True, eq=False)
class QosRule(OwnedRecord):
    """A rule of a policy."""

    qos_policy_id: str


@dataclass(slots=True, kw_only=True, eq=False)
class BandwidthLimitRule(QosRule):
    """The most that passes, in kilobits per second."""

    max_kbps: int
    max_burst_kbps: int
    direction: str


@dataclass(slots=True, kw_only=True, eq=False)
class DscpMarkingRule(QosRule):
    """The mark of packets."""

    dscp_mark: int


@dataclass(slots=True, kw_only=True, eq=False)
class MinimumBandwidthRule(QosRule):
    """What always passes, in kilobits per second."""

    min_kbps: int
    direction: str


@dataclass(slots=True, kw_only=True, eq=False)
class MinimumPacketRateRule(QosRule):
    """What always passes, in thousands of packets per second."""

    min_kpps: int
    direction: str


@dataclass(slots=True, kw_only=True, eq=False)
class MeteringLabel(NamedRecord):
    """What is measured under one name."""

    shared: bool


@dataclass(slots=True, kw_only=True, eq=False)
class MeteringLabelRule(OwnedRecord):
    """Traffic that a label counts, or excludes."""

    metering_label_id: str
    direction: str
    excluded: bool
    remote_ip_prefix: str | None
    source_ip_prefix: str | None
    destination_ip_prefix: str | None


# The service itself


@dataclass(slots=True, kw_only=True, eq=False)
class Quota(TypedRecord):
    """The limits that a project has of its own; the ID is that of the project."""

    limits: dict[str, int]


@dataclass(slots=True, kw_only=True, eq=False)
class Agent(TypedRecord):
    """A process on a host of the cloud."""

    agent_type: str
    binary: str
    host: str
    topic: str
    availability_zone: str | None
    admin_state_up: object
    alive: bool
    description: Any
    configurations: dict[str, object]
    resources_synced: bool | None
    created_at: str
    started_at: str
