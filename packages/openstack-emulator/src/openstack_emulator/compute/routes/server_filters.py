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
    "name": lambda compute, row, value: _matches(value, row.name),
    "host": lambda compute, row, value: row.host == value,
    "node": lambda compute, row, value: row.host == value,
    "user_id": lambda compute, row, value: row.user_id == value,
    "uuid": lambda compute, row, value: row.id == value,
    "image": lambda compute, row, value: row.image_id == value,
    "flavor": lambda compute, row, value: row.flavor.id == value,
    "key_name": lambda compute, row, value: row.key_name == value,
    "vm_state": lambda compute, row, value: row.vm_state == value,
    "task_state": lambda compute, row, value: row.task_state == value,
    "power_state": lambda compute, row, value: str(row.power_state) == value,
    "availability_zone": lambda compute, row, value: compute.aggregates.zone_of(row.host) == value,
    "reservation_id": lambda compute, row, value: row.reservation_id == value,
    "description": lambda compute, row, value: _matches(value, row.description),
    "hostname": lambda compute, row, value: _matches(value, row.hostname),
    "display_name": lambda compute, row, value: _matches(value, row.name),
    "display_description": lambda compute, row, value: _matches(value, row.description),
    "image_ref": lambda compute, row, value: row.image_id == value,
    "config_drive": lambda compute, row, value: (row.config_drive == "True") == as_boolean(value),
    "auto_disk_config": lambda compute, row, value: (row.disk_config == "AUTO") == as_boolean(value),
    "launch_index": lambda compute, row, value: str(row.launch_index) == value,
    "progress": lambda compute, row, value: str(PROGRESS.get(status_of(row.vm_state, row.task_state), 0)) == value,
    "created_at": lambda compute, row, value: row.created == value,
    "launched_at": lambda compute, row, value: row.launched_at == value,
    "terminated_at": lambda compute, row, value: False,
    "kernel_id": lambda compute, row, value: value == "",
    "ramdisk_id": lambda compute, row, value: value == "",
    "locked_by": lambda compute, row, value: row.locked_by == value,
    "root_device_name": lambda compute, row, value: (
        root_device_name(compute.attachments.block_devices.of_server(row)) == value
    ),
    "access_ip_v4": lambda compute, row, value: _matches(value, row.access_ip_v4),
    "access_ip_v6": lambda compute, row, value: _matches(value, row.access_ip_v6),
    "locked": lambda compute, row, value: (row.locked_by is not None) == as_boolean(value),
    "tags": lambda compute, row, value: set(value.split(",")) <= set(row.tags),
    "tags-any": lambda compute, row, value: bool(set(value.split(",")) & set(row.tags)),
    "not-tags": lambda compute, row, value: not set(value.split(",")) <= set(row.tags),
    "not-tags-any": lambda compute, row, value: not set(value.split(",")) & set(row.tags),
    "ip": lambda compute, row, value: _has_address(compute, row, value, 4),
    "ip6": lambda compute, row, value: _has_address(compute, row, value, 6),
    "changes-since": lambda compute, row, value: _moment(row.updated) >= _moment(value),
    "changes-before": lambda compute, row, value: _moment(row.updated) <= _moment(value),
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
        for value in query.all(name)[:1] if _may_use(request, name) else ():
            rows = [row for row in rows if test(compute, row, value)]
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
