"""Which servers a list shows: the filters of the query, and who may use them.

Source: "List Servers" of the Compute API reference. A filter that the caller may not use is ignored, as there.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from openstack_emulator.compute.records import Server
from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.compute.rules.states import PROGRESS, STATUS, status_of
from openstack_emulator.compute.views import root_device_name
from openstack_emulator.core.errors import bad_request, forbidden
from openstack_emulator.core.http import Request
from openstack_emulator.core.validation.conversions import as_boolean
from stoker_foundation.patterns import PatternError
from stoker_foundation.patterns.linear import expression

FOR_ADMINISTRATORS = frozenset(
    [
        "access_ip_v4",
        "access_ip_v6",
        "auto_disk_config",
        "description",
        "display_description",
        "display_name",
        "host",
        "hostname",
        "image_ref",
        "kernel_id",
        "launch_index",
        "locked_by",
        "node",
        "ramdisk_id",
        "root_device_name",
        "uuid",
    ]
)
FOR_ALL_SINCE_2_83 = frozenset(
    [
        "availability_zone",
        "config_drive",
        "created_at",
        "key_name",
        "launched_at",
        "power_state",
        "progress",
        "task_state",
        "terminated_at",
        "user_id",
        "vm_state",
    ]
)
"""Filters that only administrators could use before."""
Filter = Callable[[ComputeService, Server, str], bool]
FILTERS: dict[str, Filter] = {
    "name": lambda compute, row, wanted: _matches(wanted, row.name),
    "host": lambda compute, row, wanted: row.host == wanted,
    "node": lambda compute, row, wanted: row.host == wanted,
    "user_id": lambda compute, row, wanted: row.user_id == wanted,
    "uuid": lambda compute, row, wanted: row.id == wanted,
    "image": lambda compute, row, wanted: row.image_id == wanted,
    "flavor": lambda compute, row, wanted: row.flavor.id == wanted,
    "key_name": lambda compute, row, wanted: row.key_name == wanted,
    "vm_state": lambda compute, row, wanted: row.vm_state == wanted,
    "task_state": lambda compute, row, wanted: row.task_state == wanted,
    "power_state": lambda compute, row, wanted: str(row.power_state) == wanted,
    "availability_zone": lambda compute, row, wanted: compute.aggregates.zone_of(row.host) == wanted,
    "reservation_id": lambda compute, row, wanted: row.reservation_id == wanted,
    "description": lambda compute, row, wanted: _matches(wanted, row.description),
    "hostname": lambda compute, row, wanted: _matches(wanted, row.hostname),
    "display_name": lambda compute, row, wanted: _matches(wanted, row.name),
    "display_description": lambda compute, row, wanted: _matches(wanted, row.description),
    "image_ref": lambda compute, row, wanted: row.image_id == wanted,
    "config_drive": lambda compute, row, wanted: (row.config_drive == "True") == as_boolean(wanted),
    "auto_disk_config": lambda compute, row, wanted: (row.disk_config == "AUTO") == as_boolean(wanted),
    "launch_index": lambda compute, row, wanted: str(row.launch_index) == wanted,
    "progress": lambda compute, row, wanted: str(PROGRESS.get(status_of(row.vm_state, row.task_state), 0)) == wanted,
    "created_at": lambda compute, row, wanted: row.created == wanted,
    "launched_at": lambda compute, row, wanted: row.launched_at == wanted,
    "terminated_at": lambda compute, row, wanted: False,
    "kernel_id": lambda compute, row, wanted: wanted == "",
    "ramdisk_id": lambda compute, row, wanted: wanted == "",
    "locked_by": lambda compute, row, wanted: row.locked_by == wanted,
    "root_device_name": lambda compute, row, wanted: (
        root_device_name(compute.attachments.block_devices.of_server(row)) == wanted
    ),
    "access_ip_v4": lambda compute, row, wanted: _matches(wanted, row.access_ip_v4),
    "access_ip_v6": lambda compute, row, wanted: _matches(wanted, row.access_ip_v6),
    "locked": lambda compute, row, wanted: (row.locked_by is not None) == as_boolean(wanted),
    "tags": lambda compute, row, wanted: set(wanted.split(",")) <= set(row.tags),
    "tags-any": lambda compute, row, wanted: bool(set(wanted.split(",")) & set(row.tags)),
    "not-tags": lambda compute, row, wanted: not set(wanted.split(",")) <= set(row.tags),
    "not-tags-any": lambda compute, row, wanted: not set(wanted.split(",")) & set(row.tags),
    "ip": lambda compute, row, wanted: _has_address(compute, row, wanted, 4),
    "ip6": lambda compute, row, wanted: _has_address(compute, row, wanted, 6),
    "changes-since": lambda compute, row, wanted: _moment(row.updated) >= _moment(wanted),
    "changes-before": lambda compute, row, wanted: _moment(row.updated) <= _moment(wanted),
}


def _has_address(compute: ComputeService, server: Server, pattern: str, version: int) -> bool:
    ports = compute.attachments.interfaces.of_server(server)
    texts = [fixed.ip_address for port in ports for fixed in port.fixed_ips]
    return any(_matches(pattern, text) for text in texts if (":" in text) == (version == 6))


def listed_servers(compute: ComputeService, request: Request) -> list[Server]:
    """The servers asked for, newest first."""
    context, query = request.context, request.query
    everyone = context.is_admin and bool(query.boolean("all_tenants"))
    project = query.get("project_id") or query.get("tenant_id")
    if not everyone:
        if query.boolean("all_tenants"):
            raise forbidden("Policy doesn't allow os_compute_api:servers:index:get_all_tenants to be performed.")
        rows = compute.servers.rows.select(project_id=context.project)
    else:
        rows = compute.servers.rows.select(project_id=project) if project else list(compute.servers.rows)
    rows = rows[::-1]
    for name, test in FILTERS.items():
        for wanted in query.all(name)[:1] if _may_use(request, name) else ():
            rows = [row for row in rows if test(compute, row, wanted)]
    statuses = [word.upper() for word in query.all("status")]
    if statuses:
        known = set(STATUS.values()) | {
            status_of("active", task) for task in ("rebooting", "rebuilding", "resize_prep")
        }
        if not known.intersection(statuses) and request.version >= (2, 38):
            raise bad_request("Invalid status value")
        rows = [row for row in rows if status_of(row.vm_state, row.task_state) in statuses]
    if query.boolean("deleted") and context.is_admin:
        return []
    return rows


def _may_use(request: Request, name: str) -> bool:
    if request.context.is_admin:
        return True
    return name not in FOR_ADMINISTRATORS and (request.version >= (2, 83) or name not in FOR_ALL_SINCE_2_83)


def _matches(pattern: str, text: str | None) -> bool:
    try:
        return expression(pattern).found_in(text or "")
    except PatternError:
        return pattern in (text or "")


def _moment(text: str) -> datetime:
    try:
        found_ = datetime.fromisoformat(text)
    except ValueError:
        raise bad_request(
            f"Invalid input for query parameters changes-since. Value: {text}. {text!r} is not a 'date-time'"
        ) from None
    return found_.replace(tzinfo=None)
