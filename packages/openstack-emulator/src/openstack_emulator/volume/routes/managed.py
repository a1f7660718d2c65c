"""Volumes and snapshots of the back end that Cinder is to manage, over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_boolean
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.volume.routes.bodies import FREE_TEXT, METADATA
from openstack_emulator.volume.routes.lists import list_response
from openstack_emulator.volume.rules.composition import BlockStorage
from openstack_emulator.volume.rules.constants import BACKEND_HOST, POOL
from openstack_emulator.volume.rules.inputs import NewSnapshot, NewVolume
from openstack_emulator.volume.rules.managed import Manageable
from openstack_emulator.volume.views import created_snapshot, manageable_detail, manageable_view, volume_detail

NAMED = {"name": FREE_TEXT, "description": FREE_TEXT, "metadata": fields.nullable(METADATA), "ref": fields.anything}
VOLUME = {
    **NAMED,
    "host": fields.text(1),
    "volume_type": FREE_TEXT,
    "availability_zone": FREE_TEXT,
    "bootable": fields.boolean,
}
SNAPSHOT = {**NAMED, "volume_id": fields.identifier}


def manage_volume(storage: BlockStorage, request: Request) -> Response:
    body = request.object("volume")
    check_fields(body, VOLUME, ("host", "ref"), "volume")
    new = NewVolume(
        name=body.get("name"),
        description=body.get("description"),
        volume_type=body.get("volume_type"),
        availability_zone=body.get("availability_zone"),
        metadata=body.get("metadata"),
        bootable=bool(as_boolean(body.get("bootable", False))),
    )
    volume = storage.unmanaged.manage_volume(request.context, body["host"], body["ref"], new)
    return Response({"volume": volume_detail(storage, request, volume)}, 202)


def manage_snapshot(storage: BlockStorage, request: Request) -> Response:
    body = request.object("snapshot")
    check_fields(body, SNAPSHOT, ("volume_id", "ref"), "snapshot")
    volume = storage.volumes.find(request.context, body["volume_id"])
    new = NewSnapshot(name=body.get("name"), description=body.get("description"), metadata=body.get("metadata"))
    snapshot = storage.unmanaged.manage_snapshot(request.context, volume, body["ref"], new)
    return Response({"snapshot": created_snapshot(request, snapshot)}, 202)


def _list(
    request: Request, plural: str, rows: Sequence[Manageable], view: Callable[[Manageable], dict[str, object]]
) -> Response:
    host = request.query.get("host")
    if host not in (POOL, BACKEND_HOST):
        raise bad_request(f"Host '{host}' not found: give it as host in the query.")
    return list_response(request, plural, rows, {}, view)


def list_volumes(storage: BlockStorage, request: Request) -> Response:
    return _list(request, "manageable-volumes", storage.unmanaged.manageable_volumes(), manageable_view)


def list_volumes_detail(storage: BlockStorage, request: Request) -> Response:
    return _list(request, "manageable-volumes", storage.unmanaged.manageable_volumes(), manageable_detail)


def list_snapshots(storage: BlockStorage, request: Request) -> Response:
    return _list(request, "manageable-snapshots", storage.unmanaged.manageable_snapshots(), manageable_view)


def list_snapshots_detail(storage: BlockStorage, request: Request) -> Response:
    return _list(request, "manageable-snapshots", storage.unmanaged.manageable_snapshots(), manageable_detail)
