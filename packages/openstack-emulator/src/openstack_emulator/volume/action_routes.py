"""`POST …/action`: the body's only key names the action, its value are the arguments."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.actions import Actions, act
from openstack_emulator.core.component import on, visible
from openstack_emulator.core.errors import RolesLacking, bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.volume.attachment_routes import from_service
from openstack_emulator.volume.attachments import Attachments
from openstack_emulator.volume.backups import BACKUP_STATUSES, Backups
from openstack_emulator.volume.changes import VolumeChanges
from openstack_emulator.volume.managed import BackendObjects
from openstack_emulator.volume.records import VolumeRecords
from openstack_emulator.volume.snapshots import SNAPSHOT_STATUSES, Snapshots
from openstack_emulator.volume.volumes import STATUSES, Volumes, flag

SNAPSHOT_UPDATES = {
    "creating": ("creating", "available", "error"),
    "deleting": ("deleting", "error", "error_deleting"),
}
"""The statuses that the back end may set on a snapshot, by its present status."""
ACCEPTED = 202
UNKNOWN = "There is no such action: {name}. Verify the request body and Content-Type header and try again."
REFUSAL = "Policy doesn't allow volume_extension:{kind}_admin_actions:{rule} to be performed."
RULES = {"os-reset_status": "reset_status", "os-force_delete": "force_delete", "os-force_detach": "force_detach"}
"""Action → name of the policy rule that lets administrators do it, for volumes, snapshots and backups."""


def _act(kind: str, actions: Actions, storage: VolumeRecords, request: Request, record: Record) -> Response:
    """Do what the body names; the error for a caller who must not names the policy rule."""
    try:
        return act(actions, storage, request, record, UNKNOWN)
    except RolesLacking as error:
        rule = next((RULES[name] for name in request.json if name in RULES), None)
        if rule is not None:
            error.message = REFUSAL.format(kind=kind, rule=rule)
        raise


def _arguments(name: str, arguments: Any, checks: dict[str, fields.Check], required: tuple[str, ...] = ()) -> Record:
    fields.check_fields(arguments, checks, required, name)
    return dict(arguments)


def attach(attachments: Attachments, request: Request, volume: Record, arguments: Any) -> Response:
    checks = {
        "instance_uuid": fields.nullable(fields.identifier),
        "host_name": fields.nullable(fields.text()),
        "mountpoint": fields.text(1),
        "mode": fields.one_of("rw", "ro"),
    }
    wanted = _arguments("os-attach", arguments, checks, ("mountpoint",))
    if not wanted.get("instance_uuid") and not wanted.get("host_name"):
        raise bad_request("Invalid volume: an instance or a host to attach to must be given.")
    attachments.attach(request.context, volume, wanted)
    return Response(status=ACCEPTED)


def _leave_to_nova(attachments: Attachments, request: Request, volume: Record, arguments: Any) -> None:
    """409 for users while Nova uses the attachments of the volume, or the one that is named."""
    asked = (arguments or {}).get("attachment_id")
    if not from_service(attachments.cloud, request):
        own = attachments.rows.select(volume_id=volume["id"])
        attachments.refuse_behind_server([row for row in own if asked in (None, row["id"])])


def detach(attachments: Attachments, request: Request, volume: Record, arguments: Any) -> Response:
    _leave_to_nova(attachments, request, volume, arguments)
    attachments.detach(volume, (arguments or {}).get("attachment_id"))
    return Response(status=ACCEPTED)


def force_detach(attachments: Attachments, request: Request, volume: Record, arguments: Any) -> Response:
    request.context.require()
    _leave_to_nova(attachments, request, volume, arguments)
    attachments.detach(volume, (arguments or {}).get("attachment_id"), force=True)
    return Response(status=ACCEPTED)


def reserve(attachments: Attachments, request: Request, volume: Record, arguments: Any) -> Response:
    attachments.reserve(volume)
    return Response(status=ACCEPTED)


def unreserve(attachments: Attachments, request: Request, volume: Record, arguments: Any) -> Response:
    attachments.unreserve(volume)
    return Response(status=ACCEPTED)


def begin_detaching(attachments: Attachments, request: Request, volume: Record, arguments: Any) -> Response:
    attachments.begin_detaching(volume)
    return Response(status=ACCEPTED)


def roll_detaching(attachments: Attachments, request: Request, volume: Record, arguments: Any) -> Response:
    attachments.roll_detaching(volume)
    return Response(status=ACCEPTED)


def initialize_connection(attachments: Attachments, request: Request, volume: Record, arguments: Any) -> Response:
    wanted = _arguments("os-initialize_connection", arguments, {"connector": fields.anything}, ("connector",))
    return Response({"connection_info": attachments.connection_info(volume, wanted["connector"])})


def terminate_connection(attachments: Attachments, request: Request, volume: Record, arguments: Any) -> Response:
    _arguments("os-terminate_connection", arguments, {"connector": fields.anything}, ("connector",))
    _leave_to_nova(attachments, request, volume, {})
    return Response(status=ACCEPTED)


def extend(changes: VolumeChanges, request: Request, volume: Record, arguments: Any) -> Response:
    wanted = _arguments("os-extend", arguments, {"new_size": fields.integer(1)}, ("new_size",))
    changes.extend(volume, int(wanted["new_size"]), request.version >= (3, 42))
    return Response(status=ACCEPTED)


def retype(changes: VolumeChanges, request: Request, volume: Record, arguments: Any) -> Response:
    checks = {"new_type": fields.text(1), "migration_policy": fields.nullable(fields.one_of("never", "on-demand"))}
    wanted = _arguments("os-retype", arguments, checks, ("new_type",))
    changes.retype(request.context, volume, wanted["new_type"])
    return Response(status=ACCEPTED)


def set_readonly(volumes: Volumes, request: Request, volume: Record, arguments: Any) -> Response:
    wanted = _arguments("os-update_readonly_flag", arguments, {"readonly": fields.boolean}, ("readonly",))
    if volume["status"] != "available":
        raise bad_request(
            f"Invalid volume: Volume {volume['id']} status must be available to update readonly flag, "
            f"but current status is: {volume['status']}."
        )
    readonly = str(flag(wanted["readonly"], "readonly"))
    volumes.set_metadata(volume, {**volume["metadata"], "readonly": readonly})
    return Response(status=ACCEPTED)


def set_bootable(volumes: Volumes, request: Request, volume: Record, arguments: Any) -> Response:
    wanted = _arguments("os-set_bootable", arguments, {"bootable": fields.boolean}, ("bootable",))
    volumes.update(volume, {"bootable": flag(wanted["bootable"], "bootable")})
    return Response(status=200)


def reset_volume(attachments: Attachments, request: Request, volume: Record, arguments: Any) -> Response:
    request.context.require()
    checks = {
        "status": fields.text(),
        "attach_status": fields.nullable(fields.one_of("attached", "detached")),
        "migration_status": fields.nullable(fields.text()),
    }
    wanted = _arguments("os-reset_status", arguments, checks)
    if not wanted:
        raise bad_request("Must specify 'status', 'attach_status' or 'migration_status' for update.")
    changes = {"status": wanted["status"]} if "status" in wanted else {}
    if changes and wanted["status"] not in STATUSES:
        raise bad_request(f"Volume status: {wanted['status']} is invalid, valid statuses are: {STATUSES}.")
    if "migration_status" in wanted:
        changes["migration_status"] = None if wanted["migration_status"] == "none" else wanted["migration_status"]
    if wanted.get("attach_status") == "detached":
        for attachment in attachments.rows.select(volume_id=volume["id"]):
            attachments.rows.remove(attachment)
    attachments.volumes.update(volume, changes)
    return Response(status=ACCEPTED)


def force_delete(volumes: Volumes, request: Request, volume: Record, arguments: Any) -> Response:
    request.context.require()
    volumes.delete(volume, force=True)
    return Response(status=ACCEPTED)


def unmanage(objects: BackendObjects, request: Request, volume: Record, arguments: Any) -> Response:
    request.context.require()
    objects.unmanage_volume(volume)
    return Response(status=ACCEPTED)


def migrate(changes: VolumeChanges, request: Request, volume: Record, arguments: Any) -> Response:
    request.context.require()
    fields.check_fields(arguments, {"host": fields.text(1)}, ("host",), "os-migrate_volume", strict=False)
    changes.migrate(volume, arguments["host"])
    return Response(status=ACCEPTED)


def upload_image(changes: VolumeChanges, request: Request, volume: Record, arguments: Any) -> Response:
    checks = {
        "image_name": fields.text(1),
        "force": fields.boolean,
        "container_format": fields.nullable(fields.text()),
        "disk_format": fields.nullable(fields.text()),
        "visibility": fields.nullable(fields.one_of("public", "private", "shared", "community")),
        "protected": fields.boolean,
    }
    wanted = _arguments("os-volume_upload_image", arguments, checks, ("image_name",))
    previous = volume["updated_at"]
    image = changes.upload_to_image(volume, wanted, flag(wanted.get("force", False), "force"))
    kind = changes.volumes.types.rows.require(volume["volume_type_id"])
    view = {
        "id": volume["id"],
        "image_id": image["id"],
        "image_name": image["name"],
        "container_format": image["container_format"],
        "disk_format": image["disk_format"],
        "display_description": volume["description"],
        "size": volume["size"],
        "status": volume["status"],
        "updated_at": previous,
        "volume_type": {key: kind[key] for key in ("id", "name", "description", "is_public", "extra_specs")},
    }
    if request.version >= (3, 1):
        view |= {"visibility": image["visibility"], "protected": image["protected"]}
    return Response({"os-volume_upload_image": view}, ACCEPTED)


def revert(snapshots: Snapshots, request: Request, volume: Record, arguments: Any) -> Response:
    if request.version < (3, 40):
        raise bad_request(UNKNOWN.format(name="revert"))
    wanted = _arguments("revert", arguments, {"snapshot_id": fields.identifier}, ("snapshot_id",))
    snapshots.revert_volume(volume, wanted["snapshot_id"])
    return Response(status=ACCEPTED)


def set_image_metadata(volumes: Volumes, request: Request, volume: Record, arguments: Any) -> Response:
    wanted = _arguments("os-set_image_metadata", arguments, {"metadata": fields.text_map()}, ("metadata",))
    metadata = {**volume["image_metadata"], **wanted["metadata"]}
    volumes.update(volume, {"image_metadata": metadata})
    return Response({"metadata": metadata})


def unset_image_metadata(volumes: Volumes, request: Request, volume: Record, arguments: Any) -> Response:
    key = _arguments("os-unset_image_metadata", arguments, {"key": fields.text(1)}, ("key",))["key"]
    if key not in volume["image_metadata"]:
        raise not_found("Metadata does not exist.")
    kept = {name: value for name, value in volume["image_metadata"].items() if name != key}
    volumes.update(volume, {"image_metadata": kept})
    return Response(status=200)


def show_image_metadata(volumes: Volumes, request: Request, volume: Record, arguments: Any) -> Response:
    return Response({"metadata": volume["image_metadata"]})


VOLUME_ACTIONS: Actions = {
    "os-attach": on(Attachments, attach),
    "os-detach": on(Attachments, detach),
    "os-force_detach": on(Attachments, force_detach),
    "os-reserve": on(Attachments, reserve),
    "os-unreserve": on(Attachments, unreserve),
    "os-begin_detaching": on(Attachments, begin_detaching),
    "os-roll_detaching": on(Attachments, roll_detaching),
    "os-initialize_connection": on(Attachments, initialize_connection),
    "os-terminate_connection": on(Attachments, terminate_connection),
    "os-extend": on(VolumeChanges, extend),
    "os-retype": on(VolumeChanges, retype),
    "os-update_readonly_flag": on(Volumes, set_readonly),
    "os-set_bootable": on(Volumes, set_bootable),
    "os-reset_status": on(Attachments, reset_volume),
    "os-force_delete": on(Volumes, force_delete),
    "os-unmanage": on(BackendObjects, unmanage),
    "os-migrate_volume": on(VolumeChanges, migrate),
    "os-volume_upload_image": on(VolumeChanges, upload_image),
    "os-set_image_metadata": on(Volumes, set_image_metadata),
    "os-unset_image_metadata": on(Volumes, unset_image_metadata),
    "os-show_image_metadata": on(Volumes, show_image_metadata),
    "revert": on(Snapshots, revert),
}


def volume_action(storage: VolumeRecords, request: Request) -> Response:
    return _act(
        "volume", VOLUME_ACTIONS, storage, request, storage.volumes.find(request.context, request.vars["volume_id"])
    )


def status_of(name: str, arguments: Any, statuses: tuple[str, ...]) -> str:
    """The status that the arguments `{"status": …}` of an action name; 400 for one that is none."""
    status: str = _arguments(name, arguments, {"status": fields.one_of(*statuses)}, ("status",))["status"]
    return status


def reset_snapshot(snapshots: Snapshots, request: Request, snapshot: Record, arguments: Any) -> Response:
    request.context.require()
    snapshots.rows.update(snapshot, status=status_of("os-reset_status", arguments, SNAPSHOT_STATUSES))
    return Response(status=ACCEPTED)


def update_snapshot_status(snapshots: Snapshots, request: Request, snapshot: Record, arguments: Any) -> Response:
    checks = {"status": fields.text(1), "progress": fields.nullable(fields.text(pattern=r"(100|[0-9]{1,2})%?"))}
    wanted = _arguments("os-update_snapshot_status", arguments, checks, ("status",))
    current, asked = snapshot["status"], wanted["status"]
    if asked not in SNAPSHOT_UPDATES.get(current, ()):
        raise bad_request(f"Provided snapshot status {asked} not allowed for snapshot with status {current}.")
    snapshots.rows.update(snapshot, status=asked, progress=wanted.get("progress") or snapshot["progress"])
    return Response(status=ACCEPTED)


def unmanage_snapshot(objects: BackendObjects, request: Request, snapshot: Record, arguments: Any) -> Response:
    request.context.require()
    objects.unmanage_snapshot(snapshot)
    return Response(status=ACCEPTED)


def force_delete_snapshot(snapshots: Snapshots, request: Request, snapshot: Record, arguments: Any) -> Response:
    request.context.require()
    snapshots.delete(snapshot, force=True)
    return Response(status=ACCEPTED)


SNAPSHOT_ACTIONS: Actions = {
    "os-reset_status": on(Snapshots, reset_snapshot),
    "os-update_snapshot_status": on(Snapshots, update_snapshot_status),
    "os-force_delete": on(Snapshots, force_delete_snapshot),
    "os-unmanage": on(BackendObjects, unmanage_snapshot),
}


def snapshot_action(storage: VolumeRecords, request: Request) -> Response:
    snapshot = visible(storage.snapshots.rows, request.context, request.vars["snapshot_id"])
    return _act("snapshot", SNAPSHOT_ACTIONS, storage, request, snapshot)


def reset_backup(backups: Backups, request: Request, backup: Record, arguments: Any) -> Response:
    request.context.require()
    backups.rows.update(backup, status=status_of("os-reset_status", arguments, BACKUP_STATUSES))
    return Response(status=ACCEPTED)


def force_delete_backup(backups: Backups, request: Request, backup: Record, arguments: Any) -> Response:
    request.context.require()
    backups.delete(backup, force=True)
    return Response(status=ACCEPTED)


BACKUP_ACTIONS: Actions = {
    "os-reset_status": on(Backups, reset_backup),
    "os-force_delete": on(Backups, force_delete_backup),
}


def backup_action(storage: VolumeRecords, request: Request) -> Response:
    backup = visible(storage.component(Backups).rows, request.context, request.vars["backup_id"])
    return _act("backup", BACKUP_ACTIONS, storage, request, backup)


def complete_attachment(attachments: Attachments, request: Request, attachment: Record, arguments: Any) -> Response:
    attachments.complete(attachment)
    return Response(status=204)


ATTACHMENT_ACTIONS: Actions = {"os-complete": on(Attachments, complete_attachment)}


def attachment_action(storage: VolumeRecords, request: Request) -> Response:
    if request.version < (3, 44):
        raise not_found("The resource could not be found.")
    attachment = storage.attachments.find(request.context, request.vars["attachment_id"])
    return act(ATTACHMENT_ACTIONS, storage, request, attachment)
