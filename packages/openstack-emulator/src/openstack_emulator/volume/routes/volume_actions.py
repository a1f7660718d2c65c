"""`POST /volumes/{volume_id}/action`: the body's only key names the action, its value are the arguments."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.actions import ACCEPTED, argument_of, arguments_of, for_administrators
from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.volume.records import Volume
from openstack_emulator.volume.routes.acting import UNKNOWN, Actions, act_by_policy
from openstack_emulator.volume.routes.attachments import is_from_service
from openstack_emulator.volume.routes.bodies import flag
from openstack_emulator.volume.routes.volumes import found
from openstack_emulator.volume.rules.composition import BlockStorage
from openstack_emulator.volume.rules.inputs import NewImage
from openstack_emulator.volume.rules.volumes import STATUSES
from openstack_emulator.volume.views import uploaded_image


def attach(storage: BlockStorage, request: Request, volume: Volume, arguments: object) -> Response:
    checks = {
        "instance_uuid": fields.nullable(fields.identifier),
        "host_name": fields.nullable(fields.text()),
        "mountpoint": fields.text(1),
        "mode": fields.one_of("rw", "ro"),
    }
    body = arguments_of("os-attach", arguments, checks, ("mountpoint",))
    instance, host = body.get("instance_uuid"), body.get("host_name")
    if not instance and not host:
        raise bad_request("Invalid volume: an instance or a host to attach to must be given.")
    storage.attachments.attach(volume, instance, host, body["mountpoint"], body.get("mode", "rw"))
    return Response(status=ACCEPTED)


def _leave_to_nova(storage: BlockStorage, request: Request, volume: Volume, arguments: Any) -> None:
    """409 for users while Nova uses the attachments of the volume, or the one that is named."""
    attachment_id = (arguments or {}).get("attachment_id")
    if not is_from_service(storage.attachments.cloud, request):
        own = storage.attachments.rows.select(volume_id=volume.id)
        storage.attachments.refuse_behind_server([row for row in own if attachment_id in (None, row.id)])


def detach(storage: BlockStorage, request: Request, volume: Volume, arguments: Any) -> Response:
    _leave_to_nova(storage, request, volume, arguments)
    storage.attachments.detach(volume, (arguments or {}).get("attachment_id"))
    return Response(status=ACCEPTED)


def force_detach(storage: BlockStorage, request: Request, volume: Volume, arguments: Any) -> Response:
    request.context.require()
    _leave_to_nova(storage, request, volume, arguments)
    storage.attachments.detach(volume, (arguments or {}).get("attachment_id"), force=True)
    return Response(status=ACCEPTED)


def reserve(storage: BlockStorage, request: Request, volume: Volume, arguments: object) -> Response:
    storage.attachments.reserve(volume)
    return Response(status=ACCEPTED)


def unreserve(storage: BlockStorage, request: Request, volume: Volume, arguments: object) -> Response:
    storage.attachments.unreserve(volume)
    return Response(status=ACCEPTED)


def begin_detaching(storage: BlockStorage, request: Request, volume: Volume, arguments: object) -> Response:
    storage.attachments.begin_detaching(volume)
    return Response(status=ACCEPTED)


def roll_detaching(storage: BlockStorage, request: Request, volume: Volume, arguments: object) -> Response:
    storage.attachments.roll_detaching(volume)
    return Response(status=ACCEPTED)


def initialize_connection(storage: BlockStorage, request: Request, volume: Volume, arguments: object) -> Response:
    argument_of("os-initialize_connection", arguments, "connector", fields.anything)
    connection = storage.attachments.connection_info(volume)
    return Response({"connection_info": {"driver_volume_type": connection.driver, "data": connection.data}})


def terminate_connection(storage: BlockStorage, request: Request, volume: Volume, arguments: object) -> Response:
    argument_of("os-terminate_connection", arguments, "connector", fields.anything)
    _leave_to_nova(storage, request, volume, {})
    return Response(status=ACCEPTED)


def extend(storage: BlockStorage, request: Request, volume: Volume, arguments: Any) -> Response:
    new_size = int(argument_of("os-extend", arguments, "new_size", fields.integer(1)))
    storage.changes.extend(volume, new_size, request.version >= (3, 42))
    return Response(status=ACCEPTED)


def retype(storage: BlockStorage, request: Request, volume: Volume, arguments: object) -> Response:
    checks = {"new_type": fields.text(1), "migration_policy": fields.nullable(fields.one_of("never", "on-demand"))}
    body = arguments_of("os-retype", arguments, checks, ("new_type",))
    storage.changes.retype(request.context, volume, body["new_type"])
    return Response(status=ACCEPTED)


def set_readonly(storage: BlockStorage, request: Request, volume: Volume, arguments: object) -> Response:
    readonly = argument_of("os-update_readonly_flag", arguments, "readonly", fields.boolean)
    if volume.status != "available":
        raise bad_request(
            f"Invalid volume: Volume {volume.id} status must be available to update readonly flag, "
            f"but current status is: {volume.status}."
        )
    storage.volumes.set_metadata(volume, {**volume.metadata, "readonly": str(flag(readonly, "readonly"))})
    return Response(status=ACCEPTED)


def set_bootable(storage: BlockStorage, request: Request, volume: Volume, arguments: object) -> Response:
    bootable = flag(argument_of("os-set_bootable", arguments, "bootable", fields.boolean), "bootable")
    storage.volumes.update(volume, {"bootable": bootable})
    return Response(status=200)


def reset_volume(storage: BlockStorage, request: Request, volume: Volume, arguments: object) -> Response:
    request.context.require()
    checks = {
        "status": fields.text(),
        "attach_status": fields.nullable(fields.one_of("attached", "detached")),
        "migration_status": fields.nullable(fields.text()),
    }
    body = arguments_of("os-reset_status", arguments, checks)
    if not body:
        raise bad_request("Must specify 'status', 'attach_status' or 'migration_status' for update.")
    status = body.get("status")
    if status is not None and status not in STATUSES:
        raise bad_request(f"Volume status: {status} is invalid, valid statuses are: {STATUSES}.")
    storage.changes.reset(volume, body)
    return Response(status=ACCEPTED)


def migrate(storage: BlockStorage, request: Request, volume: Volume, arguments: Any) -> Response:
    request.context.require()
    check_fields(arguments, {"host": fields.text(1)}, ("host",), "os-migrate_volume", strict=False)
    storage.changes.migrate(volume, arguments["host"])
    return Response(status=ACCEPTED)


def upload_image(storage: BlockStorage, request: Request, volume: Volume, arguments: object) -> Response:
    checks = {
        "image_name": fields.text(1),
        "force": fields.boolean,
        "container_format": fields.nullable(fields.text()),
        "disk_format": fields.nullable(fields.text()),
        "visibility": fields.nullable(fields.one_of("public", "private", "shared", "community")),
        "protected": fields.boolean,
    }
    body = arguments_of("os-volume_upload_image", arguments, checks, ("image_name",))
    previous = volume.updated_at
    new = NewImage(
        name=body["image_name"],
        force=flag(body.get("force", False), "force"),
        container_format=body.get("container_format"),
        disk_format=body.get("disk_format"),
        visibility=body.get("visibility"),
    )
    image = storage.changes.upload_to_image(volume, new)
    kind = storage.types.rows.require(volume.volume_type_id)
    return Response({"os-volume_upload_image": uploaded_image(request, volume, kind, image, previous)}, ACCEPTED)


def revert(storage: BlockStorage, request: Request, volume: Volume, arguments: object) -> Response:
    if request.version < (3, 40):
        raise bad_request(UNKNOWN.format(name="revert"))
    snapshot_id = argument_of("revert", arguments, "snapshot_id", fields.identifier)
    storage.snapshots.revert_volume(volume, snapshot_id)
    return Response(status=ACCEPTED)


def set_image_metadata(storage: BlockStorage, request: Request, volume: Volume, arguments: object) -> Response:
    more = argument_of("os-set_image_metadata", arguments, "metadata", fields.text_map())
    metadata = {**volume.image_metadata, **more}
    storage.volumes.update(volume, {"image_metadata": metadata})
    return Response({"metadata": metadata})


def unset_image_metadata(storage: BlockStorage, request: Request, volume: Volume, arguments: object) -> Response:
    key = argument_of("os-unset_image_metadata", arguments, "key", fields.text(1))
    if key not in volume.image_metadata:
        raise not_found("Metadata does not exist.")
    remaining = {name: value for name, value in volume.image_metadata.items() if name != key}
    storage.volumes.update(volume, {"image_metadata": remaining})
    return Response(status=200)


def show_image_metadata(storage: BlockStorage, request: Request, volume: Volume, arguments: object) -> Response:
    return Response({"metadata": volume.image_metadata})


ACTIONS: Actions[Volume] = {
    "os-attach": attach,
    "os-detach": detach,
    "os-force_detach": force_detach,
    "os-reserve": reserve,
    "os-unreserve": unreserve,
    "os-begin_detaching": begin_detaching,
    "os-roll_detaching": roll_detaching,
    "os-initialize_connection": initialize_connection,
    "os-terminate_connection": terminate_connection,
    "os-extend": extend,
    "os-retype": retype,
    "os-update_readonly_flag": set_readonly,
    "os-set_bootable": set_bootable,
    "os-reset_status": reset_volume,
    "os-force_delete": for_administrators(lambda storage, volume: storage.volumes.delete(volume, force=True)),
    "os-unmanage": for_administrators(lambda storage, volume: storage.unmanaged.unmanage_volume(volume)),
    "os-migrate_volume": migrate,
    "os-volume_upload_image": upload_image,
    "os-set_image_metadata": set_image_metadata,
    "os-unset_image_metadata": unset_image_metadata,
    "os-show_image_metadata": show_image_metadata,
    "revert": revert,
}


def act_on(storage: BlockStorage, request: Request) -> Response:
    return act_by_policy("volume", ACTIONS, storage, request, found(storage, request))
