"""`POST /servers/{id}/action`: the body's only key names the action, its value are the arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from openstack_emulator.compute.records import RequestedInterface, Server
from openstack_emulator.compute.routes.bodies import (
    DISK_CONFIG,
    FULL_HOSTNAME,
    HOSTNAME,
    IPV4,
    IPV6,
    METADATA,
    VersionedFields,
    check_personality,
    found,
    since,
)
from openstack_emulator.compute.routes.consoles import LOCAL_CONSOLES, console_output, local_console
from openstack_emulator.compute.routes.network_proxies import add_floating_ip, remove_floating_ip
from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.compute.rules.inputs import changes_of
from openstack_emulator.compute.rules.servers import new_password
from openstack_emulator.compute.views import rebuilt_server
from openstack_emulator.core.actions import argument_of
from openstack_emulator.core.errors import ApiError, bad_request, conflict
from openstack_emulator.core.http import Request, Response, Version
from openstack_emulator.core.typed import to_plain
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.image.records import Image
from openstack_emulator.network.rules.composition import NetworkService

ACCEPTED = 202
LATEST: Version = (9, 999)
REBUILD_SINCE: VersionedFields = (
    ("description", (2, 19), fields.nullable(fields.text())),
    ("key_name", (2, 54), fields.nullable(fields.text(1))),
    ("user_data", (2, 57), fields.nullable(fields.text(0, 10**7))),
    ("trusted_image_certificates", (2, 63), fields.anything),
    ("hostname", (2, 90), HOSTNAME),
    ("hostname", (2, 94), FULL_HOSTNAME),
)
"""Fields of a rebuild that a microversion brought."""
UNSHELVE_SINCE: VersionedFields = (
    ("availability_zone", (2, 77), fields.text(1)),
    ("availability_zone", (2, 91), fields.nullable(fields.text(1))),
    ("host", (2, 91), fields.text(1)),
)
"""Fields of an unshelve that a microversion brought."""


@dataclass(frozen=True)
class Action:
    """An action of the API.

    noted: its name in the list of instance actions; None: it does not appear there.
    admin: only admins may. versions: the first and last microversion that has it.
    locks: a locked server refuses it.
    """

    handler: Callable[[ComputeService, Request, Server, object], Response]
    noted: str | None = None
    admin: bool = False
    versions: tuple[Version, Version] = ((2, 1), LATEST)
    locks: bool = True


def act_on(compute: ComputeService, request: Request) -> Response:
    """Do what the body names."""
    body = request.json
    if not isinstance(body, dict) or len(body) != 1:
        raise bad_request("Malformed request body")
    [(name, arguments)] = body.items()
    action = ACTIONS.get(name)
    if action is None or not action.versions[0] <= request.version <= action.versions[1]:
        raise bad_request(f"There is no such action: {name}")
    server = found(compute, request)
    if action.admin:
        request.context.require()
    if action.locks:
        compute.servers.require_unlocked(request.context, server)
    response = action.handler(compute, request, server, arguments)
    if action.noted is not None:
        compute.reports.history.begin(request.context, request.id, server, action.noted)
        if server.task_state is None:
            compute.reports.history.end(server.id)
    return response


def plain(operation: str, status: int = ACCEPTED) -> Callable[[ComputeService, Request, Server, object], Response]:
    """An action that begins an operation and has no arguments."""

    def act(compute: ComputeService, request: Request, server: Server, arguments: object) -> Response:
        compute.actions.operations.begin(server, operation)
        return Response(status=status)

    return act


def reboot(compute: ComputeService, request: Request, server: Server, arguments: object) -> Response:
    kind = argument_of("reboot", arguments, "type", fields.one_of("HARD", "Hard", "hard", "SOFT", "Soft", "soft"))
    soft = kind.upper() == "SOFT"
    if server.vm_state == "stopped" and soft:
        raise conflict(f"Cannot 'reboot' instance {server.id} while it is in vm_state stopped")
    compute.actions.operations.begin(server, "reboot" if soft else "hard reboot")
    return Response(status=ACCEPTED)


def resize(compute: ComputeService, request: Request, server: Server, arguments: Any) -> Response:
    checks = {"flavorRef": fields.either(fields.text(1), fields.integer(0)), "OS-DCF:diskConfig": DISK_CONFIG}
    check_fields(arguments, checks, ("flavorRef",), "resize")
    compute.actions.moves.resize(request.context, server, arguments["flavorRef"])
    if "OS-DCF:diskConfig" in arguments:
        compute.servers.touch(server, disk_config=arguments.get("OS-DCF:diskConfig"))
    return Response(status=ACCEPTED)


def rebuild(compute: ComputeService, request: Request, server: Server, arguments: Any) -> Response:
    check_personality(compute, request, arguments if isinstance(arguments, dict) else {})
    checks = {
        "imageRef": fields.text(1),
        "name": fields.name(),
        "adminPass": fields.text(),
        "metadata": METADATA,
        "preserve_ephemeral": fields.boolean,
        "OS-DCF:diskConfig": DISK_CONFIG,
        "accessIPv4": IPV4,
        "accessIPv6": IPV6,
        "personality": fields.anything,
    }
    checks |= since(REBUILD_SINCE, request)
    check_fields(arguments, checks, ("imageRef",), "rebuild")
    compute.actions.rebuilds.begin(request.context, server, arguments["imageRef"], changes_of(arguments))
    password = arguments.get("adminPass") or new_password()
    view = {**rebuilt_server(compute, request, server), "adminPass": password}
    return Response({"server": view}, ACCEPTED, {"Location": f"{request.base}/v2.1/servers/{server.id}"})


def change_password(compute: ComputeService, request: Request, server: Server, arguments: object) -> Response:
    check_fields(arguments, {"adminPass": fields.text()}, ("adminPass",), "changePassword")
    compute.actions.operations.begin(server, "changePassword")
    return Response(status=ACCEPTED)


def _image_answer(request: Request, image: Image) -> Response:
    if request.version >= (2, 45):
        return Response({"image_id": image.id}, ACCEPTED)
    return Response(status=ACCEPTED, headers={"Location": f"{request.base}/images/{image.id}"})


def create_image(compute: ComputeService, request: Request, server: Server, arguments: Any) -> Response:
    check_fields(arguments, {"name": fields.name(), "metadata": METADATA}, ("name",), "createImage")
    metadata = arguments.get("metadata") or {}
    compute.quotas.check_metadata(server.project_id, metadata)
    image = compute.actions.images.create(server, arguments["name"].strip(), metadata)
    return _image_answer(request, image)


def create_backup(compute: ComputeService, request: Request, server: Server, arguments: Any) -> Response:
    checks = {
        "name": fields.name(),
        "backup_type": fields.text(),
        "rotation": fields.integer(0),
        "metadata": METADATA,
    }
    check_fields(arguments, checks, ("name", "backup_type", "rotation"), "createBackup")
    rotation = int(arguments["rotation"])
    image = compute.actions.images.create_backup(server, arguments["name"], arguments["backup_type"], rotation)
    return _image_answer(request, image)


def rescue(compute: ComputeService, request: Request, server: Server, arguments: Any) -> Response:
    body = arguments or {}
    check_fields(body, {"adminPass": fields.text(), "rescue_image_ref": fields.text(1)}, where="rescue")
    if not server.image_id and request.version < (2, 87):
        compute.actions.rebuilds.check_image(request.context, body.get("rescue_image_ref"))
        raise bad_request("Cannot rescue a volume-backed instance")
    compute.actions.rebuilds.rescue(request.context, server, body.get("rescue_image_ref"))
    return Response({"adminPass": body.get("adminPass") or new_password()})


def shelve(compute: ComputeService, request: Request, server: Server, arguments: Any) -> Response:
    compute.actions.shelving.begin(server)
    return Response(status=ACCEPTED)


def unshelve(compute: ComputeService, request: Request, server: Server, arguments: Any) -> Response:
    body = arguments or {}
    check_fields(body, since(UNSHELVE_SINCE, request), where="unshelve")
    zone, host = body.get("availability_zone", server.zone_asked), body.get("host")
    if zone is not None and zone not in compute.aggregates.zones():
        raise bad_request("The requested availability zone is not available")
    if host is not None:
        request.context.require()
        if host not in compute.aggregates.hosts.rows:
            raise bad_request(f"Compute host {host} could not be found.")
        if zone is not None and compute.aggregates.zone_of(host) != zone:
            raise conflict(f"Host '{host}' is not in the availability zone '{zone}'.")
    compute.actions.shelving.unshelve(server, zone, host)
    return Response(status=ACCEPTED)


def lock(compute: ComputeService, request: Request, server: Server, arguments: Any) -> Response:
    body = arguments or {}
    if request.version >= (2, 73):
        check_fields(body, {"locked_reason": fields.text(1)}, where="lock")
    compute.servers.set_lock(request.context, server, body.get("locked_reason"))
    return Response(status=ACCEPTED)


def unlock(compute: ComputeService, request: Request, server: Server, arguments: object) -> Response:
    compute.servers.unlock(request.context, server)
    return Response(status=ACCEPTED)


def force_delete(compute: ComputeService, request: Request, server: Server, arguments: object) -> Response:
    compute.actions.deletion.begin(server)
    return Response(status=ACCEPTED)


def security_group(add: bool) -> Callable[[ComputeService, Request, Server, Any], Response]:
    def act(compute: ComputeService, request: Request, server: Server, arguments: object) -> Response:
        compute.attachments.security_groups.change(
            server, argument_of("security group", arguments, "name", fields.text(1)), add
        )
        return Response(status=ACCEPTED)

    return act


def reset_state(compute: ComputeService, request: Request, server: Server, arguments: object) -> Response:
    state = argument_of("os-resetState", arguments, "state", fields.one_of("active", "error"))
    compute.servers.reset_state(server, state)
    return Response(status=ACCEPTED)


def reset_network(compute: ComputeService, request: Request, server: Server, arguments: object) -> Response:
    raise ApiError(410, "The resource is gone.", "computeFault")


def inject_network_info(compute: ComputeService, request: Request, server: Server, arguments: object) -> Response:
    """Tell the guest of its network once more: there is nothing to see of it from outside."""
    return Response(status=ACCEPTED)


def migrate(compute: ComputeService, request: Request, server: Server, arguments: Any) -> Response:
    body = arguments or {}
    check_fields(body, {"host": fields.nullable(fields.text(1))}, where="migrate")
    host = body.get("host")
    if host is not None and host not in compute.hosts.rows:
        raise bad_request(f"Compute host {host} could not be found.")
    compute.actions.moves.migrate(server, host)
    return Response(status=ACCEPTED)


def live_migrate(compute: ComputeService, request: Request, server: Server, arguments: Any) -> Response:
    checks = {
        "host": fields.nullable(fields.text(1)),
        "block_migration": fields.either(fields.one_of("auto"), fields.boolean),
        "disk_over_commit": fields.boolean,
        "force": fields.boolean,
    }
    check_fields(arguments, checks, ("host", "block_migration"), "os-migrateLive")
    compute.actions.moves.live_migrate(server, arguments["host"])
    return Response(status=ACCEPTED)


def evacuate(compute: ComputeService, request: Request, server: Server, arguments: Any) -> Response:
    checks = {"host": fields.text(1), "adminPass": fields.text(), "onSharedStorage": fields.boolean}
    check_fields(arguments, checks, where="evacuate")
    compute.actions.moves.evacuate(server, arguments.get("host"))
    return Response({"adminPass": arguments.get("adminPass") or new_password()} if request.version < (2, 14) else None)


def add_fixed_ip(compute: ComputeService, request: Request, server: Server, arguments: Any) -> Response:
    network_id = argument_of("addFixedIp", arguments, "networkId", fields.text(1))
    compute.attachments.interfaces.attach(request.context, server, RequestedInterface(uuid=network_id))
    return Response(status=ACCEPTED)


def remove_fixed_ip(compute: ComputeService, request: Request, server: Server, arguments: object) -> Response:
    address = argument_of("removeFixedIp", arguments, "address", fields.text(1))
    network = compute.cloud.of(NetworkService)
    for port in compute.attachments.interfaces.of_server(server):
        remaining = [to_plain(fixed) for fixed in port.fixed_ips if fixed.ip_address != address]
        if len(remaining) != len(port.fixed_ips):
            network.update_port(port.id, fixed_ips=remaining)
            return Response(status=ACCEPTED)
    raise bad_request(f"Fixed IP {address} is not of instance {server.id}.")


ACTIONS = {
    "os-stop": Action(plain("stop"), "stop"),
    "os-start": Action(plain("start"), "start"),
    "reboot": Action(reboot, "reboot"),
    "pause": Action(plain("pause"), "pause"),
    "unpause": Action(plain("unpause"), "unpause"),
    "suspend": Action(plain("suspend"), "suspend"),
    "resume": Action(plain("resume"), "resume"),
    "resize": Action(resize, "resize"),
    "confirmResize": Action(plain("confirmResize", 204), "confirmResize"),
    "revertResize": Action(plain("revertResize"), "revertResize"),
    "rebuild": Action(rebuild, "rebuild"),
    "changePassword": Action(change_password, "changePassword"),
    "createImage": Action(create_image, "createImage", locks=False),
    "createBackup": Action(create_backup, "createBackup"),
    "rescue": Action(rescue, "rescue"),
    "unrescue": Action(plain("unrescue"), "unrescue"),
    "shelve": Action(shelve, "shelve"),
    "shelveOffload": Action(plain("shelveOffload"), "shelveOffload", admin=True),
    "unshelve": Action(unshelve, "unshelve"),
    "lock": Action(lock, "lock", locks=False),
    "unlock": Action(unlock, "unlock", locks=False),
    "forceDelete": Action(force_delete, "delete"),
    "restore": Action(plain("restore"), "restore"),
    "migrate": Action(migrate, "migrate", admin=True),
    "os-migrateLive": Action(live_migrate, "live-migration", admin=True),
    "evacuate": Action(evacuate, "evacuate", admin=True),
    "trigger_crash_dump": Action(plain("trigger_crash_dump"), "trigger_crash_dump", versions=((2, 17), LATEST)),
    "os-getConsoleOutput": Action(console_output, locks=False),
    "os-resetState": Action(reset_state, admin=True, locks=False),
    "resetNetwork": Action(reset_network, admin=True),
    "injectNetworkInfo": Action(inject_network_info, admin=True),
    "addSecurityGroup": Action(security_group(add=True), locks=False),
    "removeSecurityGroup": Action(security_group(add=False), locks=False),
    "addFixedIp": Action(add_fixed_ip, versions=((2, 1), (2, 43))),
    "removeFixedIp": Action(remove_fixed_ip, versions=((2, 1), (2, 43))),
    "addFloatingIp": Action(add_floating_ip, versions=((2, 1), (2, 43)), locks=False),
    "removeFloatingIp": Action(remove_floating_ip, versions=((2, 1), (2, 43)), locks=False),
    **{name: Action(local_console(name), versions=((2, 1), (2, 5)), locks=False) for name in LOCAL_CONSOLES},
}
