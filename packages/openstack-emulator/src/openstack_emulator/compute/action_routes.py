"""`POST /servers/{id}/action`: the body's only key names the action, its value are the arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from openstack_emulator.compute.console_routes import LOCAL_CONSOLES, console_output, local_console
from openstack_emulator.compute.consoles import Consoles
from openstack_emulator.compute.deletion import Deletion
from openstack_emulator.compute.interfaces import Interfaces
from openstack_emulator.compute.moves import Moves
from openstack_emulator.compute.network_proxies import add_floating_ip, remove_floating_ip
from openstack_emulator.compute.operations import Operations
from openstack_emulator.compute.rebuilding import Rebuilds
from openstack_emulator.compute.records import ComputeRecords
from openstack_emulator.compute.security_groups import ServerSecurityGroups
from openstack_emulator.compute.server_routes import (
    DISK_CONFIG,
    FULL_HOSTNAME,
    HOSTNAME,
    IPV4,
    IPV6,
    METADATA,
    Since,
    check_personality,
    found,
    since,
)
from openstack_emulator.compute.servers import Servers, new_password
from openstack_emulator.compute.shelving import ServerImages, Shelving
from openstack_emulator.compute.views import rebuilt_server
from openstack_emulator.core import fields
from openstack_emulator.core.component import ActionHandler, on
from openstack_emulator.core.errors import ApiError, bad_request, conflict
from openstack_emulator.core.http import Request, Response, Version
from openstack_emulator.core.store import Record
from openstack_emulator.core.typed import to_plain
from openstack_emulator.image.records import Image
from openstack_emulator.network.rules.composition import NetworkService

ACCEPTED = 202
LATEST: Version = (9, 999)
REBUILD_SINCE: Since = (
    ("description", (2, 19), fields.nullable(fields.text())),
    ("key_name", (2, 54), fields.nullable(fields.text(1))),
    ("user_data", (2, 57), fields.nullable(fields.text(0, 10**7))),
    ("trusted_image_certificates", (2, 63), fields.anything),
    ("hostname", (2, 90), HOSTNAME),
    ("hostname", (2, 94), FULL_HOSTNAME),
)
"""Fields of a rebuild that a microversion brought."""
UNSHELVE_SINCE: Since = (
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

    handler: ActionHandler
    noted: str | None = None
    admin: bool = False
    versions: tuple[Version, Version] = ((2, 1), LATEST)
    locks: bool = True


def server_action(compute: ComputeRecords, request: Request) -> Response:
    """Do what the body names."""
    body = request.json
    if not isinstance(body, dict) or len(body) != 1:
        raise bad_request("Malformed request body")
    [(name, arguments)] = body.items()
    action = ACTIONS.get(name)
    if action is None or not action.versions[0] <= request.version <= action.versions[1]:
        raise bad_request(f"There is no such action: {name}")
    servers = compute.servers
    server = found(servers, request)
    if action.admin:
        request.context.require()
    if action.locks:
        servers.require_unlocked(request.context, server)
    response = action.handler(compute, request, server, arguments)
    if action.noted is not None:
        servers.history.begin(request.context, request.id, server, action.noted)
        if server["task_state"] is None:
            servers.history.end(server["id"])
    return response


def plain(operation: str, status: int = ACCEPTED) -> Callable[[Operations, Request, Record, Any], Response]:
    """An action that begins an operation and has no arguments."""

    def act(operations: Operations, request: Request, server: Record, arguments: Any) -> Response:
        operations.begin(server, operation)
        return Response(status=status)

    return act


def reboot(operations: Operations, request: Request, server: Record, arguments: Any) -> Response:
    fields.check_fields(
        arguments, {"type": fields.one_of("HARD", "Hard", "hard", "SOFT", "Soft", "soft")}, ("type",), "reboot"
    )
    soft = arguments["type"].upper() == "SOFT"
    if server["vm_state"] == "stopped" and soft:
        raise conflict(f"Cannot 'reboot' instance {server['id']} while it is in vm_state stopped")
    operations.begin(server, "reboot" if soft else "hard reboot")
    return Response(status=ACCEPTED)


def resize(moves: Moves, request: Request, server: Record, arguments: Any) -> Response:
    checks = {"flavorRef": fields.either(fields.text(1), fields.integer(0)), "OS-DCF:diskConfig": DISK_CONFIG}
    fields.check_fields(arguments, checks, ("flavorRef",), "resize")
    moves.resize(request.context, server, arguments["flavorRef"])
    if "OS-DCF:diskConfig" in arguments:
        moves.servers.touch(server, disk_config=arguments["OS-DCF:diskConfig"])
    return Response(status=ACCEPTED)


def rebuild(rebuilds: Rebuilds, request: Request, server: Record, arguments: Any) -> Response:
    check_personality(rebuilds.servers.quotas, request, arguments if isinstance(arguments, dict) else {})
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
    fields.check_fields(arguments, checks, ("imageRef",), "rebuild")
    rebuilds.begin(request.context, server, arguments)
    password = arguments.get("adminPass") or new_password()
    view = {**rebuilt_server(rebuilds.views, request, server), "adminPass": password}
    return Response({"server": view}, ACCEPTED, {"Location": f"{request.base}/v2.1/servers/{server['id']}"})


def change_password(operations: Operations, request: Request, server: Record, arguments: Any) -> Response:
    fields.check_fields(arguments, {"adminPass": fields.text()}, ("adminPass",), "changePassword")
    operations.begin(server, "changePassword")
    return Response(status=ACCEPTED)


def _image_answer(request: Request, image: Image) -> Response:
    if request.version >= (2, 45):
        return Response({"image_id": image.id}, ACCEPTED)
    return Response(status=ACCEPTED, headers={"Location": f"{request.base}/images/{image.id}"})


def create_image(images: ServerImages, request: Request, server: Record, arguments: Any) -> Response:
    fields.check_fields(arguments, {"name": fields.name(), "metadata": METADATA}, ("name",), "createImage")
    metadata = arguments.get("metadata") or {}
    images.servers.quotas.check_metadata(server["project_id"], metadata)
    image = images.create(server, arguments["name"].strip(), metadata)
    return _image_answer(request, image)


def create_backup(images: ServerImages, request: Request, server: Record, arguments: Any) -> Response:
    checks = {
        "name": fields.name(),
        "backup_type": fields.text(),
        "rotation": fields.integer(0),
        "metadata": METADATA,
    }
    fields.check_fields(arguments, checks, ("name", "backup_type", "rotation"), "createBackup")
    rotation = int(arguments["rotation"])
    image = images.create_backup(server, arguments["name"], arguments["backup_type"], rotation)
    return _image_answer(request, image)


def rescue(rebuilds: Rebuilds, request: Request, server: Record, arguments: Any) -> Response:
    wanted = arguments or {}
    fields.check_fields(wanted, {"adminPass": fields.text(), "rescue_image_ref": fields.text(1)}, where="rescue")
    if wanted.get("rescue_image_ref"):
        rebuilds.sources.image(request.context, wanted["rescue_image_ref"])
    if not server["image_id"] and request.version < (2, 87):
        raise bad_request("Cannot rescue a volume-backed instance")
    rebuilds.operations.begin(server, "rescue")
    return Response({"adminPass": wanted.get("adminPass") or new_password()})


def shelve(shelving: Shelving, request: Request, server: Record, arguments: Any) -> Response:
    shelving.begin(server)
    return Response(status=ACCEPTED)


def unshelve(shelving: Shelving, request: Request, server: Record, arguments: Any) -> Response:
    wanted = arguments or {}
    fields.check_fields(wanted, since(UNSHELVE_SINCE, request), where="unshelve")
    zone, host = wanted.get("availability_zone", server["zone_asked"]), wanted.get("host")
    if zone is not None and zone not in shelving.aggregates.zones():
        raise bad_request("The requested availability zone is not available")
    if host is not None:
        request.context.require()
        if host not in shelving.aggregates.hosts.rows:
            raise bad_request(f"Compute host {host} could not be found.")
        if zone is not None and shelving.aggregates.zone_of(host) != zone:
            raise conflict(f"Host '{host}' is not in the availability zone '{zone}'.")
    shelving.unshelve(server, zone, host)
    return Response(status=ACCEPTED)


def lock(servers: Servers, request: Request, server: Record, arguments: Any) -> Response:
    wanted = arguments or {}
    if request.version >= (2, 73):
        fields.check_fields(wanted, {"locked_reason": fields.text(1)}, where="lock")
    servers.set_lock(request.context, server, wanted.get("locked_reason"))
    return Response(status=ACCEPTED)


def unlock(servers: Servers, request: Request, server: Record, arguments: Any) -> Response:
    servers.unlock(request.context, server)
    return Response(status=ACCEPTED)


def force_delete(deletion: Deletion, request: Request, server: Record, arguments: Any) -> Response:
    deletion.begin(server)
    return Response(status=ACCEPTED)


def security_group(add: bool) -> Callable[[ServerSecurityGroups, Request, Record, Any], Response]:
    def act(groups: ServerSecurityGroups, request: Request, server: Record, arguments: Any) -> Response:
        fields.check_fields(arguments, {"name": fields.text(1)}, ("name",), "security group")
        groups.change(server, arguments["name"], add)
        return Response(status=ACCEPTED)

    return act


def reset_state(servers: Servers, request: Request, server: Record, arguments: Any) -> Response:
    fields.check_fields(arguments, {"state": fields.one_of("active", "error")}, ("state",), "os-resetState")
    servers.reset_state(server, arguments["state"])
    return Response(status=ACCEPTED)


def reset_network(servers: Servers, request: Request, server: Record, arguments: Any) -> Response:
    raise ApiError(410, "The resource is gone.", "computeFault")


def inject_network_info(servers: Servers, request: Request, server: Record, arguments: Any) -> Response:
    """Tell the guest of its network once more: there is nothing to see of it from outside."""
    return Response(status=ACCEPTED)


def migrate(moves: Moves, request: Request, server: Record, arguments: Any) -> Response:
    wanted = arguments or {}
    fields.check_fields(wanted, {"host": fields.nullable(fields.text(1))}, where="migrate")
    host = wanted.get("host")
    if host is not None and host not in moves.hosts.rows:
        raise bad_request(f"Compute host {host} could not be found.")
    moves.migrate(server, host)
    return Response(status=ACCEPTED)


def live_migrate(moves: Moves, request: Request, server: Record, arguments: Any) -> Response:
    checks = {
        "host": fields.nullable(fields.text(1)),
        "block_migration": fields.either(fields.one_of("auto"), fields.boolean),
        "disk_over_commit": fields.boolean,
        "force": fields.boolean,
    }
    fields.check_fields(arguments, checks, ("host", "block_migration"), "os-migrateLive")
    moves.live_migrate(server, arguments["host"])
    return Response(status=ACCEPTED)


def evacuate(moves: Moves, request: Request, server: Record, arguments: Any) -> Response:
    checks = {"host": fields.text(1), "adminPass": fields.text(), "onSharedStorage": fields.boolean}
    fields.check_fields(arguments, checks, where="evacuate")
    moves.evacuate(server, arguments.get("host"))
    return Response({"adminPass": arguments.get("adminPass") or new_password()} if request.version < (2, 14) else None)


def add_fixed_ip(interfaces: Interfaces, request: Request, server: Record, arguments: Any) -> Response:
    fields.check_fields(arguments, {"networkId": fields.text(1)}, ("networkId",), "addFixedIp")
    interfaces.attach(request.context, server, {"uuid": arguments["networkId"]})
    return Response(status=ACCEPTED)


def remove_fixed_ip(interfaces: Interfaces, request: Request, server: Record, arguments: Any) -> Response:
    fields.check_fields(arguments, {"address": fields.text(1)}, ("address",), "removeFixedIp")
    network = interfaces.cloud.of(NetworkService)
    for port in interfaces.of_server(server):
        kept = [to_plain(fixed) for fixed in port.fixed_ips if fixed.ip_address != arguments["address"]]
        if len(kept) != len(port.fixed_ips):
            network.update_port(port.id, fixed_ips=kept)
            return Response(status=ACCEPTED)
    raise bad_request(f"Fixed IP {arguments['address']} is not of instance {server['id']}.")


ACTIONS = {
    "os-stop": Action(on(Operations, plain("stop")), "stop"),
    "os-start": Action(on(Operations, plain("start")), "start"),
    "reboot": Action(on(Operations, reboot), "reboot"),
    "pause": Action(on(Operations, plain("pause")), "pause"),
    "unpause": Action(on(Operations, plain("unpause")), "unpause"),
    "suspend": Action(on(Operations, plain("suspend")), "suspend"),
    "resume": Action(on(Operations, plain("resume")), "resume"),
    "resize": Action(on(Moves, resize), "resize"),
    "confirmResize": Action(on(Operations, plain("confirmResize", 204)), "confirmResize"),
    "revertResize": Action(on(Operations, plain("revertResize")), "revertResize"),
    "rebuild": Action(on(Rebuilds, rebuild), "rebuild"),
    "changePassword": Action(on(Operations, change_password), "changePassword"),
    "createImage": Action(on(ServerImages, create_image), "createImage", locks=False),
    "createBackup": Action(on(ServerImages, create_backup), "createBackup"),
    "rescue": Action(on(Rebuilds, rescue), "rescue"),
    "unrescue": Action(on(Operations, plain("unrescue")), "unrescue"),
    "shelve": Action(on(Shelving, shelve), "shelve"),
    "shelveOffload": Action(on(Operations, plain("shelveOffload")), "shelveOffload", admin=True),
    "unshelve": Action(on(Shelving, unshelve), "unshelve"),
    "lock": Action(on(Servers, lock), "lock", locks=False),
    "unlock": Action(on(Servers, unlock), "unlock", locks=False),
    "forceDelete": Action(on(Deletion, force_delete), "delete"),
    "restore": Action(on(Operations, plain("restore")), "restore"),
    "migrate": Action(on(Moves, migrate), "migrate", admin=True),
    "os-migrateLive": Action(on(Moves, live_migrate), "live-migration", admin=True),
    "evacuate": Action(on(Moves, evacuate), "evacuate", admin=True),
    "trigger_crash_dump": Action(
        on(Operations, plain("trigger_crash_dump")), "trigger_crash_dump", versions=((2, 17), LATEST)
    ),
    "os-getConsoleOutput": Action(on(Consoles, console_output), locks=False),
    "os-resetState": Action(on(Servers, reset_state), admin=True, locks=False),
    "resetNetwork": Action(on(Servers, reset_network), admin=True),
    "injectNetworkInfo": Action(on(Servers, inject_network_info), admin=True),
    "addSecurityGroup": Action(on(ServerSecurityGroups, security_group(add=True)), locks=False),
    "removeSecurityGroup": Action(on(ServerSecurityGroups, security_group(add=False)), locks=False),
    "addFixedIp": Action(on(Interfaces, add_fixed_ip), versions=((2, 1), (2, 43))),
    "removeFixedIp": Action(on(Interfaces, remove_fixed_ip), versions=((2, 1), (2, 43))),
    "addFloatingIp": Action(add_floating_ip, versions=((2, 1), (2, 43)), locks=False),
    "removeFloatingIp": Action(remove_floating_ip, versions=((2, 1), (2, 43)), locks=False),
    **{
        name: Action(on(Consoles, local_console(name)), versions=((2, 1), (2, 5)), locks=False)
        for name in LOCAL_CONSOLES
    },
}
