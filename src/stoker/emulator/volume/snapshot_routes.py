"""Snapshots and backups over HTTP."""

from __future__ import annotations

from stoker.emulator.core.errors import bad_request, not_found
from stoker.emulator.core.http import Request, Response
from stoker.emulator.core.store import Record
from stoker.emulator.volume import fields
from stoker.emulator.volume.lists import contains, equal, holds, listing, project_rows
from stoker.emulator.volume.records import VolumeRecords
from stoker.emulator.volume.views import backup_detail, brief, created_snapshot, snapshot_detail
from stoker.emulator.volume.volume_routes import FREE_TEXT, METADATA
from stoker.emulator.volume.volumes import flag

UPDATABLE = {
    "name": FREE_TEXT,
    "description": FREE_TEXT,
    "display_name": FREE_TEXT,
    "display_description": FREE_TEXT,
}
SNAPSHOT = {
    **UPDATABLE,
    "volume_id": fields.nullable(fields.identifier),
    "force": fields.nullable(fields.boolean),
    "metadata": fields.nullable(METADATA),
}
BACKUP = {
    "volume_id": fields.identifier,
    "name": FREE_TEXT,
    "description": FREE_TEXT,
    "container": FREE_TEXT,
    "incremental": fields.nullable(fields.boolean),
    "force": fields.nullable(fields.boolean),
    "snapshot_id": fields.nullable(fields.identifier),
    "metadata": fields.nullable(METADATA),
    "availability_zone": FREE_TEXT,
}
FILTERS = {
    "name": equal("name"),
    "display_name": equal("name"),
    "name~": contains("name"),
    "status": equal("status"),
    "volume_id": equal("volume_id"),
    "id": equal("id"),
    "metadata": holds("metadata"),
}


def _snapshot(volumes: VolumeRecords, request: Request) -> Record:
    return volumes.visible(volumes.snapshots, request.context, request.vars["snapshot_id"])


def create_snapshot(volumes: VolumeRecords, request: Request) -> Response:
    wanted = request.object("snapshot")
    fields.check_fields(wanted, SNAPSHOT, ("volume_id",), "snapshot", strict=request.version >= (3, 53))
    wanted = {key.removeprefix("display_"): value for key, value in wanted.items()}
    always = request.version >= (3, 66)
    forced = flag(wanted.get("force") or False, "force")
    if always and wanted.get("force") is not None and not forced:
        raise bad_request("Invalid value for 'force': since microversion 3.66 a snapshot is always forced.")
    volume = volumes.volume_for(request.context, wanted["volume_id"] or "")
    snapshot = volumes.create_snapshot(request.context, volume, wanted, always or forced)
    return Response({"snapshot": created_snapshot(request, snapshot)}, 202)


def list_snapshots(volumes: VolumeRecords, request: Request) -> Response:
    rows = project_rows(volumes.snapshots, request)
    return listing(request, "snapshots", rows, FILTERS, lambda row: created_snapshot(request, row))


def list_snapshots_detail(volumes: VolumeRecords, request: Request) -> Response:
    rows = project_rows(volumes.snapshots, request)
    return listing(request, "snapshots", rows, FILTERS, lambda row: snapshot_detail(request, row))


def show_snapshot(volumes: VolumeRecords, request: Request) -> Response:
    return Response({"snapshot": snapshot_detail(request, _snapshot(volumes, request))})


def update_snapshot(volumes: VolumeRecords, request: Request) -> Response:
    snapshot = _snapshot(volumes, request)
    wanted = request.object("snapshot")
    fields.check_fields(wanted, UPDATABLE, where="snapshot", strict=request.version >= (3, 53))
    changes = {key.removeprefix("display_"): value for key, value in wanted.items() if key in UPDATABLE}
    volumes.snapshots.update(snapshot, **changes, updated_at=volumes.moment())
    return Response({"snapshot": created_snapshot(request, snapshot)})


def delete_snapshot(volumes: VolumeRecords, request: Request) -> Response:
    volumes.delete_snapshot(_snapshot(volumes, request))
    return Response(status=202)


def show_metadata(volumes: VolumeRecords, request: Request) -> Response:
    return Response({"metadata": _snapshot(volumes, request)["metadata"]})


def _set_metadata(volumes: VolumeRecords, snapshot: Record, metadata: dict[str, str]) -> Response:
    volumes.snapshots.update(snapshot, metadata=metadata, updated_at=volumes.moment())
    return Response({"metadata": metadata})


def _metadata(request: Request) -> dict[str, str]:
    metadata = request.object("metadata")
    fields.check_fields({"metadata": metadata}, {"metadata": METADATA})
    return metadata


def merge_metadata(volumes: VolumeRecords, request: Request) -> Response:
    snapshot = _snapshot(volumes, request)
    return _set_metadata(volumes, snapshot, {**snapshot["metadata"], **_metadata(request)})


def replace_metadata(volumes: VolumeRecords, request: Request) -> Response:
    return _set_metadata(volumes, _snapshot(volumes, request), _metadata(request))


def show_metadata_item(volumes: VolumeRecords, request: Request) -> Response:
    metadata, key = _snapshot(volumes, request)["metadata"], request.vars["key"]
    if key not in metadata:
        raise not_found(f"Metadata has no item with key {key}.")
    return Response({"meta": {key: metadata[key]}})


def set_metadata_item(volumes: VolumeRecords, request: Request) -> Response:
    snapshot, item = _snapshot(volumes, request), request.object("meta")
    fields.check_fields({"meta": item}, {"meta": METADATA})
    if list(item) != [request.vars["key"]]:
        raise bad_request("Request body and URI mismatch: the body must have the key of the URI and no other.")
    _set_metadata(volumes, snapshot, {**snapshot["metadata"], **item})
    return Response({"meta": item})


def delete_metadata_item(volumes: VolumeRecords, request: Request) -> Response:
    snapshot, key = _snapshot(volumes, request), request.vars["key"]
    if key not in snapshot["metadata"]:
        raise not_found(f"Metadata has no item with key {key}.")
    _set_metadata(volumes, snapshot, {k: value for k, value in snapshot["metadata"].items() if k != key})
    return Response(status=200)


def _backup(volumes: VolumeRecords, request: Request) -> Record:
    return volumes.visible(volumes.backups, request.context, request.vars["backup_id"])


def create_backup(volumes: VolumeRecords, request: Request) -> Response:
    wanted = request.object("backup")
    fields.check_fields(wanted, BACKUP, ("volume_id",), "backup", strict=request.version >= (3, 53))
    flags = {key: flag(wanted.get(key) or False, key) for key in ("incremental", "force")}
    volume = volumes.volume_for(request.context, wanted["volume_id"])
    backup = volumes.create_backup(request.context, volume, {**wanted, **flags})
    return Response({"backup": brief(request, "backups", backup)}, 202)


def list_backups(volumes: VolumeRecords, request: Request) -> Response:
    rows = project_rows(volumes.backups, request)
    return listing(request, "backups", rows, FILTERS, lambda row: brief(request, "backups", row))


def list_backups_detail(volumes: VolumeRecords, request: Request) -> Response:
    rows = project_rows(volumes.backups, request)
    return listing(request, "backups", rows, FILTERS, lambda row: backup_detail(volumes, request, row))


def show_backup(volumes: VolumeRecords, request: Request) -> Response:
    return Response({"backup": backup_detail(volumes, request, _backup(volumes, request))})


def update_backup(volumes: VolumeRecords, request: Request) -> Response:
    backup, wanted = _backup(volumes, request), request.object("backup")
    if request.version < (3, 9):
        raise not_found("The resource could not be found.")
    checks = {**UPDATABLE, "metadata": fields.nullable(METADATA)}
    fields.check_fields(wanted, checks, where="backup", strict=request.version >= (3, 53))
    changes = {key: wanted[key] for key in ("name", "description", "metadata") if key in wanted}
    if not changes:
        raise bad_request("Missing required element 'name', 'description' or 'metadata' in request body.")
    volumes.backups.update(backup, **changes, updated_at=volumes.moment())
    return Response({"backup": brief(request, "backups", backup)})


def delete_backup(volumes: VolumeRecords, request: Request) -> Response:
    volumes.delete_backup(_backup(volumes, request))
    return Response(status=202)


def restore_backup(volumes: VolumeRecords, request: Request) -> Response:
    backup, wanted = _backup(volumes, request), request.object("restore")
    fields.check_fields(wanted, {"volume_id": fields.nullable(fields.identifier), "name": FREE_TEXT}, where="restore")
    volume = volumes.restore_backup(request.context, backup, wanted.get("volume_id"), wanted.get("name"))
    view = {"backup_id": backup["id"], "volume_id": volume["id"], "volume_name": volume["name"]}
    return Response({"restore": view}, 202)


def export_backup(volumes: VolumeRecords, request: Request) -> Response:
    request.context.require()
    return Response({"backup-record": volumes.export_backup(_backup(volumes, request))})


def import_backup(volumes: VolumeRecords, request: Request) -> Response:
    request.context.require()
    wanted = request.object("backup-record")
    needed = ("backup_service", "backup_url")
    fields.check_fields(wanted, dict.fromkeys(needed, fields.text(1, 10**6)), needed, "backup-record")
    backup = volumes.import_backup(request.context, wanted["backup_service"], wanted["backup_url"])
    return Response({"backup": brief(request, "backups", backup)}, 201)
