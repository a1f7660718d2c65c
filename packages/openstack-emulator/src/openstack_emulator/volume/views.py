"""Records of the block-storage service as clients see them, by microversion."""

from __future__ import annotations

from typing import Any
from uuid import NAMESPACE_DNS, uuid5

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import Component
from openstack_emulator.core.http import Request
from openstack_emulator.core.store import Record
from openstack_emulator.volume.attachments import Attachments
from openstack_emulator.volume.backups import Backups
from openstack_emulator.volume.tables import POOL, ZONE
from openstack_emulator.volume.volumes import Volumes

SERVICE_ID = str(uuid5(NAMESPACE_DNS, POOL))
"""The ID of the one service that has all volumes."""


class VolumeViews(Component):
    """The components that views of volumes read."""

    def __init__(self, records: Records, volumes: Volumes, attachments: Attachments) -> None:
        super().__init__(records)
        self.volumes = volumes
        self.attachments = attachments


def links(request: Request, kind: str, record: Record) -> list[dict[str, str]]:
    """The `self` and `bookmark` links of a record."""
    project = request.context.project_id
    return [
        {"rel": "self", "href": f"{request.base}/v3/{project}/{kind}/{record['id']}"},
        {"rel": "bookmark", "href": f"{request.base}/{project}/{kind}/{record['id']}"},
    ]


def brief(request: Request, kind: str, record: Record) -> dict[str, Any]:
    """Id, name and links: an entry of a list without details."""
    return {"id": record["id"], "name": record["name"], "links": links(request, kind, record)}


def created_volume(views: VolumeViews, request: Request, volume: Record) -> dict[str, Any]:
    """A volume as its creation and change answer it."""
    kind = views.volumes.types.rows.get(volume["volume_type_id"])
    view = {
        "id": volume["id"],
        "name": volume["name"],
        "description": volume["description"],
        "status": volume["status"],
        "size": volume["size"],
        "availability_zone": volume["availability_zone"],
        "created_at": volume["created_at"],
        "updated_at": volume["updated_at"],
        "attachments": [
            {
                "id": volume["id"],
                "attachment_id": row["id"],
                "volume_id": volume["id"],
                "server_id": row["instance"],
                "host_name": row["host_name"] if request.context.is_admin else None,
                "device": row["device"],
                "attached_at": row["attached_at"],
            }
            for row in views.attachments.rows.select(volume_id=volume["id"])
            if row["status"] == "attached"
        ],
        "volume_type": None if kind is None else kind["name"],
        "snapshot_id": volume["snapshot_id"],
        "source_volid": volume["source_volid"],
        "metadata": volume["metadata"],
        "links": links(request, "volumes", volume),
        "user_id": volume["user_id"],
        "bootable": str(volume["bootable"]).lower(),
        "encrypted": volume["encrypted"],
        "replication_status": None,
        "consistencygroup_id": None,
        "multiattach": volume["multiattach"],
    }
    if request.context.is_admin:
        view["migration_status"] = volume["migration_status"]
    if request.version >= (3, 13):
        view["group_id"] = volume["group_id"]
    if request.version >= (3, 21) and request.context.is_admin:
        view["provider_id"] = None
    if request.version >= (3, 48):
        scheduled = volume["status"] != "creating"
        view["service_uuid"] = SERVICE_ID if scheduled else None
        view["shared_targets"] = not scheduled
    if request.version >= (3, 61) and request.context.is_admin:
        view["cluster_name"] = None
    if request.version >= (3, 63):
        view["volume_type_id"] = volume["volume_type_id"]
    if request.version >= (3, 65):
        view["consumes_quota"] = True
    return view


def volume_detail(views: VolumeViews, request: Request, volume: Record) -> dict[str, Any]:
    """A volume in full."""
    view = created_volume(views, request, volume)
    view["os-vol-tenant-attr:tenant_id"] = volume["project_id"]
    if request.context.is_admin:
        view["os-vol-host-attr:host"] = None if volume["status"] == "creating" else POOL
        view["os-vol-mig-status-attr:migstat"] = volume["migration_status"]
        view["os-vol-mig-status-attr:name_id"] = None
    if volume["image_metadata"]:
        view["volume_image_metadata"] = volume["image_metadata"]
    return view


SNAPSHOT = ("id", "name", "description", "status", "size", "volume_id", "metadata", "created_at", "updated_at")


def listed_snapshot(snapshot: Record) -> dict[str, Any]:
    """A snapshot as an entry of a list without details."""
    return {field: snapshot[field] for field in SNAPSHOT}


def created_snapshot(request: Request, snapshot: Record) -> dict[str, Any]:
    """A snapshot as its creation and change answer it."""
    view = listed_snapshot(snapshot)
    if request.version >= (3, 14):
        view["group_snapshot_id"] = snapshot["group_snapshot_id"]
    if request.version >= (3, 41):
        view["user_id"] = snapshot["user_id"]
    if request.version >= (3, 65):
        view["consumes_quota"] = True
    return view


def snapshot_detail(request: Request, snapshot: Record) -> dict[str, Any]:
    """A snapshot in full."""
    return {
        **created_snapshot(request, snapshot),
        "os-extended-snapshot-attributes:project_id": snapshot["project_id"],
        "os-extended-snapshot-attributes:progress": snapshot["progress"],
    }


def backup_detail(backups: Backups, request: Request, backup: Record) -> dict[str, Any]:
    """A backup in full."""
    fields = (
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
    view = {
        **{field: backup[field] for field in fields},
        "links": links(request, "backups", backup),
        "is_incremental": backup["parent_id"] is not None,
        "has_dependent_backups": backups.rows.first(parent_id=backup["id"]) is not None,
    }
    if request.version >= (3, 18) and request.context.is_admin:
        view["os-backup-project-attr:project_id"] = backup["project_id"]
    if request.version >= (3, 43):
        view["metadata"] = backup["metadata"]
    if request.version >= (3, 56) and request.context.is_admin:
        view["user_id"] = backup["user_id"]
    if request.version >= (3, 64) and request.context.is_admin:
        view["encryption_key_id"] = None
    return view


VISIBLE_SPECS = ("multiattach", "replication_enabled", "RESKEY:availability_zones")


def type_detail(request: Request, kind: Record) -> dict[str, Any]:
    """A volume type; only admins see all extra specs."""
    view = {**changed_type(request, kind), "os-volume-type-access:is_public": kind["is_public"]}
    if request.context.is_admin:
        view["qos_specs_id"] = kind["qos_specs_id"]
    return view


def changed_type(request: Request, kind: Record) -> dict[str, Any]:
    """A volume type as its change answers it."""
    specs = kind["extra_specs"]
    return {
        "id": kind["id"],
        "name": kind["name"],
        "description": kind["description"],
        "is_public": kind["is_public"],
        "extra_specs": specs
        if request.context.is_admin
        else {key: value for key, value in specs.items() if key in VISIBLE_SPECS},
    }


def attachment_detail(attachments: Attachments, attachment: Record) -> dict[str, Any]:
    """An attachment in full, with the connection information once there is a connector."""
    connector = attachment["connector"]
    volume = attachments.volumes.rows.get(attachment["volume_id"])
    info: dict[str, Any] = {}
    if connector is not None and volume is not None:
        connection = attachments.connection_info(volume, connector)
        info = {"driver_volume_type": connection["driver_volume_type"], **connection["data"]}
        info |= {"attachment_id": attachment["id"]}
    return {
        **attachment_summary(attachment),
        "attached_at": attachment["attached_at"] or "",
        "detached_at": "",
        "attach_mode": attachment["attach_mode"],
        "connection_info": info,
    }


def attachment_summary(attachment: Record) -> dict[str, Any]:
    """An attachment as an entry of a list without details."""
    return {
        "id": attachment["id"],
        "status": attachment["status"],
        "instance": attachment["instance"],
        "volume_id": attachment["volume_id"],
    }


def transfer_detail(request: Request, transfer: Record) -> dict[str, Any]:
    """A transfer without its key."""
    view = {
        "id": transfer["id"],
        "name": transfer["name"],
        "volume_id": transfer["volume_id"],
        "created_at": transfer["created_at"],
        "links": links(request, "os-volume-transfer", transfer),
    }
    if request.version >= (3, 55):
        view["no_snapshots"] = transfer["no_snapshots"]
    if request.version >= (3, 57):
        for field in ("source_project_id", "destination_project_id", "accepted"):
            view[field] = transfer[field]
    return view


def zones() -> list[dict[str, Any]]:
    return [{"zoneName": ZONE, "zoneState": {"available": True}}]
