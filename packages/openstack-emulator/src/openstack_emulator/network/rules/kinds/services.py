"""Kinds without rules of their own: VPN, firewalls, service chains, taps, layer 2 gateways, flavors."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.validation.converting import optional
from openstack_emulator.network.records.services import (
    EndpointGroup,
    Firewall,
    FirewallPolicy,
    FirewallRule,
    FlowClassifier,
    IkePolicy,
    IpsecPolicy,
    IpsecSiteConnection,
    L2Gateway,
    L2GatewayConnection,
    NetworkGateway,
    PortChain,
    PortPair,
    PortPairGroup,
    TapFlow,
    TapService,
    VpnService,
)
from openstack_emulator.network.rules.attributes import (
    NULLABLE_TEXT,
    NULLABLE_UUID,
    anything,
    boolean,
    choice,
    dictionary,
    integer,
    ip_or_cidr,
    items,
    one_of_numbers,
    text,
    uuid,
)
from openstack_emulator.network.rules.kinds.kind import NAMED, UNNAMED, Attribute, ResourceKind, read_only

UP = Attribute(boolean, True)
IDS = items(uuid)
PORT_RANGE = optional(lambda value: text(11)(str(value)))
AUTHENTICATION = choice("sha1", "sha256", "sha384", "sha512", "aes-xcbc", "aes-cmac")
ENCRYPTION = choice("3des", "aes-128", "aes-192", "aes-256")
PFS = choice(*(f"group{number}" for number in (2, 5, *range(14, 32))))
PENDING = ("PENDING_CREATE", "ACTIVE")


def _seconds(value: object) -> dict[str, object]:
    """A lifetime: `{units: seconds, value: 3600}`."""
    lifetime = {"units": "seconds", "value": 3600, **dictionary(value)}
    choice("seconds")(lifetime["units"])
    integer(60, 2**31)(lifetime["value"])
    return lifetime


def _dead_peer(value: object) -> dict[str, object]:
    """Dead peer detection: action, interval and timeout in seconds."""
    detection = {"action": "hold", "interval": 30, "timeout": 120, **dictionary(value)}
    choice("clear", "hold", "restart", "disabled", "restart-by-peer")(detection["action"])
    return detection


VPNSERVICE = ResourceKind(
    record=VpnService,
    name="vpnservice",
    plural="vpnservices",
    path="/vpn/vpnservices",
    error="VPNService",
    label="VPNService",
    in_use="VPNService {id} is still in use",
    states=PENDING,
    attributes={
        **NAMED,
        "status": read_only(),
        "subnet_id": Attribute(NULLABLE_UUID, None, update=False, refers="subnets"),
        "router_id": Attribute(uuid, update=False, refers="routers"),
        "admin_state_up": UP,
        "flavor_id": Attribute(NULLABLE_UUID, None, update=False),
        "external_v4_ip": read_only(None),
        "external_v6_ip": read_only(None),
    },
)
IKEPOLICY = ResourceKind(
    record=IkePolicy,
    name="ikepolicy",
    plural="ikepolicies",
    path="/vpn/ikepolicies",
    error="IKEPolicy",
    label="IKEPolicy",
    in_use="IKEPolicy {id} is in use by existing IPsecSiteConnection and can't be updated or deleted",
    attributes={
        **NAMED,
        "auth_algorithm": Attribute(AUTHENTICATION, "sha1"),
        "encryption_algorithm": Attribute(ENCRYPTION, "aes-128"),
        "phase1_negotiation_mode": Attribute(choice("main", "aggressive"), "main"),
        "pfs": Attribute(PFS, "group5"),
        "ike_version": Attribute(choice("v1", "v2"), "v1"),
        "lifetime": Attribute(_seconds, lambda: _seconds({})),
    },
)
IPSECPOLICY = ResourceKind(
    record=IpsecPolicy,
    name="ipsecpolicy",
    plural="ipsecpolicies",
    path="/vpn/ipsecpolicies",
    error="IPsecPolicy",
    label="IPsecPolicy",
    in_use="IPsecPolicy {id} is in use by existing IPsecSiteConnection and can't be updated or deleted",
    attributes={
        **NAMED,
        "transform_protocol": Attribute(choice("esp", "ah", "ah-esp"), "esp"),
        "encapsulation_mode": Attribute(choice("tunnel", "transport"), "tunnel"),
        "auth_algorithm": Attribute(AUTHENTICATION, "sha1"),
        "encryption_algorithm": Attribute(ENCRYPTION, "aes-128"),
        "pfs": Attribute(PFS, "group5"),
        "lifetime": Attribute(_seconds, lambda: _seconds({})),
    },
)
ENDPOINT_GROUP = ResourceKind(
    record=EndpointGroup,
    name="endpoint_group",
    plural="endpoint_groups",
    path="/vpn/endpoint-groups",
    error="VPNEndpointGroup",
    label="Endpoint group",
    in_use="Endpoint group {id} is in use and cannot be deleted",
    attributes={
        **NAMED,
        "type": Attribute(choice("subnet", "cidr", "network", "router", "vlan"), update=False),
        "endpoints": Attribute(items(text(255)), update=False),
    },
)
IPSEC_SITE_CONNECTION = ResourceKind(
    record=IpsecSiteConnection,
    name="ipsec_site_connection",
    plural="ipsec_site_connections",
    path="/vpn/ipsec-site-connections",
    error="IPsecSiteConnection",
    label="ipsec_site_connection",
    states=PENDING,
    attributes={
        **NAMED,
        "status": read_only(),
        "vpnservice_id": Attribute(uuid, update=False, refers="vpnservices"),
        "ikepolicy_id": Attribute(uuid, update=False, refers="ikepolicies"),
        "ipsecpolicy_id": Attribute(uuid, update=False, refers="ipsecpolicies"),
        "local_ep_group_id": Attribute(NULLABLE_UUID, None, refers="endpoint_groups"),
        "peer_ep_group_id": Attribute(NULLABLE_UUID, None, refers="endpoint_groups"),
        "local_id": Attribute(text(255), ""),
        "peer_id": Attribute(text(255)),
        "peer_address": Attribute(text(255)),
        "peer_cidrs": Attribute(items(ip_or_cidr), list),
        "psk": Attribute(text(255)),
        "mtu": Attribute(integer(68, 65535), 1500),
        "initiator": Attribute(choice("bi-directional", "response-only"), "bi-directional"),
        "dpd": Attribute(_dead_peer, lambda: _dead_peer({})),
        "auth_mode": read_only("psk"),
        "route_mode": read_only("static"),
        "admin_state_up": UP,
    },
)
VPN_KINDS: tuple[ResourceKind[Any], ...] = (VPNSERVICE, IKEPOLICY, IPSECPOLICY, ENDPOINT_GROUP, IPSEC_SITE_CONNECTION)
FIREWALL = ResourceKind(
    record=Firewall,
    name="firewall",
    plural="firewalls",
    path="/fw/firewalls",
    error="Firewall",
    label="Firewall",
    states=PENDING,
    lingers=True,
    attributes={
        **NAMED,
        "status": read_only(),
        "firewall_policy_id": Attribute(uuid, refers="firewall_policies"),
        "admin_state_up": UP,
        "shared": Attribute(boolean, False, admin=True),
        "router_ids": Attribute(IDS, list, refers="routers", many=True),
    },
)
FIREWALL_POLICY = ResourceKind(
    record=FirewallPolicy,
    name="firewall_policy",
    plural="firewall_policies",
    path="/fw/firewall_policies",
    error="FirewallPolicy",
    label="Firewall Policy",
    in_use="Firewall Policy {id} is being used.",
    attributes={
        **NAMED,
        "shared": Attribute(boolean, False, admin=True),
        "audited": Attribute(boolean, False),
        "firewall_rules": Attribute(IDS, list, refers="firewall_rules", many=True),
    },
)
FIREWALL_RULE = ResourceKind(
    record=FirewallRule,
    name="firewall_rule",
    plural="firewall_rules",
    path="/fw/firewall_rules",
    error="FirewallRule",
    label="Firewall Rule",
    in_use="Firewall rule {id} is being used.",
    attributes={
        **NAMED,
        "shared": Attribute(boolean, False, admin=True),
        "firewall_policy_id": read_only(None),
        "position": read_only(None),
        "protocol": Attribute(optional(choice("tcp", "udp", "icmp")), None),
        "ip_version": Attribute(one_of_numbers(4, 6), 4),
        "source_ip_address": Attribute(optional(ip_or_cidr), None),
        "destination_ip_address": Attribute(optional(ip_or_cidr), None),
        "source_port": Attribute(PORT_RANGE, None),
        "destination_port": Attribute(PORT_RANGE, None),
        "action": Attribute(choice("allow", "deny", "reject"), "deny"),
        "enabled": Attribute(boolean, True),
    },
)
FIREWALL_KINDS: tuple[ResourceKind[Any], ...] = (FIREWALL, FIREWALL_POLICY, FIREWALL_RULE)
PORT_PAIR = ResourceKind(
    record=PortPair,
    name="port_pair",
    plural="port_pairs",
    path="/sfc/port_pairs",
    error="PortPair",
    label="Port Pair",
    in_use="Port Pair {id} in use.",
    attributes={
        **NAMED,
        "ingress": Attribute(uuid, update=False, refers="ports"),
        "egress": Attribute(uuid, update=False, refers="ports"),
        "service_function_parameters": Attribute(dictionary, dict, update=False),
    },
)
PORT_PAIR_GROUP = ResourceKind(
    record=PortPairGroup,
    name="port_pair_group",
    plural="port_pair_groups",
    path="/sfc/port_pair_groups",
    error="PortPairGroup",
    label="Port Pair Group",
    in_use="Port Pair Group {id} in use.",
    attributes={
        **NAMED,
        "port_pairs": Attribute(IDS, list, refers="port_pairs", many=True),
        "port_pair_group_parameters": Attribute(dictionary, dict, update=False),
    },
)
FLOW_CLASSIFIER = ResourceKind(
    record=FlowClassifier,
    name="flow_classifier",
    plural="flow_classifiers",
    path="/sfc/flow_classifiers",
    error="FlowClassifier",
    label="Flow Classifier",
    in_use="Flow Classifier {id} in use.",
    attributes={
        **NAMED,
        "ethertype": Attribute(choice("IPv4", "IPv6"), "IPv4", update=False),
        "protocol": Attribute(NULLABLE_TEXT, None, update=False),
        **{
            f"{side}_port_range_{end}": Attribute(optional(integer(0, 65535)), None, update=False)
            for side in ("source", "destination")
            for end in ("min", "max")
        },
        "source_ip_prefix": Attribute(optional(ip_or_cidr), None, update=False),
        "destination_ip_prefix": Attribute(optional(ip_or_cidr), None, update=False),
        "logical_source_port": Attribute(NULLABLE_UUID, None, update=False, refers="ports"),
        "logical_destination_port": Attribute(NULLABLE_UUID, None, update=False, refers="ports"),
        "l7_parameters": Attribute(dictionary, dict, update=False),
    },
)
PORT_CHAIN = ResourceKind(
    record=PortChain,
    name="port_chain",
    plural="port_chains",
    path="/sfc/port_chains",
    error="PortChain",
    label="Port Chain",
    attributes={
        **NAMED,
        "chain_id": read_only(1),
        "port_pair_groups": Attribute(IDS, refers="port_pair_groups", many=True),
        "flow_classifiers": Attribute(IDS, list, refers="flow_classifiers", many=True),
        "chain_parameters": Attribute(dictionary, dict, update=False),
    },
)
CHAIN_KINDS: tuple[ResourceKind[Any], ...] = (PORT_PAIR, PORT_PAIR_GROUP, FLOW_CLASSIFIER, PORT_CHAIN)
TAP_SERVICE = ResourceKind(
    record=TapService,
    name="tap_service",
    plural="tap_services",
    path="/taas/tap_services",
    error="TapService",
    label="Tap Service",
    in_use="Tap Service {id} is in use by tap flows.",
    states=("ACTIVE",),
    lingers=True,
    attributes={
        **NAMED,
        "status": read_only(),
        "port_id": Attribute(uuid, update=False, refers="ports"),
    },
)
TAP_FLOW = ResourceKind(
    record=TapFlow,
    name="tap_flow",
    plural="tap_flows",
    path="/taas/tap_flows",
    error="TapFlow",
    label="Tap Flow",
    states=("ACTIVE",),
    lingers=True,
    attributes={
        **NAMED,
        "status": read_only(),
        "tap_service_id": Attribute(uuid, update=False, refers="tap_services"),
        "source_port": Attribute(uuid, update=False, refers="ports"),
        "direction": Attribute(choice("IN", "OUT", "BOTH"), update=False),
        "vlan_filter": Attribute(NULLABLE_TEXT, None, update=False),
    },
)
TAP_KINDS: tuple[ResourceKind[Any], ...] = (TAP_SERVICE, TAP_FLOW)
NETWORK_GATEWAY = ResourceKind(
    record=NetworkGateway,
    name="network_gateway",
    plural="network_gateways",
    path="/network-gateways",
    error="NetworkGateway",
    label="Network gateway",
    attributes={
        **UNNAMED,
        "name": NAMED["name"],
        "default": read_only(False),
        "devices": Attribute(items(dictionary), list, update=False),
        "ports": read_only(list),
    },
)
L2_GATEWAY = ResourceKind(
    record=L2Gateway,
    name="l2_gateway",
    plural="l2_gateways",
    path="/l2-gateways",
    error="L2Gateway",
    label="L2 Gateway",
    in_use="L2 Gateway {id} still has active mappings with one or more neutron networks.",
    attributes={**UNNAMED, "name": NAMED["name"], "devices": Attribute(items(dictionary), list)},
)
L2_GATEWAY_CONNECTION = ResourceKind(
    record=L2GatewayConnection,
    name="l2_gateway_connection",
    plural="l2_gateway_connections",
    path="/l2-gateway-connections",
    error="L2GatewayConnection",
    label="L2 Gateway Connection",
    attributes={
        **UNNAMED,
        "l2_gateway_id": Attribute(uuid, update=False, refers="l2_gateways"),
        "network_id": Attribute(uuid, update=False, refers="networks"),
        "segmentation_id": Attribute(anything, "", update=False),
    },
)
GATEWAY_KINDS: tuple[ResourceKind[Any], ...] = (L2_GATEWAY, L2_GATEWAY_CONNECTION, NETWORK_GATEWAY)
MORE_KINDS: tuple[ResourceKind[Any], ...] = (*VPN_KINDS, *FIREWALL_KINDS, *CHAIN_KINDS, *TAP_KINDS, *GATEWAY_KINDS)
