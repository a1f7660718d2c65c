"""Records of the compute service as clients see them, by microversion."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from openstack_emulator.compute.records import (
    Aggregate,
    BlockDevice,
    Flavor,
    Keypair,
    Server,
    ServerFlavor,
    ServerGroup,
    Usage,
)
from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.compute.rules.states import PROGRESS, status_of
from openstack_emulator.core.http import Request
from openstack_emulator.core.typed import to_plain, to_public
from openstack_emulator.network.records.core import Port
from openstack_emulator.network.rules.composition import NetworkService


def links(request: Request, kind: str, key: str) -> list[dict[str, str]]:
    """The `self` and `bookmark` links of a record."""
    return [
        {"rel": "self", "href": f"{request.base}/v2.1/{kind}/{key}"},
        bookmark(request, kind, key),
    ]


def bookmark(request: Request, kind: str, key: str) -> dict[str, str]:
    """The link to an object without the version of the API."""
    return {"rel": "bookmark", "href": f"{request.base}/{kind}/{key}"}


def summary(request: Request, kind: str, record: Flavor | Server) -> dict[str, object]:
    """Id, name and links: an entry of a list without details."""
    return {"id": record.id, "name": record.name, "links": links(request, kind, record.id)}


def host_id(server: Server) -> str:
    """The host in the form shown to users: the same value for the same project and host."""
    if server.host is None:
        return ""
    return hashlib.sha224(f"{server.project_id}{server.host}".encode()).hexdigest()


def addresses(compute: ComputeService, server: Server) -> dict[str, list[dict[str, Any]]]:
    """The addresses of a server by network name, floating ones after the fixed ones they lead to."""
    network = compute.cloud.of(NetworkService)
    found: dict[str, list[dict[str, Any]]] = {}
    for port in compute.attachments.interfaces.of_server(server):
        rows = found.setdefault(network.network_for(None, port.network_id, admin=True).name, [])
        floating = network.floating_ips_of_port(port.id)
        for fixed in port.fixed_ips:
            rows.append(_address(fixed.ip_address, "fixed", port))
            rows.extend(
                _address(row.floating_ip_address, "floating", port)
                for row in floating
                if row.fixed_ip_address == fixed.ip_address
            )
    return found


def _address(text: str, kind: str, port: Port) -> dict[str, object]:
    return {
        "addr": text,
        "version": 6 if ":" in text else 4,
        "OS-EXT-IPS:type": kind,
        "OS-EXT-IPS-MAC:mac_addr": port.mac_address,
    }


def server_flavor(request: Request, flavor: ServerFlavor) -> dict[str, object]:
    """The flavor inside a server: whole since 2.47, a reference before."""
    if request.version < (2, 47):
        return {"id": flavor.id, "links": [bookmark(request, "flavors", flavor.id)]}
    return {
        "original_name": flavor.name,
        "vcpus": flavor.vcpus,
        "ram": flavor.ram,
        "disk": flavor.disk,
        "ephemeral": flavor.ephemeral,
        "swap": flavor.swap,
        "extra_specs": flavor.extra_specs,
    }


Part = Callable[[ComputeService, Request, Server], dict[str, object]]


def server_view(
    compute: ComputeService, request: Request, server: Server, parts: tuple[Part, ...]
) -> dict[str, object]:
    """A server with these parts, later ones over earlier ones: `LISTED`, `SHOWN`, or those of a call."""
    view: dict[str, Any] = {}
    for part in parts:
        view |= part(compute, request, server)
    return view


def changed_server(compute: ComputeService, request: Request, server: Server) -> dict[str, object]:
    """A server as its change answers it: since 2.75 as it is shown."""
    return server_view(compute, request, server, SHOWN if request.version >= (2, 75) else ANSWERED)


def rebuilt_server(compute: ComputeService, request: Request, server: Server) -> dict[str, object]:
    """A server as its rebuild answers it: since 2.75 nearly as it is shown."""
    view = server_view(compute, request, server, SHOWN if request.version >= (2, 75) else ANSWERED)
    if request.version >= (2, 54):
        view |= {"key_name": server.key_name}
    if request.version >= (2, 57):
        view.pop("OS-EXT-SRV-ATTR:user_data", None)
        view |= {"user_data": server.user_data}
    return view


def _main(compute: ComputeService, request: Request, server: Server) -> dict[str, object]:
    """What every view of a server has."""
    status = status_of(server.vm_state, server.task_state)
    view: dict[str, Any] = {
        "id": server.id,
        "name": server.name,
        "status": status,
        "tenant_id": server.project_id,
        "user_id": server.user_id,
        "metadata": server.metadata,
        "hostId": host_id(server),
        "image": _image(request, server),
        "flavor": server_flavor(request, server.flavor),
        "created": server.created,
        "updated": server.updated,
        "accessIPv4": server.access_ip_v4,
        "accessIPv6": server.access_ip_v6,
        "OS-DCF:diskConfig": server.disk_config,
        "links": links(request, "servers", server.id),
    }
    if status in PROGRESS:
        view |= {"progress": PROGRESS[status]}
    if server.failure is not None and status == "ERROR":
        view |= {"fault": to_plain(server.failure)}
    if request.version >= (2, 9):
        view |= {"locked": server.locked_by is not None}
    if request.version >= (2, 19):
        view |= {"description": server.description}
    if request.version >= (2, 26):
        view |= {"tags": server.tags}
    if request.version >= (2, 63):
        view |= {"trusted_image_certificates": server.trusted_image_certificates}
    if request.version >= (2, 73):
        view |= {"locked_reason": server.locked_reason}
    if request.version >= (2, 90):
        view |= {"OS-EXT-SRV-ATTR:hostname": server.hostname}
    if request.version >= (2, 96):
        view |= {"pinned_availability_zone": server.zone_asked}
    return view


def _image(request: Request, server: Server) -> object:
    """The image of a server, since 2.98 with the properties that it had at that time; empty when it has none."""
    image = server.image_id
    if not image:
        return ""
    view: dict[str, Any] = {"id": image, "links": [bookmark(request, "images", image)]}
    return view if request.version < (2, 98) else {**view, "properties": server.image_properties}


def _plain_addresses(compute: ComputeService, request: Request, server: Server) -> dict[str, object]:
    return {"addresses": {name: plain(rows) for name, rows in addresses(compute, server).items()}}


def plain(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Addresses without the attributes of extensions."""
    return [{name: row.get(name) for name in ("version", "addr")} for row in rows]


def _groups(compute: ComputeService, request: Request, server: Server) -> dict[str, object]:
    if request.version < (2, 71):
        return {}
    group = compute.server_groups.group_of(server.id)
    return {"server_groups": [] if group is None else [group.id]}


def _hints(compute: ComputeService, request: Request, server: Server) -> dict[str, object]:
    return {} if request.version < (2, 100) else {"scheduler_hints": server.hints}


def _details(compute: ComputeService, request: Request, server: Server) -> dict[str, object]:
    groups = [{"name": group.name} for group in compute.attachments.security_groups.of_server(server)]
    devices = compute.attachments.block_devices.of_server(server)
    view: dict[str, Any] = {
        "addresses": addresses(compute, server),
        "key_name": server.key_name,
        "config_drive": server.config_drive,
        "OS-EXT-AZ:availability_zone": compute.aggregates.zone_of(server.host)
        if server.host
        else server.zone_asked or "",
        "OS-SRV-USG:launched_at": server.launched_at,
        "OS-SRV-USG:terminated_at": None,
        "OS-EXT-STS:task_state": server.task_state,
        "OS-EXT-STS:vm_state": server.vm_state,
        "OS-EXT-STS:power_state": server.power_state,
        "os-extended-volumes:volumes_attached": [
            {"id": device.volume_id, "delete_on_termination": device.delete_on_termination}
            if request.version >= (2, 3)
            else {"id": device.volume_id}
            for device in devices
        ],
    }
    if groups:
        view |= {"security_groups": groups}
    if request.context.is_admin:
        view |= _for_admins(compute, request, server, devices)
    return view


LISTED: tuple[Part, ...] = (_main, _details, _hints)
"""The parts of a server in a list with details."""
SHOWN: tuple[Part, ...] = (_main, _details, _groups, _hints)
"""The parts of a server that is shown alone."""
ANSWERED: tuple[Part, ...] = (_main, _plain_addresses, _groups)
"""The parts of a server as its change and rebuild answered it before 2.75."""


def root_device_name(devices: list[BlockDevice]) -> str:
    """Return the name of a server's first disk."""
    return next((device.device for device in devices if device.boot_index == 0), "/dev/vda")


def _for_admins(
    compute: ComputeService, request: Request, server: Server, devices: list[BlockDevice]
) -> dict[str, object]:
    view: dict[str, Any] = {
        "OS-EXT-SRV-ATTR:host": server.host,
        "OS-EXT-SRV-ATTR:hypervisor_hostname": server.host,
        "OS-EXT-SRV-ATTR:instance_name": f"instance-{server.number:08x}",
    }
    if request.version >= (2, 3):
        view |= {
            "OS-EXT-SRV-ATTR:hostname": server.hostname,
            "OS-EXT-SRV-ATTR:reservation_id": server.reservation_id,
            "OS-EXT-SRV-ATTR:launch_index": server.launch_index,
            "OS-EXT-SRV-ATTR:kernel_id": "",
            "OS-EXT-SRV-ATTR:ramdisk_id": "",
            "OS-EXT-SRV-ATTR:root_device_name": root_device_name(devices),
            "OS-EXT-SRV-ATTR:user_data": server.user_data,
        }
    if request.version >= (2, 16):
        view |= {"host_status": host_status(compute, server)}
    return view


def host_status(compute: ComputeService, server: Server) -> str:
    """UP, DOWN or MAINTENANCE; empty for a server without a host."""
    service = compute.aggregates.hosts.service_of(server.host)
    if service is None:
        return ""
    return "DOWN" if service.forced_down else "MAINTENANCE" if service.disabled else "UP"


def flavor_detail(request: Request, flavor: Flavor) -> dict[str, object]:
    """A flavor in full."""
    view: dict[str, Any] = {
        **summary(request, "flavors", flavor),
        "ram": flavor.ram,
        "vcpus": flavor.vcpus,
        "disk": flavor.disk,
        "swap": flavor.swap if flavor.swap or request.version >= (2, 75) else "",
        "OS-FLV-EXT-DATA:ephemeral": flavor.ephemeral,
        "OS-FLV-DISABLED:disabled": False,
        "rxtx_factor": flavor.rxtx_factor,
        "os-flavor-access:is_public": flavor.is_public,
    }
    if request.version >= (2, 55):
        view |= {"description": flavor.description}
    if request.version >= (2, 61):
        view |= {"extra_specs": flavor.extra_specs}
    return view


def keypair_summary(request: Request, keypair: Keypair) -> dict[str, object]:
    """A keypair as an entry of a list."""
    view: dict[str, Any] = {"name": keypair.name, "public_key": keypair.public_key, "fingerprint": keypair.fingerprint}
    return {**view, "type": keypair.type} if request.version >= (2, 2) else view


def keypair_detail(request: Request, keypair: Keypair) -> dict[str, object]:
    """A keypair in full."""
    return {
        **keypair_summary(request, keypair),
        "user_id": keypair.user_id,
        "id": keypair.number,
        "created_at": keypair.created_at,
        "updated_at": None,
        "deleted": False,
        "deleted_at": None,
    }


def group_detail(request: Request, group: ServerGroup) -> dict[str, object]:
    """A server group in full."""
    view: dict[str, Any] = {"id": group.id, "name": group.name, "members": group.members}
    if request.version >= (2, 13):
        view |= {"project_id": group.project_id, "user_id": group.user_id}
    if request.version >= (2, 64):
        return {**view, "policy": group.policy, "rules": group.rules}
    return {**view, "policies": [group.policy], "metadata": {}}


def aggregate_detail(request: Request, aggregate: Aggregate) -> dict[str, object]:
    """An aggregate in full."""
    view: dict[str, Any] = {
        "id": int(aggregate.id),
        "name": aggregate.name,
        "hosts": aggregate.hosts,
        "metadata": aggregate.metadata,
        "created_at": aggregate.created_at,
        "updated_at": aggregate.updated_at,
        "availability_zone": aggregate.metadata.get("availability_zone"),
        "deleted": False,
        "deleted_at": None,
    }
    if request.version >= (2, 41):
        view |= {"uuid": aggregate.uuid}
    return view


def interface_view(compute: ComputeService, request: Request, port: Port) -> dict[str, object]:
    """A network interface of a server."""
    view: dict[str, Any] = {
        "port_state": port.status,
        "net_id": port.network_id,
        "port_id": port.id,
        "mac_addr": port.mac_address,
        "fixed_ips": [to_plain(fixed) for fixed in port.fixed_ips],
    }
    if request.version >= (2, 70):
        row = compute.attachments.interfaces.rows.get(port.id)
        view |= {"tag": None if row is None else row.tag}
    return view


def attachment_view(request: Request, device: BlockDevice) -> dict[str, object]:
    """A volume of a server."""
    view: dict[str, Any] = {"volumeId": device.volume_id, "serverId": device.server_id, "device": device.device}
    if request.version < (2, 89):
        view |= {"id": device.volume_id}
    else:
        view |= {"attachment_id": device.attachment_id, "bdm_uuid": device.id}
    if request.version >= (2, 70):
        view |= {"tag": device.tag}
    if request.version >= (2, 79):
        view |= {"delete_on_termination": device.delete_on_termination}
    return view


def usage_view(usage: Usage, hours: float, uptime: float) -> dict[str, object]:
    """What a server used in a period of so many hours; uptime: in seconds, since it was launched."""
    view = {name: value for name, value in to_public(usage).items() if name != "id"}
    return {**view, "hours": hours, "uptime": int(uptime)}


def server_reference(server: Server) -> dict[str, object]:
    """A server as an entry of its host."""
    return {"name": f"instance-{server.number:08x}", "uuid": server.id}
