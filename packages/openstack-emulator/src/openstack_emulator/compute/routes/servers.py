"""Servers, and their metadata, over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from openstack_emulator.compute.records import Server
from openstack_emulator.compute.routes.bodies import (
    DISK_CONFIG,
    FULL_HOSTNAME,
    HOSTNAME,
    IPV4,
    IPV6,
    METADATA,
    NO_ITEM,
    OTHER_KEY,
    TAG,
    VersionedFields,
    check_personality,
    found,
    since,
)
from openstack_emulator.compute.routes.queries import check_sorting, order_by, unknown_marker
from openstack_emulator.compute.routes.server_filters import listed_servers
from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.compute.rules.inputs import NewServer, changes_of
from openstack_emulator.compute.rules.servers import new_password
from openstack_emulator.compute.views import (
    LISTED,
    SHOWN,
    addresses,
    changed_server,
    links,
    plain,
    server_view,
    summary,
)
from openstack_emulator.core.errors import ApiError, bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.metadata import Metadata
from openstack_emulator.core.paging import page, ranked
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_boolean
from openstack_emulator.core.validation.objects import check_fields, invalid
from openstack_emulator.core.validation.problems import Problem, Reason, wrong_type
from openstack_emulator.core.validation.sentences import sentence

NETWORK = {
    "uuid": fields.nullable(fields.identifier),
    "port": fields.nullable(fields.identifier),
    "fixed_ip": fields.nullable(fields.text(1, 45, r"[0-9a-fA-F:.]+")),
    "tag": TAG,
}
SERVER = {
    "name": fields.name(),
    "imageRef": fields.one_schema_of(fields.either(fields.text(0, 0), fields.identifier)),
    "flavorRef": fields.either(fields.text(1), fields.integer(0)),
    "adminPass": fields.text(),
    "metadata": METADATA,
    "networks": fields.anything,
    "OS-DCF:diskConfig": DISK_CONFIG,
    "accessIPv4": IPV4,
    "accessIPv6": IPV6,
    "personality": fields.anything,
    "availability_zone": fields.nullable(fields.text(1)),
    "block_device_mapping": fields.items(fields.anything),
    "block_device_mapping_v2": fields.items(fields.anything),
    "config_drive": fields.nullable(fields.boolean),
    "key_name": fields.nullable(fields.text(1)),
    "min_count": fields.integer(1),
    "max_count": fields.integer(1),
    "return_reservation_id": fields.boolean,
    "security_groups": fields.items(fields.anything),
    "user_data": fields.nullable(fields.text(0, 10**7)),
}
SERVERS = fields.either(fields.identifier, fields.items(fields.identifier))
HINTS = {"group": fields.identifier, "same_host": SERVERS, "different_host": SERVERS}
SINCE: VersionedFields = (
    ("description", (2, 19), fields.nullable(fields.text())),
    ("tags", (2, 52), fields.items(TAG, 50)),
    ("trusted_image_certificates", (2, 63), fields.nullable(fields.items(fields.text(1), 50))),
    ("host", (2, 74), fields.text(1)),
    ("hypervisor_hostname", (2, 74), fields.text(1)),
    ("hostname", (2, 90), HOSTNAME),
    ("hostname", (2, 94), FULL_HOSTNAME),
)
"""Fields of a new server that a microversion brought."""
CHANGED_SINCE: VersionedFields = tuple(row for row in SINCE if row[0] in ("description", "hostname"))
DEVICE_KEYS = {
    "virtual_name": fields.anything,
    "volume_id": fields.anything,
    "snapshot_id": fields.anything,
    "volume_size": fields.nullable(fields.integer(0)),
    "device_name": fields.nullable(fields.text(0, 255, r"[a-zA-Z0-9._\-/]*")),
    "delete_on_termination": fields.boolean,
    "no_device": fields.anything,
    "connection_info": fields.anything,
    "source_type": fields.one_of("volume", "image", "snapshot", "blank"),
    "destination_type": fields.one_of("volume", "local"),
    "uuid": fields.text(1),
    "image_id": fields.identifier,
    "guest_format": fields.nullable(fields.text()),
    "device_type": fields.nullable(fields.text()),
    "disk_bus": fields.nullable(fields.text()),
    "boot_index": fields.nullable(fields.either(fields.text(0, 0), fields.integer(-1))),
    "tag": TAG,
    "volume_type": fields.nullable(fields.text()),
}
COLUMNS = {"created_at": "created", "updated_at": "updated", "uuid": "id", "display_name": "name"}
"""Names in the records of fields by which lists are sorted, where they are others."""


def _check_new_server(request: Request, body: Mapping[str, Any]) -> None:
    check_fields(body, {**SERVER, **since(SINCE, request)}, ("name", "flavorRef"), "server")
    networks = body.get("networks")
    if request.version >= (2, 37) and networks is None:
        raise invalid("server", body, sentence(Problem(Reason.MISSING, body, "networks")))
    if isinstance(networks, str):
        if request.version < (2, 37) or networks not in ("auto", "none"):
            raise invalid("networks", networks, sentence(wrong_type(networks, "array")))
    elif networks is not None:
        check_fields({"networks": networks}, {"networks": fields.items(fields.anything)})
        try:
            for row in networks:
                check_fields(row, NETWORK, where="networks")
        except ApiError:
            if request.version < (2, 37):
                raise
            raise invalid("networks", networks, sentence(Problem(Reason.NO_SCHEMA, networks))) from None
    for row in [*(body.get("block_device_mapping") or []), *(body.get("block_device_mapping_v2") or [])]:
        check_fields(row, DEVICE_KEYS, where="block_device_mapping")
    for row in body.get("security_groups") or []:
        check_fields(row, {"name": fields.text(1)}, where="security_groups", strict=False)
    least = int(body.get("min_count", 1))
    if least > int(body.get("max_count", least)):
        raise bad_request("min_count must be <= max_count")


def create(compute: ComputeService, request: Request) -> Response:
    arguments = request.object("server")
    check_personality(compute, request, arguments)
    _check_new_server(request, arguments)
    body = request.json
    hints = body.get("os:scheduler_hints") or body.get("OS-SCH-HNT:scheduler_hints") or {}
    check_fields(hints, HINTS, where="os:scheduler_hints", strict=False)
    new = NewServer.from_json(arguments, hints)
    servers = compute.actions.builder.create(request.context, new)
    for server in servers:
        compute.reports.history.begin(request.context, request.id, server, "create")
    first = servers[0]
    if as_boolean(arguments.get("return_reservation_id", False)):
        return Response({"reservation_id": first.reservation_id}, 202)
    view = {
        "id": first.id,
        "links": links(request, "servers", first.id),
        "OS-DCF:diskConfig": first.disk_config,
        "security_groups": [{"name": name} for name in new.security_groups or ["default"]],
        "adminPass": new.password or new_password(),
    }
    return Response({"server": view}, 202, {"Location": f"{request.base}/v2.1/servers/{first.id}"})


SORTABLE = [
    "project_id",
    "display_name",
    "uuid",
    "access_ip_v4",
    "host",
    "auto_disk_config",
    "availability_zone",
    "updated_at",
    "vm_state",
    "launched_at",
    "root_device_name",
    "access_ip_v6",
    "user_id",
    "image_ref",
    "progress",
    "terminated_at",
    "launch_index",
    "config_drive",
    "locked_by",
    "ramdisk_id",
    "kernel_id",
    "instance_type_id",
    "task_state",
    "hostname",
    "created_at",
    "key_name",
    "power_state",
    "display_description",
    "locked",
    "node",
]
"""The fields that lists of servers are sorted by, in the order in which an error names them."""


def _page(compute: ComputeService, request: Request, view: Callable[[Server], dict[str, object]]) -> Response:
    rows = listed_servers(compute, request)
    check_sorting(request, SORTABLE)
    shown = page(ranked(rows, order_by(request.query, COLUMNS)), request.query, missing=unknown_marker)
    return Response(shown.body(request, "servers", view))


def index(compute: ComputeService, request: Request) -> Response:
    return _page(compute, request, lambda row: summary(request, "servers", row))


def detail(compute: ComputeService, request: Request) -> Response:
    return _page(compute, request, lambda row: server_view(compute, request, row, LISTED))


def show(compute: ComputeService, request: Request) -> Response:
    return Response({"server": server_view(compute, request, found(compute, request), SHOWN)})


def update(compute: ComputeService, request: Request) -> Response:
    server, body = found(compute, request), request.object("server")
    names = ("name", "OS-DCF:diskConfig", "accessIPv4", "accessIPv6")
    checks = {name: SERVER[name] for name in names}
    check_fields(body, {**checks, **since(CHANGED_SINCE, request)}, where="server")
    changes = changes_of(body)
    if (name := changes.get("name")) is not None:
        changes |= {"name": name.strip()}
    compute.servers.touch(server, **changes)
    return Response({"server": changed_server(compute, request, server)})


def delete(compute: ComputeService, request: Request) -> Response:
    server = found(compute, request)
    compute.servers.require_unlocked(request.context, server)
    compute.reports.history.begin(request.context, request.id, server, "delete")
    compute.actions.deletion.begin(server)
    return Response(status=204)


def list_addresses(compute: ComputeService, request: Request) -> Response:
    view = addresses(compute, found(compute, request))
    return Response({"addresses": {name: plain(rows) for name, rows in view.items()}})


def show_addresses(compute: ComputeService, request: Request) -> Response:
    view, name = addresses(compute, found(compute, request)), request.vars["network"]
    if name not in view:
        raise not_found("Instance does not belong to the network.")
    return Response({name: plain(view[name])})


def _metadata(compute: ComputeService, request: Request) -> dict[str, str]:
    return found(compute, request).metadata


def _set_metadata(compute: ComputeService, request: Request, metadata: dict[str, str]) -> None:
    compute.servers.set_metadata(request.context, found(compute, request), metadata)


SERVER_METADATA = Metadata(_metadata, _set_metadata, METADATA, NO_ITEM, OTHER_KEY, 204)
