"""Containers, images and hosts as clients see them; `base` is the URL of the service."""

from __future__ import annotations

from openstack_emulator.container.records import Container, Host, Image
from openstack_emulator.container.rules.composition import SingleContainers
from openstack_emulator.container.rules.hosts import CPUS, MEMORY, ZONE, Usage
from openstack_emulator.container.rules.networking import Connection
from openstack_emulator.core.http import Request
from openstack_emulator.core.objects import links

View = dict[str, object]
BINARY = "zun-compute"
DISK = 200
"""Gibibytes."""
_FOR_ADMINISTRATORS = ("host", "runtime", "image_pull_policy", "privileged")


def container_view(service: SingleContainers, request: Request, container: Container) -> View:
    """A container."""
    hidden = {"id", "started_at", *(() if request.context.is_admin else _FOR_ADMINISTRATORS)}
    addresses: dict[str, list[View]] = {}
    for connection in service.networking.connections(container):
        addresses.setdefault(connection.network_id, []).extend(_addresses(connection))
    return {
        **{name: value for name, value in container.to_json().items() if name not in hidden and name[0] != "_"},
        "addresses": addresses,
        "links": links(request.base, "containers", container.id),
    }


def _addresses(connection: Connection) -> list[View]:
    return [
        {
            "addr": address.ip_address,
            "version": address.version,
            "port": connection.port_id,
            "subnet_id": address.subnet_id,
            "preserve_on_delete": connection.is_kept,
        }
        for address in connection.addresses
    ]


def interface_view(connection: Connection) -> View:
    """A port of a container."""
    fixed_ips = [
        {"ip_address": address.ip_address, "version": address.version, "subnet_id": address.subnet_id}
        for address in connection.addresses
    ]
    return {"port_id": connection.port_id, "net_id": connection.network_id, "fixed_ips": fixed_ips}


def image_view(base: str, image: Image) -> View:
    """An image."""
    shown = {name: value for name, value in image.to_json().items() if name not in ("id", "driver")}
    return {**shown, "links": links(base, "images", image.id)}


def host_view(base: str, host: Host, used: Usage) -> View:
    """A host, and what containers have of it."""
    return {
        "uuid": host.uuid,
        "hostname": host.name,
        "cpus": CPUS,
        "cpu_used": used.cpus,
        "mem_total": MEMORY,
        "mem_used": used.memory,
        "disk_total": DISK,
        "disk_used": used.disk,
        "total_containers": used.containers,
        "os": "Ubuntu 24.04 LTS",
        "os_type": "linux",
        "architecture": "x86_64",
        "kernel_version": "6.8.0",
        "runtimes": ["runc"],
        "labels": {},
        "enable_cpu_pinning": False,
        "links": links(base, "hosts", host.uuid),
    }


def service_view(host: Host, now: str) -> View:
    """The service process of a host."""
    return {
        "id": 1,
        "host": host.name,
        "binary": BINARY,
        "state": "down" if host.forced_down else "up",
        "disabled": host.disabled,
        "disabled_reason": host.disabled_reason,
        "forced_down": host.forced_down,
        "availability_zone": ZONE,
        "report_count": 1,
        "last_seen_up": now,
        "created_at": host.created_at,
        "updated_at": now,
    }
