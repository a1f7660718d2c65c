"""Networks and floating IPs as Nova shows Neutron's, up to microversion 2.35."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from openstack_emulator.core import fields
from openstack_emulator.core.cloud import Records, Routes
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.internal import ask
from openstack_emulator.core.store import Record

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


def _networks(records: Records, request: Request, query: str = "") -> list[Record]:
    found: list[Record] = ask(records.cloud, request, "GET", NETWORKS, query=query)["networks"]
    return found


def _network_view(network: Record) -> Record:
    return {**dict.fromkeys(OF_NOVA_NETWORK), "id": network["id"], "label": network["name"]}


def _tenant_network_view(network: Record) -> Record:
    return {"id": network["id"], "label": network["name"], "cidr": "None"}


def list_networks(records: Records, request: Request) -> Response:
    return Response({"networks": [_network_view(row) for row in _networks(records, request)]})


def _network(records: Records, request: Request) -> Record:
    found: Record = ask(records.cloud, request, "GET", f"{NETWORKS}/{request.vars['network_id']}")["network"]
    return found


def show_network(records: Records, request: Request) -> Response:
    return Response({"network": _network_view(_network(records, request))})


def list_tenant_networks(records: Records, request: Request) -> Response:
    return Response({"networks": [_tenant_network_view(row) for row in _networks(records, request)]})


def show_tenant_network(records: Records, request: Request) -> Response:
    return Response({"network": _tenant_network_view(_network(records, request))})


def _pools(records: Records, request: Request) -> list[Record]:
    """The external networks, which Nova calls pools."""
    return _networks(records, request, "router:external=true")


def list_pools(records: Records, request: Request) -> Response:
    return Response({"floating_ip_pools": [{"name": row["name"]} for row in _pools(records, request)]})


def _floating_view(records: Records, request: Request, floating: Record) -> Record:
    port: Record = {}
    if floating["port_id"] is not None:
        port = ask(records.cloud, request, "GET", f"{PORTS}/{floating['port_id']}")["port"]
    pool = ask(records.cloud, request, "GET", f"{NETWORKS}/{floating['floating_network_id']}")
    return {
        "id": floating["id"],
        "ip": floating["floating_ip_address"],
        "fixed_ip": floating["fixed_ip_address"],
        "instance_id": port.get("device_id") or None,
        "pool": pool["network"]["name"],
    }


def list_floating_ips(records: Records, request: Request) -> Response:
    query = urlencode({"project_id": request.context.project})
    rows = ask(records.cloud, request, "GET", FLOATING_IPS, query=query)["floatingips"]
    return Response({"floating_ips": [_floating_view(records, request, row) for row in rows]})


def _floating(records: Records, request: Request) -> Record:
    key = request.vars["floating_id"]
    if fields.identifier(key) is not None:
        raise not_found(f"Floating IP not found for ID {key}")
    found: Record = ask(records.cloud, request, "GET", f"{FLOATING_IPS}/{key}")["floatingip"]
    return found


def show_floating_ip(records: Records, request: Request) -> Response:
    return Response({"floating_ip": _floating_view(records, request, _floating(records, request))})


def allocate(records: Records, request: Request) -> Response:
    """A floating IP from the pool that the body names, else from the first one."""
    body = request.json if request.body else None
    wanted = body.get("pool") if isinstance(body, dict) else None
    pools = [row for row in _pools(records, request) if wanted in (None, row["name"], row["id"])]
    if not pools:
        raise not_found("Floating IP pool not found.")
    asked = {"floatingip": {"floating_network_id": pools[0]["id"]}}
    made = ask(records.cloud, request, "POST", FLOATING_IPS, asked)["floatingip"]
    return Response({"floating_ip": _floating_view(records, request, made)})


def release(records: Records, request: Request) -> Response:
    ask(records.cloud, request, "DELETE", f"{FLOATING_IPS}/{_floating(records, request)['id']}")
    return Response(status=202)


def add_floating_ip(records: Records, request: Request, server: Record, arguments: Any) -> Response:
    """Lead a floating IP of the project to a server: to the fixed address named, else to its first IPv4 one."""
    checks = {"address": fields.text(1), "fixed_address": fields.text(1)}
    fields.check_fields(arguments, checks, ("address",), "addFloatingIp")
    floating, asked = _by_address(records, request, arguments["address"]), arguments.get("fixed_address")
    places = [
        (port["id"], row["ip_address"])
        for port in _ports(records, request, server)
        for row in port["fixed_ips"]
        if (row["ip_address"] == asked if asked else ":" not in row["ip_address"])
    ]
    if not places:
        raise bad_request("Specified fixed address not assigned to instance" if asked else "No fixed IPs to associate.")
    body = {"floatingip": {"port_id": places[0][0], "fixed_ip_address": places[0][1]}}
    try:
        ask(records.cloud, request, "PUT", f"{FLOATING_IPS}/{floating['id']}", body)
    except ApiError as error:
        raise bad_request(f"Unable to associate the floating IP: {error.message}") from None
    return Response(status=202)


def remove_floating_ip(records: Records, request: Request, server: Record, arguments: Any) -> Response:
    """Lead a floating IP nowhere; 409 when it does not lead to the server."""
    fields.check_fields(arguments, {"address": fields.text(1)}, ("address",), "removeFloatingIp")
    floating = _by_address(records, request, arguments["address"])
    if floating["port_id"] not in [port["id"] for port in _ports(records, request, server)]:
        raise conflict(f"Floating IP {arguments['address']} is not associated with instance {server['id']}.")
    ask(records.cloud, request, "PUT", f"{FLOATING_IPS}/{floating['id']}", {"floatingip": {"port_id": None}})
    return Response(status=202)


def _ports(records: Records, request: Request, server: Record) -> list[Record]:
    query = urlencode({"device_id": server["id"]})
    found: list[Record] = ask(records.cloud, request, "GET", PORTS, query=query)["ports"]
    return found


def _by_address(records: Records, request: Request, address: str) -> Record:
    query = urlencode({"floating_ip_address": address})
    rows: list[Record] = ask(records.cloud, request, "GET", FLOATING_IPS, query=query)["floatingips"]
    if not rows:
        raise not_found("floating IP not found")
    return rows[0]


NETWORK_PROXIES: Routes = {
    "/os-networks": {"GET": list_networks},
    "/os-networks/{network_id}": {"GET": show_network},
    "/os-tenant-networks": {"GET": list_tenant_networks},
    "/os-tenant-networks/{network_id}": {"GET": show_tenant_network},
    "/os-floating-ips": {"GET": list_floating_ips, "POST": allocate},
    "/os-floating-ips/{floating_id}": {"GET": show_floating_ip, "DELETE": release},
    "/os-floating-ip-pools": {"GET": list_pools},
}
