"""Records of the block-storage service as clients see them, by microversion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import NAMESPACE_DNS, uuid5

from openstack_emulator.core.http import Request
from openstack_emulator.core.typed import TypedRecord
from openstack_emulator.image.records import Image
from openstack_emulator.volume.records import (
    Attachment,
    Backup,
    Encryption,
    Group,
    GroupSnapshot,
    GroupType,
    Message,
    Qos,
    ServiceProcess,
    Snapshot,
    Transfer,
    Volume,
    VolumeType,
)
from openstack_emulator.volume.rules.composition import BlockStorage
from openstack_emulator.volume.rules.constants import POOL
from openstack_emulator.volume.rules.managed import Manageable

SERVICE_ID = str(uuid5(NAMESPACE_DNS, POOL))
"""The ID of the one service that has all volumes."""
Json = dict[str, Any]


def shown(record: TypedRecord, fields: Iterable[str]) -> Json:
    """Fields of a record under the names under which it is stored."""
    return {name: record.get(name) for name in fields}


def links(request: Request, kind: str, record: TypedRecord) -> list[dict[str, str]]:
    """The `self` and `bookmark` links of a record."""
    project = request.context.project_id
    return [
        {"rel": "self", "href": f"{request.base}/v3/{project}/{kind}/{record.id}"},
        {"rel": "bookmark", "href": f"{request.base}/{project}/{kind}/{record.id}"},
    ]


def volume_summary(request: Request, volume: Volume) -> Json:
    """A volume as an entry of a list without details."""
    return {"id": volume.id, "name": volume.name, "links": links(request, "volumes", volume)}


def created_volume(storage: BlockStorage, request: Request, volume: Volume) -> Json:
    """A volume as its creation and change answer it."""
    kind = storage.types.rows.get(volume.volume_type_id)
    attached = storage.attachments.rows.select(volume_id=volume.id, status="attached")
    view = {
        "id": volume.id,
        "name": volume.name,
        "description": volume.description,
        "status": volume.status,
        "size": volume.size,
        "availability_zone": volume.availability_zone,
        "created_at": volume.created_at,
        "updated_at": volume.updated_at,
        "attachments": [_attachment_of_volume(request, row) for row in attached],
        "volume_type": None if kind is None else kind.name,
        "snapshot_id": volume.snapshot_id,
        "source_volid": volume.source_volid,
        "metadata": volume.metadata,
        "links": links(request, "volumes", volume),
        "user_id": volume.user_id,
        "bootable": str(volume.bootable).lower(),
        "encrypted": volume.encrypted,
        "replication_status": None,
        "consistencygroup_id": None,
        "multiattach": volume.multiattach,
    }
    is_admin, version = request.context.is_admin, request.version
    if is_admin:
        view |= {"migration_status": volume.migration_status}
    if version >= (3, 13):
        view |= {"group_id": volume.group_id}
    if version >= (3, 21) and is_admin:
        view |= {"provider_id": None}
    if version >= (3, 48):
        scheduled = volume.status != "creating"
        view |= {"service_uuid": SERVICE_ID if scheduled else None, "shared_targets": not scheduled}
    if version >= (3, 61) and is_admin:
        view |= {"cluster_name": None}
    if version >= (3, 63):
        view |= {"volume_type_id": volume.volume_type_id}
    if version >= (3, 65):
        view |= {"consumes_quota": True}
    return view


def _attachment_of_volume(request: Request, attachment: Attachment) -> Json:
    return {
        "id": attachment.volume_id,
        "attachment_id": attachment.id,
        "volume_id": attachment.volume_id,
        "server_id": attachment.instance,
        "host_name": attachment.host_name if request.context.is_admin else None,
        "device": attachment.device,
        "attached_at": attachment.attached_at,
    }


def volume_detail(storage: BlockStorage, request: Request, volume: Volume) -> Json:
    """A volume in full."""
    view = created_volume(storage, request, volume) | {"os-vol-tenant-attr:tenant_id": volume.project_id}
    if request.context.is_admin:
        view |= {
            "os-vol-host-attr:host": None if volume.status == "creating" else POOL,
            "os-vol-mig-status-attr:migstat": volume.migration_status,
            "os-vol-mig-status-attr:name_id": None,
        }
    if volume.image_metadata:
        view |= {"volume_image_metadata": volume.image_metadata}
    return view


def uploaded_image(request: Request, volume: Volume, kind: VolumeType, image: Image, updated: object) -> Json:
    """An image that is made of a volume.

    updated: when the volume was updated before that.
    """
    view = {
        "id": volume.id,
        "image_id": image.id,
        "image_name": image.name,
        "container_format": image.container_format,
        "disk_format": image.disk_format,
        "display_description": volume.description,
        "size": volume.size,
        "status": volume.status,
        "updated_at": updated,
        "volume_type": shown(kind, ("id", "name", "description", "is_public", "extra_specs")),
    }
    if request.version >= (3, 1):
        view |= {"visibility": image.visibility, "protected": image.protected}
    return view


SNAPSHOT = ("id", "name", "description", "status", "size", "volume_id", "metadata", "created_at", "updated_at")


def listed_snapshot(snapshot: Snapshot) -> Json:
    """A snapshot as an entry of a list without details."""
    return shown(snapshot, SNAPSHOT)


def created_snapshot(request: Request, snapshot: Snapshot) -> Json:
    """A snapshot as its creation and change answer it."""
    view = listed_snapshot(snapshot)
    if request.version >= (3, 14):
        view |= {"group_snapshot_id": snapshot.group_snapshot_id}
    if request.version >= (3, 41):
        view |= {"user_id": snapshot.user_id}
    if request.version >= (3, 65):
        view |= {"consumes_quota": True}
    return view


def snapshot_detail(request: Request, snapshot: Snapshot) -> Json:
    """A snapshot in full."""
    return {
        **created_snapshot(request, snapshot),
        "os-extended-snapshot-attributes:project_id": snapshot.project_id,
        "os-extended-snapshot-attributes:progress": snapshot.progress,
    }


BACKUP = (
    "id",
    "name",
    "description",
    "status",
    "size",
    "object_count",
    "availability_zone",
    "container",
    "created_at",
    "updated_at",
    "fail_reason",
    "volume_id",
    "snapshot_id",
    "data_timestamp",
)


def backup_summary(request: Request, backup: Backup) -> Json:
    """A backup as an entry of a list without details."""
    return {"id": backup.id, "name": backup.name, "links": links(request, "backups", backup)}


def backup_detail(storage: BlockStorage, request: Request, backup: Backup) -> Json:
    """A backup in full."""
    view = {
        **shown(backup, BACKUP),
        "links": links(request, "backups", backup),
        "is_incremental": backup.parent_id is not None,
        "has_dependent_backups": storage.backups.rows.first(parent_id=backup.id) is not None,
    }
    if request.version >= (3, 18) and request.context.is_admin:
        view |= {"os-backup-project-attr:project_id": backup.project_id}
    if request.version >= (3, 43):
        view |= {"metadata": backup.metadata}
    if request.version >= (3, 56) and request.context.is_admin:
        view |= {"user_id": backup.user_id}
    if request.version >= (3, 64) and request.context.is_admin:
        view |= {"encryption_key_id": None}
    return view


VISIBLE_SPECS = ("multiattach", "replication_enabled", "RESKEY:availability_zones")


def type_detail(request: Request, kind: VolumeType) -> Json:
    """A volume type; only admins see all extra specs."""
    view = created_type(request, kind)
    return view | {"qos_specs_id": kind.qos_specs_id} if request.context.is_admin else view


def created_type(request: Request, kind: VolumeType) -> Json:
    """A volume type as its creation answers it."""
    return {**changed_type(request, kind), "os-volume-type-access:is_public": kind.is_public}


def changed_type(request: Request, kind: VolumeType) -> Json:
    """A volume type as its change answers it."""
    return {
        "id": kind.id,
        "name": kind.name,
        "description": kind.description,
        "is_public": kind.is_public,
        "extra_specs": visible_specs(request, kind),
    }


def visible_specs(request: Request, kind: VolumeType) -> dict[str, str]:
    """The extra specs of a type that the caller sees."""
    if request.context.is_admin:
        return kind.extra_specs
    return {key: value for key, value in kind.extra_specs.items() if key in VISIBLE_SPECS}


def created_encryption(encryption: Encryption) -> Json:
    """The encryption of a volume type as its creation answers it."""
    return {
        "volume_type_id": encryption.volume_type_id,
        "encryption_id": encryption.encryption_id,
        "provider": encryption.provider,
        "cipher": encryption.cipher,
        "key_size": encryption.key_size,
        "control_location": encryption.control_location,
    }


def volume_encryption(encryption: Encryption | None) -> Json:
    """How a volume is encrypted; the emulated cloud has no keys."""
    view: Json = {"encryption_key_id": None}
    if encryption is None:
        return view
    return view | {
        "provider": encryption.provider,
        "cipher": encryption.cipher,
        "key_size": encryption.key_size,
        "control_location": encryption.control_location,
    }


def qos_view(qos: Qos) -> Json:
    """QoS specs."""
    return {"id": qos.id, "name": qos.name, "consumer": qos.consumer, "specs": qos.specs}


def attachment_detail(storage: BlockStorage, attachment: Attachment) -> Json:
    """An attachment in full, with the connection information once there is a connector."""
    volume = storage.volumes.rows.get(attachment.volume_id)
    info: Json = {}
    if attachment.connector is not None and volume is not None:
        connection = storage.attachments.connection_info(volume)
        info = {"driver_volume_type": connection.driver, **connection.data, "attachment_id": attachment.id}
    return {
        **attachment_summary(attachment),
        "attached_at": attachment.attached_at or "",
        "detached_at": "",
        "attach_mode": attachment.attach_mode,
        "connection_info": info,
    }


def attachment_summary(attachment: Attachment) -> Json:
    """An attachment as an entry of a list without details."""
    return shown(attachment, ("id", "status", "instance", "volume_id"))


def transfer_summary(request: Request, transfer: Transfer) -> Json:
    """A transfer as an entry of a list without details."""
    return {
        "id": transfer.id,
        "name": transfer.name,
        "volume_id": transfer.volume_id,
        "links": links(request, "os-volume-transfer", transfer),
    }


def transfer_detail(request: Request, transfer: Transfer) -> Json:
    """A transfer without its key."""
    view: Json = {
        "id": transfer.id,
        "name": transfer.name,
        "volume_id": transfer.volume_id,
        "created_at": transfer.created_at,
        "links": links(request, "os-volume-transfer", transfer),
    }
    if request.version >= (3, 55):
        view |= {"no_snapshots": transfer.no_snapshots}
    if request.version >= (3, 57):
        view |= shown(transfer, ("source_project_id", "destination_project_id", "accepted"))
    return view


def group_type_view(request: Request, kind: GroupType) -> Json:
    """A group type; only admins see its specs."""
    view = shown(kind, ("id", "name", "description", "is_public"))
    return {**view, "group_specs": kind.group_specs} if request.context.is_admin else view


def group_summary(group: Group | GroupSnapshot) -> Json:
    """A group or a group snapshot as an entry of a list without details."""
    return {"id": group.id, "name": group.name}


GROUP = ("id", "name", "description", "status", "availability_zone", "created_at", "group_type", "volume_types")


def group_detail(storage: BlockStorage, request: Request, group: Group) -> Json:
    """A group in full."""
    view = shown(group, GROUP)
    if request.version >= (3, 14):
        view |= {"group_snapshot_id": group.group_snapshot_id, "source_group_id": group.source_group_id}
    if request.version >= (3, 25) and request.query.boolean("list_volume"):
        view |= {"volumes": [row.id for row in storage.groups.rules.volumes_of(group)]}
    if request.version >= (3, 38):
        view |= {"replication_status": "disabled"}
    return view


def group_snapshot_detail(taken: GroupSnapshot) -> Json:
    """A group snapshot in full."""
    return shown(taken, ("id", "name", "description", "status", "created_at", "group_id", "group_type_id"))


MESSAGE = (
    "id",
    "request_id",
    "resource_type",
    "resource_uuid",
    "event_id",
    "message_level",
    "user_message",
    "created_at",
    "guaranteed_until",
)


def message_view(request: Request, message: Message) -> Json:
    """A user message."""
    return {**shown(message, MESSAGE), "links": links(request, "messages", message)}


def process_view(request: Request, process: ServiceProcess, now: str) -> Json:
    """A process of Cinder, which has reported `now`."""
    view = {
        "binary": process.binary,
        "host": process.host,
        "zone": process.zone,
        "status": "disabled" if process.disabled else "enabled",
        "state": "up",
        "updated_at": now,
        "disabled_reason": process.disabled_reason,
    }
    if request.version >= (3, 7):
        view |= {"cluster": None}
    if request.version >= (3, 49) and process.binary == "cinder-volume":
        view |= {"backend_state": "up"}
    return view


def host_view(process: ServiceProcess, now: str) -> Json:
    """A process of Cinder as an entry of the list of hosts."""
    return {
        "host_name": process.host,
        "service": process.binary,
        "zone": process.zone,
        "service-status": "available",
        "service-state": "disabled" if process.disabled else "enabled",
        "last-update": now,
    }


def usage_view(host: str, project: str, volumes: Sequence[Volume], snapshots: Sequence[Snapshot]) -> dict[str, str]:
    """How much of a host is used."""
    return {
        "host": host,
        "project": project,
        "volume_count": str(len(volumes)),
        "total_volume_gb": str(sum(row.size for row in volumes)),
        "snapshot_count": str(len(snapshots)),
        "total_snapshot_gb": str(sum(row.size for row in snapshots)),
    }


def manageable_view(found: Manageable) -> Json:
    """A volume or snapshot of the back end as an entry of a list without details."""
    view = {
        "reference": {"source-name": found.reference},
        "size": found.size,
        "safe_to_manage": found.cinder_id is None,
    }
    return view if found.source is None else {**view, "source_reference": {"source-name": found.source}}


def manageable_detail(found: Manageable) -> Json:
    """A volume or snapshot of the back end in full."""
    managed = found.cinder_id is not None
    return {
        **manageable_view(found),
        "reason_not_safe": "already managed" if managed else None,
        "cinder_id": found.cinder_id,
        "extra_info": None,
    }
