"""Volumes and their metadata over HTTP."""

from __future__ import annotations

from collections.abc import Iterable

from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.filters import equal, holds, project_rows
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.metadata import Metadata
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_boolean
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.volume.records import Volume
from openstack_emulator.volume.routes.bodies import FREE_TEXT, METADATA, NAMED, NO_ITEM, OTHER_KEY, renamed
from openstack_emulator.volume.routes.lists import list_response
from openstack_emulator.volume.rules.composition import BlockStorage
from openstack_emulator.volume.rules.inputs import NewVolume
from openstack_emulator.volume.views import created_volume, volume_detail, volume_encryption, volume_summary

IDENTIFIER = fields.one_schema_of(fields.nullable(fields.identifier))
READERS = frozenset({"reader", "member", "manager", "service"})
SOURCES = ("snapshot_id", "source_volid", "backup_id")
UNREADABLE = "The server could not comply with the request since it is either malformed or otherwise incorrect."
UPDATABLE = {**NAMED, "metadata": fields.nullable(METADATA)}
CREATABLE = {
    **UPDATABLE,
    "size": fields.nullable(fields.integer(1)),
    "availability_zone": FREE_TEXT,
    "volume_type": FREE_TEXT,
    "snapshot_id": IDENTIFIER,
    "source_volid": IDENTIFIER,
    "imageRef": FREE_TEXT,
    "image_id": FREE_TEXT,
    "backup_id": IDENTIFIER,
    "consistencygroup_id": IDENTIFIER,
    "multiattach": fields.nullable(fields.boolean),
    "group_id": IDENTIFIER,
}
FILTERS = {
    "name": equal("name"),
    "display_name": equal("name"),
    "status": equal("status"),
    "availability_zone": equal("availability_zone"),
    "bootable": equal("bootable"),
    "metadata": holds("metadata"),
    "id": equal("id"),
    "volume_type_id": equal("volume_type_id"),
    "source_volid": equal("source_volid"),
    "snapshot_id": equal("snapshot_id"),
    "group_id": equal("group_id"),
    "migration_status": equal("migration_status"),
}


def found(storage: BlockStorage, request: Request) -> Volume:
    """The volume the path names."""
    return storage.volumes.find(request.context, request.vars["volume_id"])


def create(storage: BlockStorage, request: Request) -> Response:
    body = request.object("volume")
    check_fields(body, CREATABLE, where="volume", strict=request.version >= (3, 53))
    if consistency_group := body.get("consistencygroup_id"):
        raise not_found(f"ConsistencyGroup {consistency_group} could not be found.")
    if as_boolean(body.get("multiattach", False)):
        raise bad_request("multiattach parameter has been removed. The default behavior is to use multiattach types.")
    if body.get("backup_id") and request.version < (3, 47):
        body = {key: value for key, value in body.items() if key != "backup_id"}
    if body.get("group_id") and request.version < (3, 13):
        body = {key: value for key, value in body.items() if key != "group_id"}
    if image_id := body.get("image_id"):
        body = {**body, "imageRef": image_id}
    hints = request.json.get("OS-SCH-HNT:scheduler_hints")
    if hints is not None:
        check_fields(hints, {}, where="OS-SCH-HNT:scheduler_hints", strict=False)
    if body.get("size") is None and not any(body.get(name) for name in SOURCES):
        raise bad_request(UNREADABLE)
    volume = storage.volumes.create(request.context, NewVolume.from_json(body, request.id))
    return Response({"volume": created_volume(storage, request, volume)}, 202)


def index(storage: BlockStorage, request: Request) -> Response:
    rows = project_rows(storage.volumes.rows, request)
    return list_response(request, "volumes", rows, FILTERS, lambda row: volume_summary(request, row))


def detail(storage: BlockStorage, request: Request) -> Response:
    rows = project_rows(storage.volumes.rows, request)
    return list_response(request, "volumes", rows, FILTERS, lambda row: volume_detail(storage, request, row))


def summary(storage: BlockStorage, request: Request) -> Response:
    rows = project_rows(storage.volumes.rows, request)
    totals = {"total_count": len(rows), "total_size": sum(row.size for row in rows)}
    metadata = {"metadata": _all_metadata(rows)} if request.version >= (3, 36) else {}
    return Response({"volume-summary": {**totals, **metadata}})


def _all_metadata(volumes: Iterable[Volume]) -> dict[str, list[str]]:
    """Each key of the volumes' metadata with all its values."""
    found: dict[str, dict[str, None]] = {}
    for volume in volumes:
        for key, value in volume.metadata.items():
            found.setdefault(key, {})[value] = None
    return {key: list(values) for key, values in found.items()}


def show(storage: BlockStorage, request: Request) -> Response:
    """A volume. For a caller who has no role that lets them read, there is none."""
    volume, context = found(storage, request), request.context
    if not (context.is_admin or context.roles & READERS):
        raise storage.volumes.rows.missing(volume.id)
    return Response({"volume": volume_detail(storage, request, volume)})


def update(storage: BlockStorage, request: Request) -> Response:
    volume = found(storage, request)
    body = request.object("volume")
    check_fields(body, UPDATABLE, where="volume", strict=request.version >= (3, 53))
    if not body and request.version >= (3, 53):
        raise bad_request(
            "Invalid input for field/attribute volume. Value: {}. {} is not valid under any of the given schemas"
        )
    changes = renamed(body, UPDATABLE)
    if changes.get("metadata", {}) is None:
        changes.pop("metadata")
    return Response({"volume": created_volume(storage, request, storage.volumes.update(volume, changes))})


def delete(storage: BlockStorage, request: Request) -> Response:
    volume = found(storage, request)
    force = request.version >= (3, 23) and bool(request.query.boolean("force"))
    if force:
        request.context.require()
    storage.volumes.delete(volume, bool(request.query.boolean("cascade")), force)
    return Response(status=202)


def _metadata(storage: BlockStorage, request: Request) -> dict[str, str]:
    return found(storage, request).metadata


def _set_metadata(storage: BlockStorage, request: Request, metadata: dict[str, str]) -> None:
    storage.volumes.set_metadata(found(storage, request), metadata)


VOLUME_METADATA = Metadata(_metadata, _set_metadata, METADATA, NO_ITEM, OTHER_KEY, 200)


def show_encryption(storage: BlockStorage, request: Request) -> Response:
    volume = found(storage, request)
    kind = storage.types.rows.require(volume.volume_type_id) if volume.encrypted else None
    return Response(volume_encryption(None if kind is None else kind.encryption))
