"""Neutron: networks, and what is attached to them."""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.neutron.extra_route import ExtraRoute
from stoker.resources.neutron.extra_route_set import ExtraRouteSet
from stoker.resources.neutron.firewall import Firewall, FirewallPolicy, FirewallRule
from stoker.resources.neutron.floating_ip import FloatingIP
from stoker.resources.neutron.floating_ip_association import FloatingIPAssociation
from stoker.resources.neutron.floating_ip_port_forward import FloatingIPPortForward
from stoker.resources.neutron.layer2_gateways import L2Gateway, L2GatewayConnection, NetworkGateway
from stoker.resources.neutron.metering import MeteringLabel, MeteringRule
from stoker.resources.neutron.net import Net
from stoker.resources.neutron.port import Port
from stoker.resources.neutron.provider_net import ProviderNet
from stoker.resources.neutron.qos import (
    QoSBandwidthLimitRule,
    QoSDscpMarkingRule,
    QoSMinimumBandwidthRule,
    QoSMinimumPacketRateRule,
    QoSPolicy,
)
from stoker.resources.neutron.quota import Quota
from stoker.resources.neutron.rbac_policy import RBACPolicy
from stoker.resources.neutron.router import Router
from stoker.resources.neutron.router_gateway import RouterGateway
from stoker.resources.neutron.router_interface import RouterInterface
from stoker.resources.neutron.security_group import SecurityGroup
from stoker.resources.neutron.security_group_rule import SecurityGroupRule
from stoker.resources.neutron.segment import Segment
from stoker.resources.neutron.service_chaining import FlowClassifier, PortChain, PortPair, PortPairGroup
from stoker.resources.neutron.subnet import Subnet
from stoker.resources.neutron.subnet_pool import AddressScope, SubnetPool
from stoker.resources.neutron.taps import TapFlow, TapService
from stoker.resources.neutron.trunk import Trunk
from stoker.resources.neutron.vpn_policies import IKEPolicy, IPsecPolicy
from stoker.resources.neutron.vpn_service import IPsecSiteConnection, VPNService

TYPES: tuple[type[ResourceType], ...] = (
    AddressScope,
    ExtraRoute,
    ExtraRouteSet,
    Firewall,
    FirewallPolicy,
    FirewallRule,
    FloatingIP,
    FloatingIPAssociation,
    FloatingIPPortForward,
    FlowClassifier,
    IKEPolicy,
    IPsecPolicy,
    IPsecSiteConnection,
    L2Gateway,
    L2GatewayConnection,
    MeteringLabel,
    MeteringRule,
    Net,
    NetworkGateway,
    Port,
    PortChain,
    PortPair,
    PortPairGroup,
    ProviderNet,
    QoSBandwidthLimitRule,
    QoSDscpMarkingRule,
    QoSMinimumBandwidthRule,
    QoSMinimumPacketRateRule,
    QoSPolicy,
    Quota,
    RBACPolicy,
    Router,
    RouterGateway,
    RouterInterface,
    SecurityGroup,
    SecurityGroupRule,
    Segment,
    Subnet,
    SubnetPool,
    TapFlow,
    TapService,
    Trunk,
    VPNService,
)
