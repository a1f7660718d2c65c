"""Volumes and snapshots of the back end that Cinder is to manage, over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from openstack_emulator.core import fields
from openstack_emulator.core.component import using
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.guards import admin, since
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.volume.lists import listing
from openstack_emulator.volume.managed import BackendObjects
from openstack_emulator.volume.tables import BACKEND_HOST, POOL
from openstack_emulator.volume.views import created_snapshot, volume_detail
from openstack_emulator.volume.volume_routes import FREE_TEXT, METADATA

Handle = Callable[[BackendObjects, Request], Response]
NAMED = {"name": FREE_TEXT, "description": FREE_TEXT, "metadata": fields.nullable(METADATA), "ref": fields.anything}
VOLUME = {
    **NAMED,
    "host": fields.text(1),
    "volume_type": FREE_TEXT,
    "availability_zone": FREE_TEXT,
    "bootable": fields.boolean,
}
SNAPSHOT = {**NAMED, "volume_id": fields.identifier}
BRIEF = ("reference", "size", "safe_to_manage", "source_reference")
DETAILS = (*BRIEF, "reason_not_safe", "cinder_id", "extra_info")


def manage_volume(objects: BackendObjects, request: Request) -> Response:
    wanted = request.object("volume")
    fields.check_fields(wanted, VOLUME, ("host", "ref"), "volume")
    volume = objects.manage_volume(request.context, wanted)
    return Response({"volume": volume_detail(objects.views, request, volume)}, 202)


def manage_snapshot(objects: BackendObjects, request: Request) -> Response:
    wanted = request.object("snapshot")
    fields.check_fields(wanted, SNAPSHOT, ("volume_id", "ref"), "snapshot")
    volume = objects.volumes.find(request.context, wanted["volume_id"])
    snapshot = objects.manage_snapshot(request.context, volume, wanted)
    return Response({"snapshot": created_snapshot(request, snapshot)}, 202)


def _list(request: Request, plural: str, rows: list[Record], shown: Sequence[str]) -> Response:
    host = request.query.get("host")
    if host not in (POOL, BACKEND_HOST):
        raise bad_request(f"Host '{host}' not found: give it as host in the query.")
    return listing(request, plural, rows, {}, lambda row: {key: row[key] for key in shown if key in row})


def list_volumes(objects: BackendObjects, request: Request) -> Response:
    return _list(request, "manageable-volumes", objects.manageable_volumes(), BRIEF)


def list_volumes_detail(objects: BackendObjects, request: Request) -> Response:
    return _list(request, "manageable-volumes", objects.manageable_volumes(), DETAILS)


def list_snapshots(objects: BackendObjects, request: Request) -> Response:
    return _list(request, "manageable-snapshots", objects.manageable_snapshots(), BRIEF)


def list_snapshots_detail(objects: BackendObjects, request: Request) -> Response:
    return _list(request, "manageable-snapshots", objects.manageable_snapshots(), DETAILS)


SINCE = (3, 8)
VOLUMES: dict[str, Handle] = {"GET": admin(since(SINCE, list_volumes)), "POST": admin(manage_volume)}
SNAPSHOTS: dict[str, Handle] = {"GET": admin(since(SINCE, list_snapshots)), "POST": admin(manage_snapshot)}
ROUTES = using(
    BackendObjects,
    {
        "/os-volume-manage": VOLUMES,
        "/os-volume-manage/detail": {"GET": admin(since(SINCE, list_volumes_detail))},
        "/os-snapshot-manage": SNAPSHOTS,
        "/os-snapshot-manage/detail": {"GET": admin(since(SINCE, list_snapshots_detail))},
        "/manageable_volumes": {name: since(SINCE, one) for name, one in VOLUMES.items()},
        "/manageable_volumes/detail": {"GET": admin(since(SINCE, list_volumes_detail))},
        "/manageable_snapshots": {name: since(SINCE, one) for name, one in SNAPSHOTS.items()},
        "/manageable_snapshots/detail": {"GET": admin(since(SINCE, list_snapshots_detail))},
    },
)
