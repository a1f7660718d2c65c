"""Snapshots and their metadata over HTTP."""

from __future__ import annotations

from openstack_emulator.core.actions import ACCEPTED, arguments_of, for_administrators, reset_status, status_among
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.filters import equal, holds, project_rows
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.metadata import Metadata
from openstack_emulator.core.rules import visible
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.volume.records import Snapshot
from openstack_emulator.volume.routes.acting import Actions, act_by_policy
from openstack_emulator.volume.routes.bodies import (
    METADATA,
    NAMED,
    NO_ITEM,
    OTHER_KEY,
    flag,
    renamed,
)
from openstack_emulator.volume.routes.lists import list_response
from openstack_emulator.volume.rules.composition import BlockStorage
from openstack_emulator.volume.rules.inputs import NewSnapshot
from openstack_emulator.volume.rules.snapshots import SNAPSHOT_STATUSES
from openstack_emulator.volume.views import created_snapshot, listed_snapshot, snapshot_detail

FORCE_REMOVED = (
    "Since microversion 3.66 the 'force' flag is invalid for this request.  For backward compatability, however, when "
    "the 'force' flag is passed with a value evaluating to True, it is silently ignored."
)
FORCE_IS_DEFAULT = (3, 66)
"""The microversion from which volumes in use have snapshots without `force`."""
SNAPSHOT = {
    **NAMED,
    "volume_id": fields.one_schema_of(fields.nullable(fields.identifier)),
    "force": fields.nullable(fields.boolean),
    "metadata": fields.nullable(METADATA),
}
FILTERS = {
    "name": equal("name"),
    "display_name": equal("name"),
    "status": equal("status"),
    "volume_id": equal("volume_id"),
    "id": equal("id"),
    "metadata": holds("metadata"),
}


def found(storage: BlockStorage, request: Request) -> Snapshot:
    """The snapshot the path names."""
    return visible(storage.snapshots.rows, request.context, request.vars["snapshot_id"])


def create(storage: BlockStorage, request: Request) -> Response:
    body = request.object("snapshot")
    check_fields(body, SNAPSHOT, ("volume_id",), "snapshot", strict=request.version >= (3, 53))
    always_forced = request.version >= FORCE_IS_DEFAULT
    forced = flag(body.get("force") or False, "force")
    if always_forced and body.get("force") is not None and not forced:
        raise bad_request(FORCE_REMOVED)
    volume = storage.volumes.find(request.context, body["volume_id"] or "")
    new = NewSnapshot(**renamed(body, NAMED), metadata=body.get("metadata"))
    snapshot = storage.snapshots.create(request.context, volume, new, always_forced or forced)
    return Response({"snapshot": created_snapshot(request, snapshot)}, 202)


def index(storage: BlockStorage, request: Request) -> Response:
    rows = project_rows(storage.snapshots.rows, request)
    return list_response(request, "snapshots", rows, FILTERS, listed_snapshot)


def detail(storage: BlockStorage, request: Request) -> Response:
    rows = project_rows(storage.snapshots.rows, request)
    return list_response(request, "snapshots", rows, FILTERS, lambda row: snapshot_detail(request, row))


def show(storage: BlockStorage, request: Request) -> Response:
    return Response({"snapshot": snapshot_detail(request, found(storage, request))})


def update(storage: BlockStorage, request: Request) -> Response:
    snapshot = found(storage, request)
    body = request.object("snapshot")
    check_fields(body, NAMED, where="snapshot", strict=request.version >= (3, 53))
    storage.snapshots.rows.update(snapshot, **renamed(body, NAMED), updated_at=storage.snapshots.moment())
    return Response({"snapshot": created_snapshot(request, snapshot)})


def delete(storage: BlockStorage, request: Request) -> Response:
    storage.snapshots.delete(found(storage, request))
    return Response(status=202)


def _metadata(storage: BlockStorage, request: Request) -> dict[str, str]:
    return found(storage, request).metadata


def _set_metadata(storage: BlockStorage, request: Request, metadata: dict[str, str]) -> None:
    snapshot = found(storage, request)
    snapshot.metadata, snapshot.updated_at = metadata, storage.snapshots.moment()
    storage.snapshots.rows.save(snapshot)


SNAPSHOT_METADATA = Metadata(_metadata, _set_metadata, METADATA, NO_ITEM, OTHER_KEY, 200)
SNAPSHOT_UPDATES = {
    "creating": ("creating", "available", "error"),
    "deleting": ("deleting", "error", "error_deleting"),
}
"""The statuses that the back end may set on a snapshot, by its present status."""


def _update_status(storage: BlockStorage, request: Request, snapshot: Snapshot, arguments: object) -> Response:
    checks = {"status": fields.text(1), "progress": fields.nullable(fields.text(pattern=r"(100|[0-9]{1,2})%?"))}
    body = arguments_of("os-update_snapshot_status", arguments, checks, ("status",))
    current, status = snapshot.status, body["status"]
    if status not in SNAPSHOT_UPDATES.get(current, ()):
        raise bad_request(f"Provided snapshot status {status} not allowed for snapshot with status {current}.")
    snapshot.status, snapshot.progress = status, body.get("progress") or snapshot.progress
    storage.snapshots.rows.save(snapshot)
    return Response(status=ACCEPTED)


ACTIONS: Actions[Snapshot] = {
    "os-reset_status": reset_status(
        status_among("os-reset_status", SNAPSHOT_STATUSES),
        lambda storage, snapshot, status: storage.snapshots.set_status(snapshot, status),
    ),
    "os-update_snapshot_status": _update_status,
    "os-force_delete": for_administrators(lambda storage, snapshot: storage.snapshots.delete(snapshot, force=True)),
    "os-unmanage": for_administrators(lambda storage, snapshot: storage.unmanaged.unmanage_snapshot(snapshot)),
}


def act_on(storage: BlockStorage, request: Request) -> Response:
    return act_by_policy("snapshot", ACTIONS, storage, request, found(storage, request))
