"""Volumes and their snapshots as Nova shows Cinder's, up to microversion 2.35."""

from __future__ import annotations

from collections.abc import Callable

from openstack_emulator.core import fields
from openstack_emulator.core.cloud import Handler, Records, Routes
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.internal import ask
from openstack_emulator.core.store import Record

View = Callable[[Record], Record]
VOLUME = {
    "volume_type": fields.nullable(fields.text()),
    "metadata": fields.nullable(fields.text_map()),
    "snapshot_id": fields.nullable(fields.text()),
    "size": fields.integer(1),
    "availability_zone": fields.nullable(fields.text()),
    "display_name": fields.nullable(fields.text()),
    "display_description": fields.nullable(fields.text()),
}
SNAPSHOT = {
    "volume_id": fields.text(1),
    "force": fields.boolean,
    "display_name": fields.nullable(fields.text()),
    "display_description": fields.nullable(fields.text()),
}
RENAMED = {"display_name": "name", "display_description": "description"}


def _volume_view(volume: Record) -> Record:
    attachments = [
        {
            "id": row["volume_id"],
            "volumeId": row["volume_id"],
            "serverId": row["server_id"],
            **({"device": row["device"]} if row["device"] else {}),
        }
        for row in volume["attachments"]
    ]
    return {
        "id": volume["id"],
        "status": volume["status"],
        "size": volume["size"],
        "availabilityZone": volume["availability_zone"],
        "createdAt": volume["created_at"],
        "attachments": attachments or [{}],
        "displayName": volume["name"],
        "displayDescription": volume["description"],
        "volumeType": volume["volume_type"],
        "snapshotId": volume["snapshot_id"],
        "metadata": volume["metadata"],
    }


def _snapshot_view(snapshot: Record) -> Record:
    return {
        "id": snapshot["id"],
        "status": snapshot["status"],
        "size": snapshot["size"],
        "createdAt": snapshot["created_at"],
        "displayName": snapshot["name"],
        "displayDescription": snapshot["description"],
        "volumeId": snapshot["volume_id"],
    }


def _routes(path: str, singular: str, checks: dict[str, fields.Check], required: tuple[str, ...], view: View) -> Routes:
    """The calls about a kind of Cinder's, below `path`.

    checks, required: the fields of a body that makes one, and those that it must have.
    """
    plural = f"{singular}s"

    def place(request: Request) -> str:
        return f"/volume/v3/{request.context.project}/{plural}"

    def index(records: Records, request: Request) -> Response:
        found = ask(records.cloud, request, "GET", f"{place(request)}/detail", query=request.query_string)
        return Response({plural: [view(row) for row in found[plural]]})

    def create(records: Records, request: Request) -> Response:
        given = request.object(singular)
        fields.check_fields(given, checks, required, singular, strict=False)
        wanted = {RENAMED.get(name, name): value for name, value in given.items()}
        made = ask(records.cloud, request, "POST", place(request), {singular: wanted})[singular]
        return show_one(records, request, made["id"])

    def show_one(records: Records, request: Request, key: str) -> Response:
        found = ask(records.cloud, request, "GET", f"{place(request)}/{key}")[singular]
        return Response({singular: view(found)})

    def show(records: Records, request: Request) -> Response:
        return show_one(records, request, request.vars["id"])

    def delete(records: Records, request: Request) -> Response:
        ask(records.cloud, request, "DELETE", f"{place(request)}/{request.vars['id']}")
        return Response(status=202)

    lists: dict[str, Handler] = {"GET": index}
    return {
        path: {**lists, "POST": create},
        f"{path}/detail": lists,
        f"{path}/{{id}}": {"GET": show, "DELETE": delete},
    }


VOLUME_PROXIES: Routes = {
    **_routes("/os-volumes", "volume", VOLUME, ("size",), _volume_view),
    **_routes("/os-snapshots", "snapshot", SNAPSHOT, ("volume_id",), _snapshot_view),
}
