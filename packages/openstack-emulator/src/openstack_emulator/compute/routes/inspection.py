"""What is inside and around a server, over HTTP."""

from __future__ import annotations

from openstack_emulator.compute.routes.bodies import found
from openstack_emulator.compute.routes.group_proxies import GROUPS, group_of, group_view
from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.core.errors import conflict, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.internal import call_service


def topology(compute: ComputeService, request: Request) -> Response:
    """The NUMA topology of a server, which has none."""
    found(compute, request)
    return Response({"nodes": [], "pagesize_kb": None})


def list_security_groups(compute: ComputeService, request: Request) -> Response:
    """The groups of a server, as `/os-security-groups` shows them."""
    groups = compute.attachments.security_groups.of_server(found(compute, request))
    found_ = [group_of(call_service(compute.cloud, request, "GET", f"{GROUPS}/{group.id}")) for group in groups]
    return Response({"security_groups": [group_view(compute, request, group) for group in found_]})


def diagnostics(compute: ComputeService, request: Request) -> Response:
    request.context.require()
    server = found(compute, request)
    if server.vm_state not in ("active", "rescued", "paused"):
        raise conflict(f"Instance {server.id} is not running: it is in vm_state {server.vm_state}.")
    flavor, ports = server.flavor, compute.attachments.interfaces.of_server(server)
    if request.version < (2, 48):
        return Response({**{f"cpu{number}_time": 0 for number in range(flavor.vcpus)}, "memory": flavor.ram * 1024})
    counts = dict.fromkeys(
        (f"{way}_{what}" for way in ("rx", "tx") for what in ("octets", "errors", "drop", "packets", "rate")), 0
    )
    return Response(
        {
            "state": "running" if server.vm_state == "active" else "paused",
            "driver": "libvirt",
            "hypervisor": "kvm",
            "hypervisor_os": "linux",
            "uptime": 0,
            "config_drive": server.config_drive == "True",
            "num_cpus": flavor.vcpus,
            "num_nics": len(ports),
            "num_disks": len(compute.attachments.block_devices.of_server(server)) + bool(server.image_id),
            "disk_details": [],
            "cpu_details": [{"id": number, "time": 0, "utilisation": 0} for number in range(flavor.vcpus)],
            "nic_details": [{"mac_address": port.mac_address, **counts} for port in ports],
            "memory_details": {"maximum": flavor.ram, "used": flavor.ram},
        }
    )


def show_password(compute: ComputeService, request: Request) -> Response:
    """The encrypted password that the guest has set by the metadata service."""
    return Response({"password": found(compute, request).guest_password})


def clear_password(compute: ComputeService, request: Request) -> Response:
    compute.servers.rows.update(found(compute, request), guest_password="")
    return Response(status=204)


def list_shares(compute: ComputeService, request: Request) -> Response:
    """None: the cloud has no shared file systems."""
    found(compute, request)
    return Response({"shares": []})


def no_share(compute: ComputeService, request: Request) -> Response:
    found(compute, request)
    key = request.vars.get("share_id") or request.object("share").get("share_id")
    raise not_found(f"Share {key} could not be found.")
