"""Snapshots and backups over HTTP."""

from __future__ import annotations

from openstack_emulator.core import fields
from openstack_emulator.core.component import visible
from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.filters import equal, holds, project_rows
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.metadata import Metadata
from openstack_emulator.core.store import Record
from openstack_emulator.volume.backups import Backups
from openstack_emulator.volume.lists import listing
from openstack_emulator.volume.snapshots import Snapshots
from openstack_emulator.volume.views import backup_detail, brief, created_snapshot, listed_snapshot, snapshot_detail
from openstack_emulator.volume.volume_routes import FREE_TEXT, METADATA, NO_ITEM, OTHER_KEY
from openstack_emulator.volume.volumes import flag

UPDATABLE = {
    "name": FREE_TEXT,
    "description": FREE_TEXT,
    "display_name": FREE_TEXT,
    "display_description": FREE_TEXT,
}
FORCED = (
    "Since microversion 3.66 the 'force' flag is invalid for this request.  For backward compatability, however, when "
    "the 'force' flag is passed with a value evaluating to True, it is silently ignored."
)
SNAPSHOT = {
    **UPDATABLE,
    "volume_id": fields.one_schema_of(fields.nullable(fields.identifier)),
    "force": fields.nullable(fields.boolean),
    "metadata": fields.nullable(METADATA),
}
BACKUP = {
    "volume_id": fields.one_schema_of(fields.identifier),
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
    "status": equal("status"),
    "volume_id": equal("volume_id"),
    "id": equal("id"),
    "metadata": holds("metadata"),
}


def _snapshot(snapshots: Snapshots, request: Request) -> Record:
    return visible(snapshots.rows, request.context, request.vars["snapshot_id"])


def create_snapshot(snapshots: Snapshots, request: Request) -> Response:
    wanted = request.object("snapshot")
    fields.check_fields(wanted, SNAPSHOT, ("volume_id",), "snapshot", strict=request.version >= (3, 53))
    wanted = {key.removeprefix("display_"): value for key, value in wanted.items()}
    always = request.version >= (3, 66)
    forced = flag(wanted.get("force") or False, "force")
    if always and wanted.get("force") is not None and not forced:
        raise bad_request(FORCED)
    volume = snapshots.volumes.find(request.context, wanted["volume_id"] or "")
    snapshot = snapshots.create(request.context, volume, wanted, always or forced)
    return Response({"snapshot": created_snapshot(request, snapshot)}, 202)


def list_snapshots(snapshots: Snapshots, request: Request) -> Response:
    rows = project_rows(snapshots.rows, request)
    return listing(request, "snapshots", rows, FILTERS, listed_snapshot)


def list_snapshots_detail(snapshots: Snapshots, request: Request) -> Response:
    rows = project_rows(snapshots.rows, request)
    return listing(request, "snapshots", rows, FILTERS, lambda row: snapshot_detail(request, row))


def show_snapshot(snapshots: Snapshots, request: Request) -> Response:
    return Response({"snapshot": snapshot_detail(request, _snapshot(snapshots, request))})


def update_snapshot(snapshots: Snapshots, request: Request) -> Response:
    snapshot = _snapshot(snapshots, request)
    wanted = request.object("snapshot")
    fields.check_fields(wanted, UPDATABLE, where="snapshot", strict=request.version >= (3, 53))
    changes = {key.removeprefix("display_"): value for key, value in wanted.items() if key in UPDATABLE}
    snapshots.rows.update(snapshot, **changes, updated_at=snapshots.moment())
    return Response({"snapshot": created_snapshot(request, snapshot)})


def delete_snapshot(snapshots: Snapshots, request: Request) -> Response:
    snapshots.delete(_snapshot(snapshots, request))
    return Response(status=202)


def _metadata(snapshots: Snapshots, request: Request) -> dict[str, str]:
    metadata: dict[str, str] = _snapshot(snapshots, request)["metadata"]
    return metadata


def _set_metadata(snapshots: Snapshots, request: Request, metadata: dict[str, str]) -> None:
    snapshots.rows.update(_snapshot(snapshots, request), metadata=metadata, updated_at=snapshots.moment())


SNAPSHOT_METADATA = Metadata(Snapshots, _metadata, _set_metadata, METADATA, NO_ITEM, OTHER_KEY, 200)


def _backup(backups: Backups, request: Request) -> Record:
    return visible(backups.rows, request.context, request.vars["backup_id"])


def create_backup(backups: Backups, request: Request) -> Response:
    wanted = request.object("backup")
    fields.check_fields(wanted, BACKUP, ("volume_id",), "backup", strict=request.version >= (3, 53))
    flags = {key: flag(wanted.get(key) or False, key) for key in ("incremental", "force")}
    volume = backups.volumes.find(request.context, wanted["volume_id"])
    backup = backups.create(request.context, volume, {**wanted, **flags})
    return Response({"backup": brief(request, "backups", backup)}, 202)


def list_backups(backups: Backups, request: Request) -> Response:
    rows = project_rows(backups.rows, request)
    return listing(request, "backups", rows, FILTERS, lambda row: brief(request, "backups", row))


def list_backups_detail(backups: Backups, request: Request) -> Response:
    rows = project_rows(backups.rows, request)
    return listing(request, "backups", rows, FILTERS, lambda row: backup_detail(backups, request, row))


def show_backup(backups: Backups, request: Request) -> Response:
    return Response({"backup": backup_detail(backups, request, _backup(backups, request))})


def update_backup(backups: Backups, request: Request) -> Response:
    backup, wanted = _backup(backups, request), request.object("backup")
    if request.version < (3, 9):
        raise not_found("The resource could not be found.")
    checks = {**UPDATABLE, "metadata": fields.nullable(METADATA)}
    fields.check_fields(wanted, checks, where="backup", strict=request.version >= (3, 53))
    changes = {key: wanted[key] for key in ("name", "description", "metadata") if key in wanted}
    if not changes:
        raise bad_request("Missing required element 'name', 'description' or 'metadata' in request body.")
    backups.rows.update(backup, **changes, updated_at=backups.moment())
    return Response({"backup": brief(request, "backups", backup)})


def delete_backup(backups: Backups, request: Request) -> Response:
    backups.delete(_backup(backups, request))
    return Response(status=202)


def restore_backup(backups: Backups, request: Request) -> Response:
    backup, wanted = _backup(backups, request), request.object("restore")
    fields.check_fields(wanted, {"volume_id": fields.nullable(fields.identifier), "name": FREE_TEXT}, where="restore")
    volume = backups.restore(request.context, backup, wanted.get("volume_id"), wanted.get("name"))
    view = {"backup_id": backup["id"], "volume_id": volume["id"], "volume_name": volume["name"]}
    return Response({"restore": view}, 202)


def export_backup(backups: Backups, request: Request) -> Response:
    request.context.require()
    return Response({"backup-record": backups.export(_backup(backups, request))})


def import_backup(backups: Backups, request: Request) -> Response:
    request.context.require()
    wanted = request.object("backup-record")
    needed = ("backup_service", "backup_url")
    fields.check_fields(wanted, dict.fromkeys(needed, fields.text(1, 10**6)), needed, "backup-record")
    backup = backups.import_record(request.context, wanted["backup_service"], wanted["backup_url"])
    return Response({"backup": brief(request, "backups", backup)}, 201)
