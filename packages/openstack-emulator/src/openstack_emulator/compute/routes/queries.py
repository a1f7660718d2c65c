"""Query parameters that Nova checks. Older microversions ignore parameters that they do not know.

From the version in `CHECKED_SINCE` on, a parameter that is not in the list is refused, as the API reference says for
microversion 2.75; the names were read from the answers of a running Nova.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from openstack_emulator.core.cloud import Routes
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Query, Request, Version
from openstack_emulator.core.paging import Order, order_of
from openstack_emulator.core.queries import accepting

_SERVERS = """
    access_ip_v4 access_ip_v6 all_tenants auto_disk_config availability_zone changes-before changes-since config_drive
    created_at deleted description display_description display_name flavor host hostname image image_ref ip ip6
    kernel_id key_name launch_index launched_at limit locked locked_by marker name node not-tags not-tags-any
    power_state progress project_id ramdisk_id reservation_id root_device_name soft_deleted sort_dir sort_key status
    tags tags-any task_state tenant_id terminated_at user_id uuid vm_state
"""
_FLAVORS = "is_public limit marker minDisk minRam sort_dir sort_key"
_HYPERVISORS = "hypervisor_hostname_pattern limit marker with_servers"

ACCEPTED = {
    "/servers": _SERVERS,
    "/servers/detail": _SERVERS,
    "/servers/{server_id}/os-instance-actions": "changes-before changes-since limit marker",
    "/servers/{server_id}/os-volume_attachments": "limit offset",
    "/os-migrations": """
        changes-before changes-since hidden host instance_uuid limit marker migration_type project_id source_compute
        status user_id
    """,
    "/os-simple-tenant-usage": "detailed end limit marker start",
    "/os-simple-tenant-usage/{target_id}": "end limit marker start",
    "/flavors": _FLAVORS,
    "/flavors/detail": _FLAVORS,
    "/os-keypairs": "limit marker user_id",
    "/os-keypairs/{name}": "user_id",
    "/os-server-groups": "all_projects limit offset",
    "/limits": "tenant_id",
    "/os-services": "binary host",
    "/os-hypervisors": _HYPERVISORS,
    "/os-hypervisors/detail": _HYPERVISORS,
    "/os-hypervisors/{hypervisor_id}": "with_servers",
}
"""The parameters that each path accepts, by the path's pattern."""
CHECKED_SINCE: dict[str, Version] = {
    "os-hypervisors": (2, 53),
    "os-instance-actions": (2, 58),
    "os-migrations": (2, 59),
}
"""The first microversion that checks the parameters, by a segment of the path; 2.75 for the others."""


def check_sorting(request: Request, known: Sequence[str]) -> None:
    """Refuse to sort by anything else, and a limit that is not a number. Raises ApiError 400."""
    for name, value in request.query.pairs:
        problem = ""
        if name == "sort_key" and value not in known and request.version >= (2, 75):
            problem = f"{value!r} is not one of {list(known)}"
        elif name == "limit" and not (value.isascii() and value.isdecimal()):
            problem = f"{value!r} does not match '^[0-9]*$'"
        if problem:
            raise bad_request(f"Invalid input for query parameters {name}. Value: {value}. {problem}")


def order_by(query: Query, columns: Mapping[str, str]) -> Order:
    """The order that a query asks for; columns: the names of its fields in the records, where they are others."""
    return [(columns.get(field, field), descending) for field, descending in order_of(query)]


def unknown_marker(marker: str) -> ApiError:
    """400 for a marker that is not in the list of servers or flavors."""
    return bad_request(f"marker [{marker}] not found")


def checked(routes: Routes) -> Routes:
    """The routes, with the parameters of their queries checked."""
    return accepting(routes, {pattern: names.split() for pattern, names in ACCEPTED.items()}, _refuse)


def _refuse(request: Request, name: str) -> None:
    segments = request.path.split("/")
    since = next((version for segment, version in CHECKED_SINCE.items() if segment in segments), (2, 75))
    if request.version < since:
        return
    if segments[-1] in ("servers", "detail") and "servers" in segments:
        if not name.startswith("_"):
            raise bad_request(f"'{name}' does not match any of the regexes: '^_'")
        return
    raise bad_request(f"Additional properties are not allowed ('{name}' was unexpected)")
