"""The host of all containers, and the service process on it."""

from __future__ import annotations

from typing import Any

from openstack_emulator.container.http import listed
from openstack_emulator.core import fields
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import Component, using
from openstack_emulator.core.errors import bad_request, conflict
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.objects import TIMESTAMP, by_name_or_id, links, missing
from openstack_emulator.core.store import Collection, Record

HOST = "devstack"
BINARY = "zun-compute"
CPUS = 40
MEMORY = 65536
"""Mebibytes."""
DISK = 200
"""Gibibytes."""
ZONE = "nova"
_SERVICE = {
    "binary": fields.one_of(BINARY),
    "host": fields.one_of(HOST),
    "disabled_reason": fields.nullable(fields.text()),
    "forced_down": fields.boolean,
}


class Hosts(Component):
    """One host. Containers are created on it while its service is enabled and it has room."""

    def __init__(self, records: Records, containers: Collection) -> None:
        super().__init__(records)
        self.rows = records.collection("hosts", missing=missing("compute node"))
        self._containers = containers

    def seed(self) -> None:
        """Add the host."""
        self.rows.add(
            {
                "id": "7d1a3b7a-3a8a-4f0d-9f6a-0f6f7a1f2c01",
                "uuid": "7d1a3b7a-3a8a-4f0d-9f6a-0f6f7a1f2c01",
                "name": HOST,
                "disabled": False,
                "disabled_reason": None,
                "forced_down": False,
                "created_at": self.records.timestamp(TIMESTAMP),
            }
        )

    @property
    def row(self) -> Record:
        """The only host."""
        return next(iter(self.rows))

    def used(self) -> tuple[float, int]:
        """Return the CPUs and the memory, in mebibytes, that containers have."""
        rows = list(self._containers)
        return sum(float(row["cpu"] or 0) for row in rows), sum(int(row["memory"] or 0) for row in rows)

    def place(self, cpu: float, memory: int, zone: str | None = None) -> str:
        """Return the host for a new container. Raises ApiError 409 when there is none with room for it."""
        row, (cpus, memories) = self.row, self.used()
        full = cpus + cpu > CPUS or memories + memory > MEMORY
        if row["disabled"] or row["forced_down"] or full or zone not in (None, ZONE):
            raise conflict("There are not enough hosts available.")
        return HOST

    def view(self, base: str, row: Record) -> dict[str, Any]:
        """Return a host as clients see it."""
        cpus, memories = self.used()
        return {
            "uuid": row["uuid"],
            "hostname": row["name"],
            "cpus": CPUS,
            "cpu_used": cpus,
            "mem_total": MEMORY,
            "mem_used": memories,
            "disk_total": DISK,
            "disk_used": sum(int(one["disk"] or 0) for one in self._containers),
            "total_containers": len(self._containers),
            "os": "Ubuntu 24.04 LTS",
            "os_type": "linux",
            "architecture": "x86_64",
            "kernel_version": "6.8.0",
            "runtimes": ["runc"],
            "labels": {},
            "enable_cpu_pinning": False,
            "links": links(base, "hosts", row["uuid"]),
        }

    def service_view(self, row: Record) -> dict[str, Any]:
        """Return the service process of a host as clients see it."""
        return {
            "id": 1,
            "host": row["name"],
            "binary": BINARY,
            "state": "down" if row["forced_down"] else "up",
            "disabled": row["disabled"],
            "disabled_reason": row["disabled_reason"],
            "forced_down": row["forced_down"],
            "availability_zone": ZONE,
            "report_count": 1,
            "last_seen_up": self.records.timestamp(TIMESTAMP),
            "created_at": row["created_at"],
            "updated_at": self.records.timestamp(TIMESTAMP),
        }


def index(hosts: Hosts, request: Request) -> Response:
    request.context.require()
    return listed(request, "hosts", "compute node", list(hosts.rows), hosts.view)


def show(hosts: Hosts, request: Request) -> Response:
    request.context.require()
    row = by_name_or_id(hosts.rows, "compute node", request.vars["key"], lambda _: True)
    return Response(hosts.view(request.base, row))


def list_services(hosts: Hosts, request: Request) -> Response:
    request.context.require()
    return Response({"services": [hosts.service_view(row) for row in hosts.rows]})


def _described(request: Request, *names: str) -> dict[str, Any]:
    request.context.require()
    body = request.json
    known = {name: check for name, check in _SERVICE.items() if name in ("binary", "host", *names)}
    if not isinstance(body, dict) or body.keys() - known.keys():
        raise bad_request(f"The request body must be a JSON object with {', '.join(known)}.")
    fields.check_fields(body, known, ("binary", "host"))
    return body


def enable(hosts: Hosts, request: Request) -> Response:
    _described(request)
    row = hosts.rows.update(hosts.row, disabled=False, disabled_reason=None)
    return Response({"service": {"host": HOST, "binary": BINARY, "disabled": row["disabled"]}})


def disable(hosts: Hosts, request: Request) -> Response:
    reason = _described(request, "disabled_reason").get("disabled_reason")
    hosts.rows.update(hosts.row, disabled=True, disabled_reason=reason)
    body = {"host": HOST, "binary": BINARY, "disabled": True, "disabled_reason": reason}
    return Response({"service": body})


def force_down(hosts: Hosts, request: Request) -> Response:
    wanted = _described(request, "forced_down")
    row = hosts.rows.update(hosts.row, forced_down=fields.as_boolean(wanted.get("forced_down", True)))
    return Response({"service": {"host": HOST, "binary": BINARY, "forced_down": row["forced_down"]}})


def list_zones(hosts: Hosts, request: Request) -> Response:
    return Response({"availability_zones": [{"availability_zone": ZONE}]})


HOST_ROUTES = using(
    Hosts,
    {
        "/hosts": {"GET": index},
        "/hosts/{key}": {"GET": show},
        "/services": {"GET": list_services},
        "/services/enable": {"PUT": enable},
        "/services/disable": {"PUT": disable},
        "/services/force_down": {"PUT": force_down},
        "/availability_zones": {"GET": list_zones},
    },
)
