"""Backups over HTTP."""

from __future__ import annotations

from openstack_emulator.core.actions import for_administrators, reset_status, status_among
from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.filters import project_rows
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.rules import visible
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.volume.records import Backup
from openstack_emulator.volume.routes.acting import Actions, act_by_policy
from openstack_emulator.volume.routes.bodies import FREE_TEXT, METADATA, NAMED, flag
from openstack_emulator.volume.routes.lists import list_response
from openstack_emulator.volume.routes.snapshots import FILTERS
from openstack_emulator.volume.rules.backups import BACKUP_STATUSES
from openstack_emulator.volume.rules.composition import BlockStorage
from openstack_emulator.volume.rules.inputs import NewBackup
from openstack_emulator.volume.views import backup_detail, backup_summary

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


def found(storage: BlockStorage, request: Request) -> Backup:
    """The backup the path names."""
    return visible(storage.backups.rows, request.context, request.vars["backup_id"])


def create(storage: BlockStorage, request: Request) -> Response:
    body = request.object("backup")
    check_fields(body, BACKUP, ("volume_id",), "backup", strict=request.version >= (3, 53))
    new = NewBackup(
        name=body.get("name"),
        description=body.get("description"),
        container=body.get("container"),
        availability_zone=body.get("availability_zone"),
        metadata=body.get("metadata"),
        snapshot_id=body.get("snapshot_id"),
        incremental=flag(body.get("incremental") or False, "incremental"),
        force=flag(body.get("force") or False, "force"),
    )
    volume = storage.volumes.find(request.context, body["volume_id"])
    backup = storage.backups.create(request.context, volume, new)
    return Response({"backup": backup_summary(request, backup)}, 202)


def index(storage: BlockStorage, request: Request) -> Response:
    rows = project_rows(storage.backups.rows, request)
    return list_response(request, "backups", rows, FILTERS, lambda row: backup_summary(request, row))


def detail(storage: BlockStorage, request: Request) -> Response:
    rows = project_rows(storage.backups.rows, request)
    return list_response(request, "backups", rows, FILTERS, lambda row: backup_detail(storage, request, row))


def show(storage: BlockStorage, request: Request) -> Response:
    return Response({"backup": backup_detail(storage, request, found(storage, request))})


def update(storage: BlockStorage, request: Request) -> Response:
    backup, body = found(storage, request), request.object("backup")
    if request.version < (3, 9):
        raise not_found("The resource could not be found.")
    checks = {**NAMED, "metadata": fields.nullable(METADATA)}
    check_fields(body, checks, where="backup", strict=request.version >= (3, 53))
    changes = {key: body[key] for key in ("name", "description", "metadata") if key in body}
    if not changes:
        raise bad_request("Missing required element 'name', 'description' or 'metadata' in request body.")
    storage.backups.rows.update(backup, **changes, updated_at=storage.backups.moment())
    return Response({"backup": backup_summary(request, backup)})


def delete(storage: BlockStorage, request: Request) -> Response:
    storage.backups.delete(found(storage, request))
    return Response(status=202)


def restore(storage: BlockStorage, request: Request) -> Response:
    backup, body = found(storage, request), request.object("restore")
    check_fields(body, {"volume_id": fields.nullable(fields.identifier), "name": FREE_TEXT}, where="restore")
    volume = storage.backups.restore(request.context, backup, body.get("volume_id"), body.get("name"))
    view = {"backup_id": backup.id, "volume_id": volume.id, "volume_name": volume.name}
    return Response({"restore": view}, 202)


def export_record(storage: BlockStorage, request: Request) -> Response:
    request.context.require()
    return Response({"backup-record": storage.backups.export(found(storage, request))})


def import_record(storage: BlockStorage, request: Request) -> Response:
    request.context.require()
    body = request.object("backup-record")
    needed = ("backup_service", "backup_url")
    check_fields(body, dict.fromkeys(needed, fields.text(1, 10**6)), needed, "backup-record")
    backup = storage.backups.import_record(request.context, body["backup_service"], body["backup_url"])
    return Response({"backup": backup_summary(request, backup)}, 201)


ACTIONS: Actions[Backup] = {
    "os-reset_status": reset_status(
        status_among("os-reset_status", BACKUP_STATUSES),
        lambda storage, backup, status: storage.backups.set_status(backup, status),
    ),
    "os-force_delete": for_administrators(lambda storage, backup: storage.backups.delete(backup, force=True)),
}


def act_on(storage: BlockStorage, request: Request) -> Response:
    return act_by_policy("backup", ACTIONS, storage, request, found(storage, request))
