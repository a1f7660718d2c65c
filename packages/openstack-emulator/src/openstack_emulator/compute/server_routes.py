"""Servers, their metadata and tags over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from openstack_emulator.compute.building import Builder
from openstack_emulator.compute.deletion import Deletion
from openstack_emulator.compute.queries import check_sorting, unknown_marker
from openstack_emulator.compute.quotas import Quotas
from openstack_emulator.compute.server_filters import listed_servers
from openstack_emulator.compute.servers import Servers, shortest
from openstack_emulator.compute.user_data import is_base64
from openstack_emulator.compute.views import (
    LISTED,
    SHOWN,
    ServerViews,
    addresses,
    brief,
    changed_server,
    links,
    plain,
    server_view,
)
from openstack_emulator.core import fields
from openstack_emulator.core.errors import ApiError, bad_request, forbidden, not_found
from openstack_emulator.core.http import Request, Response, Version
from openstack_emulator.core.metadata import Metadata
from openstack_emulator.core.paging import ordered, page
from openstack_emulator.core.store import Record

TAG = fields.text(1, 60, r"[^,/]*")
METADATA = fields.text_map(key_form=r"[a-zA-Z0-9\-_:. ]{1,255}")
NO_ITEM = "Metadata item was not found"
OTHER_KEY = "Request body and URI mismatch"
HOSTNAME = fields.text(2, 63, r"[a-zA-Z0-9]+[a-zA-Z0-9-]*")
FULL_HOSTNAME = fields.text(2, 255, r"[a-zA-Z0-9]+[a-zA-Z0-9.-]*")
IPV4 = fields.address(4)
IPV6 = fields.address(6)
NETWORK = {
    "uuid": fields.nullable(fields.identifier),
    "port": fields.nullable(fields.identifier),
    "fixed_ip": fields.nullable(fields.text(1, 45, r"[0-9a-fA-F:.]+")),
    "tag": TAG,
}
DISK_CONFIG = fields.one_of("AUTO", "MANUAL")
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
Since = tuple[tuple[str, Version, fields.Check], ...]
"""Fields with the microversions that brought them; of two rows for one field the later one counts."""
SINCE: Since = (
    ("description", (2, 19), fields.nullable(fields.text())),
    ("tags", (2, 52), fields.items(TAG, 50)),
    ("trusted_image_certificates", (2, 63), fields.nullable(fields.items(fields.text(1), 50))),
    ("host", (2, 74), fields.text(1)),
    ("hypervisor_hostname", (2, 74), fields.text(1)),
    ("hostname", (2, 90), HOSTNAME),
    ("hostname", (2, 94), FULL_HOSTNAME),
)
"""Fields of a new server that a microversion brought."""
CHANGED_SINCE: Since = tuple(row for row in SINCE if row[0] in ("description", "hostname"))
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
SORT_KEYS = {"created_at": "created", "updated_at": "updated", "uuid": "id", "display_name": "name"}


def found(servers: Servers, request: Request) -> Record:
    """The server the path names."""
    return servers.find(request.context, request.vars["server_id"])


def since(table: Since, request: Request) -> dict[str, fields.Check]:
    """The checks of the fields that the request's microversion has."""
    return {name: check for name, version, check in table if request.version >= version}


def _check_new_server(request: Request, wanted: Record) -> None:
    fields.check_fields(wanted, {**SERVER, **since(SINCE, request)}, ("name", "flavorRef"), "server")
    networks = wanted.get("networks")
    if request.version >= (2, 37) and networks is None:
        raise fields.invalid("server", wanted, "'networks' is a required property")
    if isinstance(networks, str):
        if request.version < (2, 37) or networks not in ("auto", "none"):
            raise fields.invalid("networks", networks, f"{networks!r} is not of type 'array'")
    elif networks is not None:
        fields.check_fields({"networks": networks}, {"networks": fields.items(fields.anything)})
        try:
            for row in networks:
                fields.check_fields(row, NETWORK, where="networks")
        except ApiError:
            if request.version < (2, 37):
                raise
            raise fields.invalid("networks", networks, fields.fits_no_schema(networks)) from None
    for row in [*(wanted.get("block_device_mapping") or []), *(wanted.get("block_device_mapping_v2") or [])]:
        fields.check_fields(row, DEVICE_KEYS, where="block_device_mapping")
    for row in wanted.get("security_groups") or []:
        fields.check_fields(row, {"name": fields.text(1)}, where="security_groups", strict=False)
    least = int(wanted.get("min_count", 1))
    if least > int(wanted.get("max_count", least)):
        raise bad_request("min_count must be <= max_count")


def check_personality(quotas: Quotas, request: Request, wanted: Record) -> None:
    """Refuse injected files: all of them since 2.57, before that too many or too large ones."""
    files = wanted.get("personality")
    if files is None:
        return
    if request.version >= (2, 57):
        raise fields.invalid("server", wanted, "Additional properties are not allowed ('personality' was unexpected)")
    keys = {"path": fields.text(1), "contents": fields.text(0, 10**7)}
    fields.check_fields({"personality": files}, {"personality": fields.items(fields.anything)})
    limits = quotas.limits_of(request.context.project)
    if 0 <= limits["injected_files"] < len(files):
        raise forbidden("Quota exceeded, too many injected files.")
    for row in files:
        fields.check_fields(row, keys, ("path", "contents"), "personality")
        if not is_base64(row["contents"]):
            raise bad_request(f"Personality content for {row['path']} cannot be decoded")
        if 0 <= limits["injected_file_content_bytes"] < len(row["contents"]) * 3 // 4:
            raise forbidden("Quota exceeded, too large file content.")


def create(builder: Builder, request: Request) -> Response:
    wanted = request.object("server")
    check_personality(builder.servers.quotas, request, wanted)
    _check_new_server(request, wanted)
    body = request.json
    hints = body.get("os:scheduler_hints") or body.get("OS-SCH-HNT:scheduler_hints") or {}
    fields.check_fields(hints, HINTS, where="os:scheduler_hints", strict=False)
    servers = builder.create(request.context, wanted, hints)
    for server in servers:
        builder.servers.history.begin(request.context, request.id, server, "create")
    first = servers[0]
    if fields.as_boolean(wanted.get("return_reservation_id", False)):
        return Response({"reservation_id": first["reservation_id"]}, 202)
    view = {
        "id": first["id"],
        "links": links(request, "servers", first["id"]),
        "OS-DCF:diskConfig": first["disk_config"],
        "security_groups": [{"name": row["name"]} for row in wanted.get("security_groups") or [{"name": "default"}]],
        "adminPass": first["_password"],
    }
    return Response({"server": view}, 202, {"Location": f"{request.base}/v2.1/servers/{first['id']}"})


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


def _page(views: ServerViews, request: Request, view: Callable[[Record], dict[str, Any]]) -> Response:
    rows = [{**row, **{key: row[field] for key, field in SORT_KEYS.items()}} for row in listed_servers(views, request)]
    check_sorting(request, SORTABLE)
    shown = page(ordered(rows, request.query), request.query, missing=unknown_marker)
    body: dict[str, Any] = {"servers": [view(row) for row in shown.rows]}
    if shown.next_marker is not None:
        body["servers_links"] = shown.links(request)
    return Response(body)


def index(views: ServerViews, request: Request) -> Response:
    return _page(views, request, lambda row: brief(request, "servers", row))


def detail(views: ServerViews, request: Request) -> Response:
    return _page(views, request, lambda row: server_view(views, request, row, LISTED))


def show(views: ServerViews, request: Request) -> Response:
    return Response({"server": server_view(views, request, found(views.servers, request), SHOWN)})


def update(views: ServerViews, request: Request) -> Response:
    server, wanted = found(views.servers, request), request.object("server")
    names = ("name", "OS-DCF:diskConfig", "accessIPv4", "accessIPv6")
    checks = {name: SERVER[name] for name in names}
    fields.check_fields(wanted, {**checks, **since(CHANGED_SINCE, request)}, where="server")
    columns = {"accessIPv4": "access_ip_v4", "accessIPv6": "access_ip_v6", "OS-DCF:diskConfig": "disk_config"}
    changes = {columns.get(name, name): value for name, value in wanted.items()}
    if "name" in changes:
        changes["name"] = changes["name"].strip()
    for field in ("access_ip_v4", "access_ip_v6"):
        if field in changes:
            changes[field] = shortest(changes[field])
    views.servers.touch(server, **changes)
    return Response({"server": changed_server(views, request, server)})


def delete(deletion: Deletion, request: Request) -> Response:
    server = found(deletion.servers, request)
    deletion.servers.require_unlocked(request.context, server)
    deletion.servers.history.begin(request.context, request.id, server, "delete")
    deletion.begin(server)
    return Response(status=204)


def list_addresses(views: ServerViews, request: Request) -> Response:
    view = addresses(views, found(views.servers, request))
    return Response({"addresses": {name: plain(rows) for name, rows in view.items()}})


def show_addresses(views: ServerViews, request: Request) -> Response:
    view, name = addresses(views, found(views.servers, request)), request.vars["network"]
    if name not in view:
        raise not_found("Instance does not belong to the network.")
    return Response({name: plain(view[name])})


def _metadata(servers: Servers, request: Request) -> dict[str, str]:
    metadata: dict[str, str] = found(servers, request)["metadata"]
    return metadata


def _set_metadata(servers: Servers, request: Request, metadata: dict[str, str]) -> None:
    servers.set_metadata(request.context, found(servers, request), metadata)


SERVER_METADATA = Metadata(_metadata, _set_metadata, METADATA, NO_ITEM, OTHER_KEY, 204)


def _tagged(servers: Servers, request: Request) -> Record:
    if request.version < (2, 26):
        raise not_found("The resource could not be found.")
    return found(servers, request)


def list_tags(servers: Servers, request: Request) -> Response:
    return Response({"tags": _tagged(servers, request)["tags"]})


def replace_tags(servers: Servers, request: Request) -> Response:
    server = _tagged(servers, request)
    fields.check_fields(request.json, {"tags": fields.items(TAG)}, ("tags",))
    servers.set_tags(server, list(dict.fromkeys(request.json["tags"])))
    return list_tags(servers, request)


def delete_tags(servers: Servers, request: Request) -> Response:
    servers.set_tags(_tagged(servers, request), [])
    return Response(status=204)


def _require_tag(servers: Servers, request: Request) -> tuple[Record, str]:
    server, tag = _tagged(servers, request), request.vars["tag"]
    if tag not in server["tags"]:
        raise ApiError(404, f"Instance {server['id']} has no tag '{tag}'")
    return server, tag


def has_tag(servers: Servers, request: Request) -> Response:
    _require_tag(servers, request)
    return Response(status=204)


def add_tag(servers: Servers, request: Request) -> Response:
    server, tag = _tagged(servers, request), request.vars["tag"]
    if (problem := TAG(tag)) is not None:
        raise bad_request(f"Tag '{tag}' is invalid. {problem}")
    if tag in server["tags"]:
        return Response(status=204)
    servers.set_tags(server, [*server["tags"], tag])
    place = f"{request.base}/v2.1/servers/{server['id']}/tags/{tag}"
    return Response(status=201, headers={"Location": place})


def delete_tag(servers: Servers, request: Request) -> Response:
    server, tag = _require_tag(servers, request)
    servers.set_tags(server, [one for one in server["tags"] if one != tag])
    return Response(status=204)
