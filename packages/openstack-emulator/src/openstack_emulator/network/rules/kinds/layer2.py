"""Kinds of layer 2 and of addressing: networks, segments, subnets, pools, scopes, ports, trunks."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.validation.converting import optional
from openstack_emulator.network.records.core import (
    AddressScope,
    AllocationPool,
    Network,
    Port,
    Segment,
    Subnet,
    SubnetPool,
    Trunk,
)
from openstack_emulator.network.rules.attributes import (
    NULLABLE_TEXT,
    NULLABLE_UUID,
    ROUTES,
    VERSION,
    blank_or,
    boolean,
    choice,
    cidr,
    converted_cidr,
    dhcp_option,
    dictionary,
    dns_name,
    fixed_ips,
    form,
    instance_of,
    integer,
    ip,
    ip_or_cidr,
    items,
    mac,
    nameserver,
    text,
    unconvertible,
    uuid,
)
from openstack_emulator.network.rules.inputs import RequestedAddressPair, RequestedOption, RequestedSubPort
from openstack_emulator.network.rules.kinds.kind import (
    NAMED,
    OMITTED,
    STANDARD,
    UNNAMED,
    Attribute,
    Deletion,
    ResourceKind,
    read_only,
)

NETWORK_TYPES = ("local", "flat", "vlan", "vxlan", "gre", "geneve")
VNIC_TYPES = (
    "normal",
    "macvtap",
    "direct",
    "baremetal",
    "direct-physical",
    "virtio-forwarder",
    "smart-nic",
    "vdpa",
    "remote-managed",
    "accelerator-direct",
    "accelerator-direct-physical",
)
IPV6_MODES = optional(choice("dhcpv6-stateful", "dhcpv6-stateless", "slaac"))
UP = Attribute(boolean, True)
NULLABLE_INTEGER = optional(integer(0, 2**31))
SEGMENT_NUMBER = optional(integer(1, 2**24 - 1))

NETWORK = ResourceKind(
    record=Network,
    name="network",
    plural="networks",
    path="/networks",
    error="Network",
    label="Network",
    in_use="Unable to complete operation on network {id}. There are one or more ports still in use on the network.",
    quota="network",
    states=("ACTIVE",),
    indexes=("name",),
    derived=frozenset({"shared", "subnets", "ipv4_address_scope", "ipv6_address_scope"}),
    shareable=True,
    attributes={
        **STANDARD,
        "status": read_only(),
        "subnets": read_only(),
        "availability_zones": read_only(),
        "ipv4_address_scope": read_only(),
        "ipv6_address_scope": read_only(),
        "l2_adjacency": read_only(True),
        "admin_state_up": UP,
        "shared": Attribute(boolean, False, admin=True),
        "router:external": Attribute(boolean, False, admin=True),
        "is_default": Attribute(boolean, False, admin=True),
        "mtu": Attribute(integer(0, 2**31), 1450),
        "port_security_enabled": UP,
        "availability_zone_hints": Attribute(items(text(255)), list, update=False),
        "dns_domain": Attribute(text(255), ""),
        "qos_policy_id": Attribute(NULLABLE_UUID, None, refers="policies"),
        "qinq": Attribute(boolean, False, update=False),
        "vlan_transparent": Attribute(optional(boolean), None, update=False),
        "provider:network_type": Attribute(choice(*NETWORK_TYPES), OMITTED, admin=True, hidden=True),
        "provider:physical_network": Attribute(NULLABLE_TEXT, OMITTED, admin=True, hidden=True),
        "provider:segmentation_id": Attribute(SEGMENT_NUMBER, OMITTED, admin=True, hidden=True),
    },
)
SEGMENT = ResourceKind(
    record=Segment,
    name="segment",
    plural="segments",
    path="/segments",
    owned=False,
    error="Segment",
    label="Segment",
    in_use="Segment '{id}' cannot be deleted: The segment is still associated with subnet(s).",
    admin_write=True,
    indexes=("segmentation_id",),
    attributes={
        **STANDARD,
        "name": Attribute(NULLABLE_TEXT, None),
        "network_id": Attribute(uuid, update=False, refers="networks", on_delete=Deletion.CASCADE),
        "network_type": Attribute(choice(*NETWORK_TYPES), update=False),
        "physical_network": Attribute(NULLABLE_TEXT, None, update=False),
        "segmentation_id": Attribute(SEGMENT_NUMBER, None, update=False),
    },
)
SUBNET = ResourceKind(
    record=Subnet,
    name="subnet",
    plural="subnets",
    path="/subnets",
    error="Subnet",
    label="Subnet",
    in_use="Unable to complete operation on subnet {id}: One or more ports have an IP allocation from this subnet.",
    quota="subnet",
    owner="network_id",
    indexes=("name",),
    attributes={
        **STANDARD,
        "network_id": Attribute(uuid, update=False, refers="networks", on_delete=Deletion.RULED),
        "ip_version": Attribute(VERSION, update=False),
        "cidr": Attribute(optional(converted_cidr), OMITTED, update=False),
        "gateway_ip": Attribute(optional(blank_or(ip)), OMITTED),
        "enable_dhcp": UP,
        "dns_nameservers": Attribute(items(nameserver, distinct=True), list),
        "allocation_pools": Attribute(items(instance_of(AllocationPool, form({"start": ip, "end": ip}))), OMITTED),
        "host_routes": Attribute(ROUTES, list),
        "subnetpool_id": Attribute(NULLABLE_TEXT, None, update=False, refers="subnetpools"),
        "use_default_subnetpool": Attribute(boolean, OMITTED, update=False),
        "prefixlen": Attribute(integer(0, 128), OMITTED, update=False),
        "segment_id": Attribute(NULLABLE_UUID, None, refers="segments", hidden=True),
        "ipv6_ra_mode": Attribute(IPV6_MODES, None, update=False),
        "ipv6_address_mode": Attribute(IPV6_MODES, None, update=False),
        "service_types": Attribute(items(text(255), distinct=True), list),
        "dns_publish_fixed_ip": Attribute(boolean, False),
    },
)
SUBNETPOOL = ResourceKind(
    record=SubnetPool,
    name="subnetpool",
    plural="subnetpools",
    path="/subnetpools",
    error="SubnetPool",
    label="Subnet pool",
    in_use="Unable to delete subnet pool: Subnet pool has existing allocations.",
    quota="subnetpool",
    indexes=("name",),
    derived=frozenset({"shared"}),
    shareable=True,
    attributes={
        **STANDARD,
        "ip_version": read_only(),
        "prefixes": Attribute(items(cidr)),
        "default_prefixlen": Attribute(integer(0, 128), OMITTED),
        "min_prefixlen": Attribute(integer(0, 128), OMITTED),
        "max_prefixlen": Attribute(integer(0, 128), OMITTED),
        "default_quota": Attribute(NULLABLE_INTEGER, None),
        "address_scope_id": Attribute(NULLABLE_UUID, None, refers="address_scopes"),
        "is_default": Attribute(boolean, False, admin=True),
        "shared": Attribute(boolean, False, update=False, admin=True),
    },
)
ADDRESS_SCOPE = ResourceKind(
    record=AddressScope,
    name="address_scope",
    plural="address_scopes",
    path="/address-scopes",
    error="AddressScope",
    label="Address scope",
    in_use="Unable to complete operation on address scope {id}. There are one or more subnet pools in use on the "
    "address scope.",
    derived=frozenset({"shared"}),
    shareable=True,
    attributes={
        **UNNAMED,
        "name": NAMED["name"],
        "ip_version": Attribute(VERSION, update=False),
        "shared": Attribute(boolean, False, admin=True),
    },
)
DHCP_OPTION = instance_of(
    RequestedOption, form({"opt_name": text(64), "opt_value": optional(text(255))}, {"ip_version": VERSION})
)
PORT = ResourceKind(
    record=Port,
    name="port",
    plural="ports",
    path="/ports",
    error="Port",
    label="Port",
    in_use="Port {id} is currently a parent port of a trunk and cannot be deleted.",
    quota="port",
    indexes=("name", "device_id", "device_owner"),
    derived=frozenset({"dns_assignment", "resource_request", "qos_network_policy_id"}),
    attributes={
        **STANDARD,
        "status": read_only("DOWN"),
        "binding:vif_type": read_only("unbound", hidden=True),
        "binding:vif_details": read_only(dict, hidden=True),
        "dns_assignment": read_only(),
        "resource_request": read_only(hidden=True),
        "qos_network_policy_id": read_only(),
        "ip_allocation": read_only("immediate"),
        "network_id": Attribute(uuid, update=False, refers="networks", on_delete=Deletion.RULED),
        "mac_address": Attribute(mac, OMITTED),
        "admin_state_up": UP,
        "device_id": Attribute(text(255), ""),
        "device_owner": Attribute(text(255), ""),
        "fixed_ips": Attribute(fixed_ips, OMITTED, is_request=True),
        "security_groups": Attribute(items(uuid), OMITTED),
        "allowed_address_pairs": Attribute(
            items(instance_of(RequestedAddressPair, form({}, {"ip_address": ip_or_cidr, "mac_address": mac}))),
            list,
            is_request=True,
        ),
        "extra_dhcp_opts": Attribute(
            items(dhcp_option(DHCP_OPTION)),
            list,
            is_request=True,
        ),
        "port_security_enabled": Attribute(boolean, OMITTED),
        "binding:vnic_type": Attribute(choice(*VNIC_TYPES), "normal"),
        "binding:host_id": Attribute(NULLABLE_TEXT, "", admin=True, hidden=True),
        "binding:profile": Attribute(dictionary, dict, admin=True, hidden=True),
        "qos_policy_id": Attribute(NULLABLE_UUID, None, refers="policies"),
        "dns_name": Attribute(dns_name, ""),
        "dns_domain": Attribute(text(255), ""),
        "propagate_uplink_status": Attribute(boolean, True),
    },
)


def segmentation_type(value: object) -> str:
    """How a trunk tells the traffic of its ports apart."""
    if value not in ("vlan", "inherit"):
        raise unconvertible(value, f"Unknown segmentation_type '{value}'.")
    return str(value)


def vlan(value: object) -> int:
    """The number of a VLAN."""
    number = integer(0, 2**31)(value)
    if not 1 <= number <= 4094:
        raise unconvertible(value, f"Segmentation ID '{number}' is not in range.")
    return number


SUB_PORT = instance_of(
    RequestedSubPort,
    form({"port_id": uuid}, {"segmentation_type": segmentation_type, "segmentation_id": vlan}),
)
TRUNK = ResourceKind(
    record=Trunk,
    name="trunk",
    plural="trunks",
    path="/trunks",
    error="Trunk",
    label="Trunk",
    quota="trunk",
    attributes={
        **STANDARD,
        "status": read_only("DOWN"),
        "port_id": Attribute(uuid, update=False, refers="ports"),
        "sub_ports": Attribute(items(SUB_PORT), list, update=False, is_request=True),
        "admin_state_up": UP,
    },
)
CORE_KINDS: tuple[ResourceKind[Any], ...] = (NETWORK, SEGMENT, SUBNET, SUBNETPOOL, ADDRESS_SCOPE, PORT, TRUNK)
