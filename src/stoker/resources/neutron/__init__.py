"""Neutron: networks, and what is attached to them."""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.neutron.extra_route_set import ExtraRouteSet
from stoker.resources.neutron.floating_ip import FloatingIP
from stoker.resources.neutron.floating_ip_association import FloatingIPAssociation
from stoker.resources.neutron.net import Net
from stoker.resources.neutron.port import Port
from stoker.resources.neutron.provider_net import ProviderNet
from stoker.resources.neutron.quota import Quota
from stoker.resources.neutron.router import Router
from stoker.resources.neutron.router_gateway import RouterGateway
from stoker.resources.neutron.router_interface import RouterInterface
from stoker.resources.neutron.security_group import SecurityGroup
from stoker.resources.neutron.security_group_rule import SecurityGroupRule
from stoker.resources.neutron.subnet import Subnet
from stoker.resources.neutron.trunk import Trunk

TYPES: tuple[type[ResourceType], ...] = (
    Quota,
    ExtraRouteSet,
    FloatingIP,
    FloatingIPAssociation,
    Net,
    Port,
    ProviderNet,
    Router,
    RouterGateway,
    RouterInterface,
    SecurityGroup,
    SecurityGroupRule,
    Subnet,
    Trunk,
)
