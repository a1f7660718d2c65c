"""Data sources: the objects of the cloud's services as tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import bad_request, conflict
from openstack_emulator.core.http import Request
from openstack_emulator.core.internal import ask
from openstack_emulator.core.store import Record
from openstack_emulator.policy.evaluation import Row
from openstack_emulator.policy.language import Value


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


class Sources(Component):
    """The data sources; a new cloud has one for each driver."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.table("datasources", "name")

    def seed(self) -> None:
        for name, driver in self.drivers().items():
            self._add(name, name, driver.description, {})

    def drivers(self) -> dict[str, Driver]:
        """Return the drivers of the services that the cloud has."""
        return {name: driver for name, driver in DRIVERS.items() if self.cloud.has_service(driver.service)}

    def add(self, given: Any) -> Record:
        """Add a data source. Raises ApiError: 400, or 409 for a name that is in use."""
        if not isinstance(given, dict) or not isinstance(given.get("name"), str) or not given["name"].isidentifier():
            raise bad_request("The name of a data source must consist of letters, digits and underscores")
        if given.get("driver") not in self.drivers():
            raise bad_request(f"Invalid driver {given.get('driver')}")
        if self.rows.first(name=given["name"]) is not None:
            raise conflict(f"Datasource with name {given['name']} already exists")
        config = given.get("config") or {}
        if not isinstance(config, dict):
            raise bad_request("The config of a data source must be a JSON object")
        # A driver reads this cloud with the caller's token, whatever the configuration says: nothing else is stored.
        return self._add(given["name"], given["driver"], str(given.get("description") or ""), {})

    def _add(self, name: str, driver: str, description: str, config: Mapping[str, Any]) -> Record:
        return self.rows.add(
            {
                "id": new_id(),
                "name": name,
                "driver": driver,
                "description": description,
                "type": None,
                "enabled": True,
                "config": dict(config),
            }
        )

    def find(self, key: str) -> Record:
        """Return a data source by ID or name. Raises ApiError 404."""
        return self.rows.get(key) or self.rows.first(name=key) or self.rows.require(key)

    def tables(self, row: Record) -> Mapping[str, Table]:
        """Return the tables of a data source; none if the cloud no longer has the service."""
        driver = self.drivers().get(row["driver"])
        return {} if driver is None else driver.tables

    def columns(self, name: str, table: str) -> list[str] | None:
        """Return the columns of a table of the data source with a name; None without such a table."""
        row = self.rows.first(name=name)
        found = None if row is None else self.tables(row).get(table)
        return None if found is None else list(found.columns)

    def read(self, request: Request, row: Record, name: str) -> list[Row]:
        """Return the rows of a table, as the caller of the request may see them. Raises ApiError."""
        table = self.tables(row)[name]
        path = table.path % {"project_id": request.context.project_id}
        listed = ask(self.cloud, request, "GET", path, query=table.query)[table.members]
        return list(
            dict.fromkeys(
                tuple(_cell(one, around, at) for at in table.columns.values())
                for one, around in _entries(table, listed)
            )
        )


def _entries(table: Table, listed: list[Any]) -> Iterator[tuple[Any, Any]]:
    for one in listed:
        for entry in one.get(table.each) or [] if table.each else [one]:
            yield entry, one


def _cell(entry: Any, around: Any, path: str) -> Value:
    """Return a value of a row: a number or a string."""
    found = around if path.startswith("^") else entry
    for part in path.removeprefix("^").split(".") if path else []:
        found = found.get(part) if isinstance(found, dict) else None
    if isinstance(found, str | int | float) and not isinstance(found, bool):
        return found
    return json.dumps(found) if isinstance(found, dict | list) else str(found)
