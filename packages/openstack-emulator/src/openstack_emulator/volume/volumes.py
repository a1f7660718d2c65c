"""Volumes: created, changed and deleted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component, visible
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.fields import as_boolean
from openstack_emulator.core.guests.driver import IMAGE
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Collection, Record
from openstack_emulator.volume.backend import Backend
from openstack_emulator.volume.messages import NO_BACKEND, Messages
from openstack_emulator.volume.quotas import Quotas
from openstack_emulator.volume.sources import Sources, size_of
from openstack_emulator.volume.tables import COPY, LONG, SHORT, ZONE
from openstack_emulator.volume.types import VolumeTypes

DELETABLE = ("available", "error", "error_restoring", "error_extending", "error_managing")
STATUSES = (
    "creating",
    "available",
    "deleting",
    "error",
    "error_deleting",
    "error_managing",
    "managing",
    "attaching",
    "in-use",
    "detaching",
    "maintenance",
    "restoring-backup",
    "error_restoring",
    "reserved",
    "awaiting-transfer",
    "backing-up",
    "error_backing-up",
    "error_extending",
    "downloading",
    "uploading",
    "retyping",
    "extending",
)


@dataclass(frozen=True)
class Related:
    """The collections of records that belong to volumes."""

    attachments: Collection
    snapshots: Collection
    transfers: Collection
    groups: Collection


class Volumes(Component):
    """Volumes from their creation to their deletion.

    rows: the collection of volumes, which other components read too. related: the collections that a deletion reads.
    """

    def __init__(
        self,
        records: Records,
        rows: Collection,
        sources: Sources,
        types: VolumeTypes,
        quotas: Quotas,
        backend: Backend,
        messages: Messages,
        related: Related,
    ) -> None:
        super().__init__(records)
        self.rows = rows
        self.types = types
        self.quotas = quotas
        self._sources = sources
        self._backend = backend
        self._messages = messages
        self._related = related
        records.deferrable(self.fail_to_schedule, self.begin_download, self.finish_create, self.finish_delete_volume)

    def supports(self, kind: Record, size: int) -> bool:
        """Whether the back end can have volumes of a type and size."""
        return self._backend.accepts(kind, size)

    def find(self, context: Context, volume_id: str) -> Record:
        """A volume the caller may see; 404 otherwise."""
        return visible(self.rows, context, volume_id)

    def create(self, context: Context, wanted: Record) -> Record:
        """Create a volume as `POST /volumes` describes it; it becomes available later.

        wanted: size (GiB), name, description, volume_type, availability_zone, metadata, group_id and at most one of
        snapshot_id, source_volid, imageRef and backup_id; null is the same as absent. `request_id` is what messages
        about the volume are to name.

        Raises: ApiError 400 for what does not fit, 404 for an unknown source or type, 413 beyond a quota.
        """
        wanted = {key: value for key, value in wanted.items() if value not in (None, "")}
        source = self._sources.find(context, wanted)
        kind = self._type_of_new(context, wanted, source)
        size = size_of(wanted.get("size"), source)
        zone = wanted.get("availability_zone", ZONE)
        if zone != ZONE:
            raise bad_request(f"Availability zone '{zone}' is invalid.")
        self._check_group(context, wanted, kind)
        self.quotas.check_new_volume(context.project, size, kind)
        origin = source.get("_volume") or {}
        snapshot_id = wanted.get("snapshot_id") or source.get("snapshot_id")
        if "backup_id" in wanted:
            wanted["metadata"] = {**origin.get("metadata", {}), "src_backup_id": wanted["backup_id"]}
        volume = self.rows.add(
            {
                **self.blank(context, wanted, kind, size),
                "snapshot_id": snapshot_id,
                "_content": _content_of(wanted, snapshot_id),
                "bootable": "imageRef" in wanted or origin.get("bootable", False),
                "image_metadata": source.get("_image_metadata") or origin.get("image_metadata", {}),
            }
        )
        if not self._backend.accepts(kind, size):
            self.after(SHORT, self.fail_to_schedule, volume["id"])
        elif "imageRef" in wanted:
            self.after(SHORT, self.begin_download, volume["id"])
        else:
            self.after(LONG, self.finish_create, volume["id"])
        return volume

    def blank(self, context: Context, wanted: Record, kind: Record, size: int) -> Record:
        """The record of a new volume."""
        return {
            "id": new_id(),
            "name": wanted.get("name", wanted.get("display_name")),
            "description": wanted.get("description", wanted.get("display_description")),
            "status": "creating",
            "size": size,
            "project_id": context.project,
            "user_id": context.user_id,
            "volume_type_id": kind["id"],
            "availability_zone": ZONE,
            "created_at": self.moment(),
            "updated_at": None,
            "snapshot_id": wanted.get("snapshot_id"),
            "source_volid": wanted.get("source_volid"),
            "bootable": bool(as_boolean(wanted.get("bootable", False))),
            "encrypted": kind["_encryption"] is not None,
            "multiattach": kind["extra_specs"].get("multiattach") == "<is> True",
            "metadata": wanted.get("metadata") or {},
            "image_metadata": {},
            "migration_status": None,
            "group_id": wanted.get("group_id"),
            "_previous": None,
            "_request_id": wanted.get("request_id"),
        }

    def fail_to_schedule(self, volume_id: str) -> None:
        """No back end accepts a new volume: it goes to error, with a user message."""
        volume = self.rows.get(volume_id)
        if volume is not None and volume["status"] == "creating":
            self.rows.update(volume, status="error", updated_at=self.moment())
            self._messages.add("VOLUME", volume, NO_BACKEND)

    def _check_group(self, context: Context, wanted: Record, kind: Record) -> None:
        """400 for a volume of a type that its group does not support, 404 for an unknown group."""
        group_id = wanted.get("group_id")
        if group_id is None:
            return
        group = visible(self._related.groups, context, group_id)
        if "volume_type" not in wanted or kind["id"] not in group["volume_types"]:
            raise bad_request(
                "Invalid input received: a volume_type that the group supports must be provided when creating a "
                f"volume in group {group_id}."
            )

    def begin_download(self, volume_id: str) -> None:
        """The image is being copied to the new volume."""
        volume = self.rows.get(volume_id)
        if volume is not None and volume["status"] == "creating":
            self.rows.update(volume, status="downloading")
            self.after(LONG, self.finish_create, volume_id)

    def finish_create(self, volume_id: str) -> None:
        volume, copied = self.rows.get(volume_id), True
        if volume is not None and (content := volume.get("_content")) is not None:
            finished = self.cloud.guests.copied(content, f"volume-{volume_id}")
            if finished is None:
                self.after(COPY, self.finish_create, volume_id)
                return
            copied = finished
        self.settle(volume_id, ("creating", "downloading"), "available" if copied else "error", "error")

    def settle(self, volume_id: str, during: tuple[str, ...], good: str, bad: str) -> None:
        """Replace a status of `during` by `good`, or by `bad` when a fault rule demands it; leave any other status."""
        volume = self.rows.get(volume_id)
        if volume is not None and volume["status"] in during:
            doomed = volume.pop("_fault", None) is not None
            self.rows.update(volume, status=bad if doomed else good, updated_at=self.moment())

    def update(self, volume: Record, changes: Record) -> Record:
        """Set name, description or metadata."""
        return self.rows.update(volume, **changes, updated_at=self.moment())

    def set_metadata(self, volume: Record, metadata: dict[str, str]) -> None:
        """Replace a volume's metadata; 400 while it is in maintenance."""
        if volume["status"] == "maintenance":
            raise bad_request("Invalid volume: Metadata of a volume in maintenance cannot be changed.")
        self.rows.update(volume, metadata=metadata, updated_at=self.moment())

    def delete(self, volume: Record, cascade: bool = False, force: bool = False) -> None:
        """Begin to delete a volume, with its snapshots when `cascade`; `force` whatever its status.

        Raises: ApiError 400 while it is used, has snapshots or awaits a transfer.
        """
        snapshots = self._related.snapshots.select(volume_id=volume["id"])
        used = self._related.attachments.first(volume_id=volume["id"]) is not None
        wrong = volume["status"] not in DELETABLE or volume["migration_status"] not in (None, "success", "error")
        if (wrong and not force) or used or (snapshots and not cascade) or volume["group_id"]:
            raise bad_request(
                f"Invalid volume: Volume status must be {' or '.join(DELETABLE)} and must not be migrating, attached, "
                "belong to a group, have snapshots, awaiting a transfer, or be disassociated from snapshots after "
                "volume transfer."
            )
        for snapshot in snapshots:
            self._related.snapshots.update(snapshot, status="deleting")
        self.rows.update(volume, status="deleting", updated_at=self.moment())
        self.after(SHORT, self.finish_delete_volume, volume["id"])

    def finish_delete_volume(self, volume_id: str) -> None:
        volume = self.rows.get(volume_id)
        if volume is None or volume["status"] != "deleting":
            return
        if volume.pop("_fault", None) is not None:
            self.rows.update(volume, status="error_deleting", updated_at=self.moment())
            return
        for snapshot in self._related.snapshots.select(volume_id=volume_id):
            self._related.snapshots.remove(snapshot)
            self.cloud.guests.delete_content(f"snapshot-{snapshot['id']}")
        for transfer in self._related.transfers.select(volume_id=volume_id):
            self._related.transfers.remove(transfer)
        self.rows.remove(volume)
        self.cloud.guests.delete_content(f"volume-{volume_id}")

    def _type_of_new(self, context: Context, wanted: Record, source: Record) -> Record:
        asked = wanted.get("volume_type")
        if asked is not None:
            return self.types.find(context, asked)
        copied = self.types.rows.get(source.get("kind_id") or "")
        return self.types.default() if copied is None else copied


def _content_of(wanted: Record, snapshot_id: str | None) -> str | None:
    """Return the name of what a new volume is a copy of (`GuestDriver.copy_content`)."""
    if snapshot_id is not None:  # also that of an image that was made of a volume
        return f"snapshot-{snapshot_id}"
    kinds = {"source_volid": "volume", "backup_id": "backup"}
    copied = next((f"{kind}-{wanted[field]}" for field, kind in kinds.items() if field in wanted), None)
    return IMAGE if "imageRef" in wanted else copied


def flag(value: Any, name: str) -> bool:
    """The boolean that a value of a request means; 400 for other values."""
    found = as_boolean(value)
    if found is None:
        raise bad_request(f"Invalid input received: Invalid value '{value}' for '{name}': it must be a boolean.")
    return found
