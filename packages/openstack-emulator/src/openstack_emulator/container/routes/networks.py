"""The networks and security groups of containers over HTTP."""

from __future__ import annotations

from openstack_emulator.container.records import Container
from openstack_emulator.container.routes.containers import container_of
from openstack_emulator.container.rules.composition import SingleContainers
from openstack_emulator.container.views import interface_view
from openstack_emulator.core.errors import bad_request, conflict, not_found
from openstack_emulator.core.http import Request, Response


def index(service: SingleContainers, request: Request) -> Response:
    connections = service.networking.connections(container_of(service, request))
    return Response({"networks": [interface_view(connection) for connection in connections]})


def attach(service: SingleContainers, request: Request) -> Response:
    container, query = container_of(service, request), request.query
    service.containers.require_state(container, "network_attach")
    entry = {"network": query.get("network"), "port": query.get("port")}
    if address := query.get("fixed_ip"):
        entry |= {"v6-fixed-ip" if ":" in address else "v4-fixed-ip": address}
    requested_interface = service.networking.interface(request, entry)
    if requested_interface.network in {
        connection.network_id for connection in service.networking.connections(container)
    }:
        raise bad_request(f"Container {container.id} is attached to the network {requested_interface.network} already.")
    service.networking.plug(container, requested_interface)
    return Response(status=202)


def detach(service: SingleContainers, request: Request) -> Response:
    """Remove the interface with a port, or those on a network. Raises ApiError 404 if there is none."""
    container, query = container_of(service, request), request.query
    service.containers.require_state(container, "network_detach")
    port, network = query.get("port"), query.get("network")
    if not port and not network:
        raise bad_request("The query must have 'network' or 'port'.")
    connections = service.networking.connections(container)
    found = [
        connection
        for connection in connections
        if (connection.port_id == port if port else connection.network_id == network)
    ]
    if not found:
        raise not_found(f"Container {container.id} has no interface with {port or network}.")
    for connection in found:
        service.networking.unplug(container, connection.port_id)
    return Response(status=202)


def add_group(service: SingleContainers, request: Request) -> Response:
    container, group = _group(service, request, "add_security_group")
    if group in container.security_groups:
        raise conflict(f"security_group {group} already present in container")
    return _regrouped(service, container, [*container.security_groups, group])


def remove_group(service: SingleContainers, request: Request) -> Response:
    container, group = _group(service, request, "remove_security_group")
    if group not in container.security_groups:
        raise not_found(f"Security group {group} not associated with the container {container.id}")
    return _regrouped(service, container, [member for member in container.security_groups if member != group])


def _group(service: SingleContainers, request: Request, action: str) -> tuple[Container, str]:
    container = container_of(service, request)
    service.containers.require_state(container, action)
    return container, service.networking.group(request.context, request.query.get("name") or "")


def _regrouped(service: SingleContainers, container: Container, groups: list[str]) -> Response:
    service.networking.regroup(container, groups)
    container.security_groups = groups
    service.containers.rows.save(container)
    return Response(status=202)
