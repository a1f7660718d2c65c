"""The drivers of data sources: which objects of a service are tables, and what is in their columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """A table with a row per object of a list, or with `each`, per entry of a list in the objects.

    columns: the name of each column, and the path of its value in the object; `^` before a path means the object
    around an entry.
    """

    path: str
    members: str
    columns: Mapping[str, str]
    query: str = ""
    each: str = ""


@dataclass(frozen=True)
class Driver:
    """What is read of a service: its tables."""

    service: str
    description: str
    tables: Mapping[str, Table]


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


_PORTS = ("/network/v2.0/ports", "ports")
DRIVERS: Mapping[str, Driver] = {
    "nova": Driver(
        "nova",
        "Datasource driver that interfaces with OpenStack Compute aka nova.",
        {
            "servers": Table(
                "/compute/v2.1/servers/detail",
                "servers",
                {
                    **_same("id", "name"),
                    "host_id": "hostId",
                    **_same("status", "tenant_id", "user_id"),
                    "image_id": "image.id",
                    "flavor_id": "flavor.id",
                    "zone": "OS-EXT-AZ:availability_zone",
                    "host_name": "OS-EXT-SRV-ATTR:hypervisor_hostname",
                },
                "all_tenants=1",
            ),
            "flavors": Table(
                "/compute/v2.1/flavors/detail",
                "flavors",
                {
                    **_same("id", "name", "vcpus", "ram", "disk"),
                    "ephemeral": "OS-FLV-EXT-DATA:ephemeral",
                    "rxtx_factor": "rxtx_factor",
                },
                "is_public=None",
            ),
        },
    ),
    "neutronv2": Driver(
        "neutron",
        "Datasource driver that interfaces with OpenStack Networking aka Neutron.",
        {
            "networks": Table(
                "/network/v2.0/networks",
                "networks",
                _same("id", "tenant_id", "name", "status", "admin_state_up", "shared"),
            ),
            "subnets": Table(
                "/network/v2.0/subnets",
                "subnets",
                _same("id", "tenant_id", "name", "network_id", "ip_version", "cidr", "gateway_ip", "enable_dhcp"),
            ),
            "ports": Table(
                *_PORTS,
                _same(
                    "id", "tenant_id", "name", "network_id", "mac_address", "admin_state_up", "status", "device_id",
                    "device_owner",
                ),
            ),
            "fixed_ips": Table(
                *_PORTS, {"port_id": "^id", "ip_address": "ip_address", "subnet_id": "subnet_id"}, each="fixed_ips"
            ),
            "security_group_port_bindings": Table(
                *_PORTS, {"port_id": "^id", "security_group_id": ""}, each="security_groups"
            ),
            "security_groups": Table(
                "/network/v2.0/security-groups", "security_groups", _same("id", "tenant_id", "name", "description")
            ),
            "routers": Table(
                "/network/v2.0/routers", "routers", _same("id", "tenant_id", "name", "status", "admin_state_up")
            ),
            "floating_ips": Table(
                "/network/v2.0/floatingips",
                "floatingips",
                _same(
                    "id", "router_id", "tenant_id", "floating_network_id", "fixed_ip_address", "floating_ip_address",
                    "port_id", "status",
                ),
            ),
        },
    ),
    "cinder": Driver(
        "cinder",
        "Datasource driver that interfaces with OpenStack cinder.",
        {
            "volumes": Table(
                "/volume/v3/%(project_id)s/volumes/detail",
                "volumes",
                _same(
                    "id", "size", "user_id", "status", "description", "name", "bootable", "created_at", "volume_type"
                ),
                "all_tenants=1",
            )
        },
    ),
    "glancev2": Driver(
        "glance",
        "Datasource driver that interfaces with OpenStack Images aka Glance.",
        {
            "images": Table(
                "/image/v2/images",
                "images",
                _same(
                    "id", "status", "name", "container_format", "created_at", "updated_at", "disk_format", "owner",
                    "protected", "min_ram", "min_disk", "checksum", "size", "file", "visibility",
                ),
                "limit=1000",
            )
        },
    ),
    "keystonev3": Driver(
        "keystone",
        "Datasource driver that interfaces with keystone.",
        {
            "users": Table("/identity/v3/users", "users", _same("id", "name", "domain_id", "enabled", "email")),
            "projects": Table(
                "/identity/v3/projects", "projects", _same("id", "name", "domain_id", "enabled", "description")
            ),
        },
    ),
}  # fmt: skip
