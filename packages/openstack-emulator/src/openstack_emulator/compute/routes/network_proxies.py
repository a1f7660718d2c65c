"""Networks and floating IPs as Nova shows Neutron's, up to microversion 2.35."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from openstack_emulator.compute.records import Server
from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.core.actions import argument_of
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.internal import call_service
from openstack_emulator.core.typed import Part
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields

NETWORKS = "/network/v2.0/networks"
FLOATING_IPS = "/network/v2.0/floatingips"
PORTS = "/network/v2.0/ports"
OF_NOVA_NETWORK = (
    "netmask", "gateway", "netmask_v6", "gateway_v6", "cidr", "cidr_v6", "broadcast", "dns1", "dns2", "vpn_public_port",
    "vpn_public_address", "vpn_private_address", "dhcp_start", "dhcp_server", "bridge", "bridge_interface", "vlan",
    "host", "priority", "project_id", "rxtx_base", "injected", "multi_host", "mtu", "enable_dhcp", "share_address",
    "created_at", "updated_at", "deleted", "deleted_at",
)  # fmt: skip
"""Fields of networks that Nova once made itself; of Neutron's nothing is said in them."""


@dataclass(slots=True, kw_only=True, eq=False)
class Network(Part):
    """A network, as Neutron shows it."""

    id: str
    name: str


@dataclass(slots=True, kw_only=True, eq=False)
class FloatingIp(Part):
    """A floating IP, as Neutron shows it."""

    id: str
    port_id: str | None
    floating_network_id: str
    floating_ip_address: str
    fixed_ip_address: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class Address(Part):
    """A fixed address of a port."""

    ip_address: str


@dataclass(slots=True, kw_only=True, eq=False)
class Port(Part):
    """A port, as Neutron shows it."""

    id: str
    device_id: str
    fixed_ips: list[Address]


def _networks(compute: ComputeService, request: Request, query: str = "") -> list[Network]:
    found = call_service(compute.cloud, request, "GET", NETWORKS, query=query)
    return [Network.from_json(row) for row in found["networks"]]


def _network_view(network: Network) -> dict[str, object]:
    return {**dict.fromkeys(OF_NOVA_NETWORK), "id": network.id, "label": network.name}


def _tenant_network_view(network: Network) -> dict[str, object]:
    return {"id": network.id, "label": network.name, "cidr": "None"}


def list_networks(compute: ComputeService, request: Request) -> Response:
    return Response({"networks": [_network_view(row) for row in _networks(compute, request)]})


def _network(compute: ComputeService, request: Request, key: str) -> Network:
    return Network.from_json(call_service(compute.cloud, request, "GET", f"{NETWORKS}/{key}")["network"])


def _named_network(compute: ComputeService, request: Request) -> Network:
    """The network that the path names."""
    return _network(compute, request, request.vars["network_id"])


def show_network(compute: ComputeService, request: Request) -> Response:
    return Response({"network": _network_view(_named_network(compute, request))})


def list_tenant_networks(compute: ComputeService, request: Request) -> Response:
    return Response({"networks": [_tenant_network_view(row) for row in _networks(compute, request)]})


def show_tenant_network(compute: ComputeService, request: Request) -> Response:
    return Response({"network": _tenant_network_view(_named_network(compute, request))})


def _pools(compute: ComputeService, request: Request) -> list[Network]:
    """The external networks, which Nova calls pools."""
    return _networks(compute, request, "router:external=true")


def list_pools(compute: ComputeService, request: Request) -> Response:
    return Response({"floating_ip_pools": [{"name": row.name} for row in _pools(compute, request)]})


def _floating_view(compute: ComputeService, request: Request, floating: FloatingIp) -> dict[str, object]:
    server = None
    if floating.port_id is not None:
        found = call_service(compute.cloud, request, "GET", f"{PORTS}/{floating.port_id}")
        server = Port.from_json(found["port"]).device_id or None
    return {
        "id": floating.id,
        "ip": floating.floating_ip_address,
        "fixed_ip": floating.fixed_ip_address,
        "instance_id": server,
        "pool": _network(compute, request, floating.floating_network_id).name,
    }


def list_floating_ips(compute: ComputeService, request: Request) -> Response:
    query = urlencode({"project_id": request.context.project})
    rows = _floating_ips(compute, request, query)
    return Response({"floating_ips": [_floating_view(compute, request, row) for row in rows]})


def _floating(compute: ComputeService, request: Request) -> FloatingIp:
    key = request.vars["floating_id"]
    if fields.identifier(key) is not None:
        raise not_found(f"Floating IP not found for ID {key}")
    return FloatingIp.from_json(call_service(compute.cloud, request, "GET", f"{FLOATING_IPS}/{key}")["floatingip"])


def show_floating_ip(compute: ComputeService, request: Request) -> Response:
    return Response({"floating_ip": _floating_view(compute, request, _floating(compute, request))})


def allocate(compute: ComputeService, request: Request) -> Response:
    """A floating IP from the pool that the body names, else from the first one."""
    body = request.json if request.body else None
    pool = body.get("pool") if isinstance(body, dict) else None
    pools = [row for row in _pools(compute, request) if pool in (None, row.name, row.id)]
    if not pools:
        raise not_found("Floating IP pool not found.")
    new = {"floatingip": {"floating_network_id": pools[0].id}}
    floating_ip = FloatingIp.from_json(call_service(compute.cloud, request, "POST", FLOATING_IPS, new)["floatingip"])
    return Response({"floating_ip": _floating_view(compute, request, floating_ip)})


def release(compute: ComputeService, request: Request) -> Response:
    call_service(compute.cloud, request, "DELETE", f"{FLOATING_IPS}/{_floating(compute, request).id}")
    return Response(status=202)


def add_floating_ip(compute: ComputeService, request: Request, server: Server, arguments: Any) -> Response:
    """Lead a floating IP of the project to a server: to the fixed address named, else to its first IPv4 one."""
    checks = {"address": fields.text(1), "fixed_address": fields.text(1)}
    check_fields(arguments, checks, ("address",), "addFloatingIp")
    floating, fixed_address = _by_address(compute, request, arguments.get("address")), arguments.get("fixed_address")
    places = [
        (port.id, row.ip_address)
        for port in _ports(compute, request, server)
        for row in port.fixed_ips
        if (row.ip_address == fixed_address if fixed_address else ":" not in row.ip_address)
    ]
    if not places:
        raise bad_request(
            "Specified fixed address not assigned to instance" if fixed_address else "No fixed IPs to associate."
        )
    port_id, address = places[0]
    body = {"floatingip": {"port_id": port_id, "fixed_ip_address": address}}
    try:
        call_service(compute.cloud, request, "PUT", f"{FLOATING_IPS}/{floating.id}", body)
    except ApiError as error:
        raise bad_request(f"Unable to associate the floating IP: {error.message}") from None
    return Response(status=202)


def remove_floating_ip(compute: ComputeService, request: Request, server: Server, arguments: object) -> Response:
    """Lead a floating IP nowhere; 409 when it does not lead to the server."""
    address = argument_of("removeFloatingIp", arguments, "address", fields.text(1))
    floating = _by_address(compute, request, address)
    if floating.port_id not in [port.id for port in _ports(compute, request, server)]:
        raise conflict(f"Floating IP {address} is not associated with instance {server.id}.")
    call_service(compute.cloud, request, "PUT", f"{FLOATING_IPS}/{floating.id}", {"floatingip": {"port_id": None}})
    return Response(status=202)


def _ports(compute: ComputeService, request: Request, server: Server) -> list[Port]:
    query = urlencode({"device_id": server.id})
    return [Port.from_json(row) for row in call_service(compute.cloud, request, "GET", PORTS, query=query)["ports"]]


def _floating_ips(compute: ComputeService, request: Request, query: str) -> list[FloatingIp]:
    found = call_service(compute.cloud, request, "GET", FLOATING_IPS, query=query)
    return [FloatingIp.from_json(row) for row in found["floatingips"]]


def _by_address(compute: ComputeService, request: Request, address: str) -> FloatingIp:
    rows = _floating_ips(compute, request, urlencode({"floating_ip_address": address}))
    if not rows:
        raise not_found("floating IP not found")
    return rows[0]
