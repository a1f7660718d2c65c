"""The states of nodes over HTTP: power, provisioning, console, RAID, maintenance, and the boot device."""

from __future__ import annotations

from openstack_emulator.baremetal.records import BootDevice, Node
from openstack_emulator.baremetal.routes.nodes import changing, node_of
from openstack_emulator.baremetal.routes.requests import body_of
from openstack_emulator.baremetal.rules.composition import BareMetal
from openstack_emulator.baremetal.rules.kinds import NODE
from openstack_emulator.baremetal.views import values
from openstack_emulator.core.errors import ApiError, bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_boolean

_STATES = ("power_state", "target_power_state", "provision_state", "target_provision_state", "provision_updated_at",
           "last_error", "console_enabled", "raid_config", "target_raid_config", "boot_mode",
           "secure_boot")  # fmt: skip
_BOOT_DEVICES = ("pxe", "disk", "cdrom", "bios", "safe")
_OF_PROVISION = frozenset({"target", "configdrive", "clean_steps", "deploy_steps", "rescue_password",
                           "disable_ramdisk"})  # fmt: skip
"""What a request for a provision state may have."""


def show(service: BareMetal, request: Request) -> Response:
    node = node_of(service, request)
    known = [name for name in _STATES if NODE.fields[name].since <= request.version]
    return Response(values(NODE, node, known, request.version))


def show_unknown(service: BareMetal, request: Request) -> Response:
    """Refuse a path below the states that does not exist: 404 for reads; other methods are not allowed (405)."""
    raise not_found("The resource could not be found.")


def _begun(request: Request, node: Node) -> Response:
    return Response(status=202, headers={"Location": f"{request.base}/v1/nodes/{node.uuid}/states"})


def _set_power(service: BareMetal, request: Request, node: Node) -> Response:
    service.states.set_power(request.version, node, body_of(request).get("target"))
    return _begun(request, node)


def _set_provision(service: BareMetal, request: Request, node: Node) -> Response:
    body = body_of(request)
    target = body.get("target")
    if not isinstance(target, str):
        raise bad_request("Missing mandatory parameter: target")
    if target == "clean" and not isinstance(body.get("clean_steps"), list):
        raise bad_request("clean_steps is required when setting target provision state to clean")
    if target == "rescue" and not body.get("rescue_password"):
        raise bad_request('A non-empty "rescue_password" is required when setting target provision state to rescue')
    if unknown := sorted(body.keys() - _OF_PROVISION):
        raise bad_request(f"Unknown fields of the request: {', '.join(unknown)}")
    service.states.provision(request.version, node, target)
    return _begun(request, node)


def show_console(service: BareMetal, request: Request) -> Response:
    node = service.nodes.managed(request, request.vars["node"], "baremetal:node:get_console")
    return Response({"console_enabled": node.console_enabled, "console_info": None})


def _set_console(service: BareMetal, request: Request, node: Node) -> Response:
    if node.console_interface in (None, "no-console"):
        raise bad_request(f"Driver {node.driver} does not support console (disabled or not implemented).")
    node.console_enabled = bool(as_boolean(body_of(request).get("enabled", True)))
    service.nodes.save(node)
    return Response(status=202)


def _set_raid(service: BareMetal, request: Request, node: Node) -> Response:
    if request.version < (1, 12):
        raise ApiError(406, "Request not acceptable. The RAID configuration needs a newer API version.")
    body = body_of(request)
    if body and not isinstance(body.get("logical_disks"), list):
        raise bad_request("The target RAID configuration must have a list 'logical_disks'.")
    node.target_raid_config = body
    service.nodes.save(node)
    return Response(status=204)


def _set_maintenance(service: BareMetal, request: Request, node: Node) -> Response:
    node.maintenance_reason = body_of(request).get("reason") if request.body.strip() else None
    node.maintenance = True
    service.nodes.save(node)
    return Response(status=202)


def _end_maintenance(service: BareMetal, request: Request, node: Node) -> Response:
    node.maintenance, node.maintenance_reason, node.recorded_fault = False, None, None
    service.nodes.save(node)
    return Response(status=202)


def show_boot_device(service: BareMetal, request: Request) -> Response:
    node = service.nodes.managed(request, request.vars["node"], "baremetal:node:get_boot_device")
    return Response(node.boot_device.to_json())


def _set_boot_device(service: BareMetal, request: Request, node: Node) -> Response:
    body = body_of(request)
    device, persistent = body.get("boot_device"), body.get("persistent", False)
    if device not in _BOOT_DEVICES:
        raise bad_request(f"Invalid boot device {device} specified.")
    if fields.boolean(persistent) is not None:
        raise bad_request("'persistent' must be a boolean.")
    node.boot_device = BootDevice(boot_device=str(device), persistent=as_boolean(persistent))
    service.nodes.save(node)
    return Response(status=204)


def list_boot_devices(service: BareMetal, request: Request) -> Response:
    node_of(service, request)
    return Response({"supported_boot_devices": list(_BOOT_DEVICES)})


set_power = changing("baremetal:node:set_power_state", _set_power)
set_provision = changing("baremetal:node:set_provision_state", _set_provision)
set_console = changing("baremetal:node:set_console_state", _set_console)
set_raid = changing("baremetal:node:set_raid_state", _set_raid)
set_maintenance = changing("baremetal:node:set_maintenance", _set_maintenance)
end_maintenance = changing("baremetal:node:clear_maintenance", _end_maintenance)
set_boot_device = changing("baremetal:node:set_boot_device", _set_boot_device)
