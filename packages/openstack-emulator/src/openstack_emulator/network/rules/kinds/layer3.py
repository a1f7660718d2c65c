"""Kinds of layer 3: routers, floating IPs and their port forwardings."""

from __future__ import annotations

from functools import partial
from typing import Any

from openstack_emulator.core.validation.converting import optional
from openstack_emulator.network.records.core import FloatingIp, PortForwarding, Router
from openstack_emulator.network.rules.attributes import (
    NULLABLE_TEXT,
    NULLABLE_UUID,
    PORT_NUMBER,
    ROUTES,
    boolean,
    dictionary,
    form,
    instance_of,
    ip,
    items,
    text,
    unconvertible,
    uuid,
)
from openstack_emulator.network.rules.inputs import RequestedAddress, RequestedGateway
from openstack_emulator.network.rules.kinds.kind import (
    OMITTED,
    STANDARD,
    TIMES,
    UNNAMED,
    Attribute,
    Deletion,
    ResourceKind,
    read_only,
)

EXTERNAL_ADDRESS = instance_of(RequestedAddress, form({}, {"subnet_id": uuid, "ip_address": ip}))
GATEWAY = form({"network_id": uuid}, {"enable_snat": boolean, "external_fixed_ips": items(EXTERNAL_ADDRESS)})


def gateway(value: object) -> RequestedGateway | None:
    """The gateway of a router; None for none."""
    if not value:
        return None
    fields = dictionary(value)
    return instance_of(partial(RequestedGateway, names=tuple(fields)), GATEWAY)(fields)


def forwarded_protocol(value: object) -> str:
    """A protocol whose ports can be forwarded."""
    if value not in ("tcp", "udp", "sctp", "icmp", "dccp"):
        raise unconvertible(
            value,
            f"IP protocol '{value}' is not supported. Only protocol names and their integer representation (0 to 255) "
            "are supported.",
        )
    return str(value)


ROUTER = ResourceKind(
    record=Router,
    name="router",
    plural="routers",
    path="/routers",
    error="Router",
    label="Router",
    unknown="Router {id} could not be found",
    in_use="Router {id} still has ports",
    quota="router",
    states=("ACTIVE",),
    indexes=("name",),
    attributes={
        **STANDARD,
        "status": read_only(),
        "availability_zones": read_only(),
        "admin_state_up": Attribute(boolean, True),
        "external_gateway_info": Attribute(gateway, None, is_request=True),
        "routes": Attribute(ROUTES, list, create=False),
        "distributed": Attribute(optional(boolean), False, admin=True, hidden=True),
        "ha": Attribute(optional(boolean), False, admin=True, hidden=True),
        "availability_zone_hints": Attribute(items(text(255)), list, update=False),
        "flavor_id": Attribute(NULLABLE_TEXT, None, update=False),
    },
)
FLOATING_IP = ResourceKind(
    record=FloatingIp,
    name="floatingip",
    plural="floatingips",
    path="/floatingips",
    error="FloatingIP",
    label="Floating IP",
    unknown="Floating IP {id} could not be found",
    quota="floatingip",
    indexes=("floating_ip_address",),
    derived=frozenset({"port_details", "port_forwardings"}),
    attributes={
        **{name: attribute for name, attribute in STANDARD.items() if name != "name"},
        "status": read_only("DOWN"),
        "router_id": read_only(None, refers="routers"),
        "port_details": read_only(),
        "port_forwardings": read_only(),
        "floating_network_id": Attribute(uuid, update=False, refers="networks", on_delete=Deletion.RULED),
        "floating_ip_address": Attribute(ip, OMITTED, update=False, admin=True),
        "subnet_id": Attribute(NULLABLE_UUID, OMITTED, update=False),
        "port_id": Attribute(NULLABLE_UUID, None, refers="ports", on_delete=Deletion.RULED),
        "fixed_ip_address": Attribute(optional(ip), None),
        "dns_name": Attribute(text(255), "", update=False),
        "dns_domain": Attribute(text(255), "", update=False),
        "qos_policy_id": Attribute(NULLABLE_UUID, None, refers="policies"),
    },
)
PORT_FORWARDING = ResourceKind(
    record=PortForwarding,
    name="port_forwarding",
    plural="port_forwardings",
    path="/floatingips/{parent_id}/port_forwardings",
    error="PortForwarding",
    label="Port Forwarding",
    parent="floatingip_id",
    attributes={
        **UNNAMED,
        **TIMES,
        "description": Attribute(NULLABLE_TEXT, ""),
        "floatingip_id": Attribute(uuid, update=False, refers="floatingips", on_delete=Deletion.CASCADE),
        "internal_port_id": Attribute(uuid, refers="ports", on_delete=Deletion.CASCADE),
        "internal_ip_address": Attribute(ip, OMITTED),
        "internal_port": Attribute(PORT_NUMBER),
        "external_port": Attribute(PORT_NUMBER),
        "protocol": Attribute(forwarded_protocol),
    },
)
L3_KINDS: tuple[ResourceKind[Any], ...] = (ROUTER, FLOATING_IP, PORT_FORWARDING)
