"""Volumes: made, changed and deleted."""

from __future__ import annotations

from typing import Any

import orjson

from stoker.emulator.core.cloud import new_id
from stoker.emulator.core.errors import ApiError, bad_request
from stoker.emulator.core.http import Context
from stoker.emulator.core.store import Record
from stoker.emulator.image.records import ImageRecords
from stoker.emulator.volume.fields import as_boolean, as_integer
from stoker.emulator.volume.messages import NO_BACKEND
from stoker.emulator.volume.quotas import QuotaRecords
from stoker.emulator.volume.scheduling import CAPACITY_GIGABYTES, OVERSUBSCRIPTION, suits
from stoker.emulator.volume.tables import LONG, SHORT, ZONE

GIGABYTE = 1024**3
MAPPINGS = "block_device_mapping"
"""The property of an image that names block devices, as JSON."""
SOURCES = ("snapshot_id", "source_volid", "imageRef", "backup_id")
DELETABLE = ("available", "error", "error_restoring", "error_extending", "error_managing")
STATUSES = (
    "creating",
    "available",
    "deleting",
    "error",
    "attaching",
    "detaching",
    "in-use",
    "maintenance",
    "reserved",
    "error_deleting",
    "error_restoring",
    "error_extending",
    "error_managing",
    "extending",
    "retyping",
    "downloading",
    "uploading",
    "backing-up",
    "restoring-backup",
    "awaiting-transfer",
)
IMAGE_FIELDS = ("container_format", "disk_format", "min_disk", "min_ram", "size", "checksum")


class VolumeLife(QuotaRecords):
    """Volumes from their creation to their end."""

    def volume_for(self, context: Context, volume_id: str) -> Record:
        """A volume the caller may see; 404 otherwise."""
        return self.visible(self.volumes, context, volume_id)

    def create_volume(self, context: Context, wanted: Record) -> Record:
        """Make a volume as `POST /volumes` describes it; it becomes available later.

        wanted: size (GiB), name, description, volume_type, availability_zone, metadata, group_id and at most one of
        snapshot_id, source_volid, imageRef and backup_id; null is the same as absent. `request_id` is what messages
        about the volume are to name.

        Raises: ApiError 400 for what does not fit, 404 for an unknown source or type, 413 beyond a quota.
        """
        wanted = {key: value for key, value in wanted.items() if value not in (None, "")}
        source = self._source(context, wanted)
        kind = self._type_of_new(context, wanted, source)
        size = _size(wanted.get("size"), source)
        zone = wanted.get("availability_zone", ZONE)
        if zone != ZONE:
            raise bad_request(f"Invalid input received: Availability zone '{zone}' is invalid.")
        self._check_group(context, wanted, kind)
        self.check_new_volume(context.project, size, kind)
        origin = source.get("_volume") or {}
        volume = self.volumes.add(
            {
                **self.blank_volume(context, wanted, kind, size),
                "snapshot_id": wanted.get("snapshot_id") or source.get("snapshot_id"),
                "bootable": "imageRef" in wanted or origin.get("bootable", False),
                "image_metadata": source.get("_image_metadata") or origin.get("image_metadata", {}),
            }
        )
        if not self._has_room_for(kind, size):
            self.after(SHORT, self.fail_to_schedule, volume["id"])
        elif "imageRef" in wanted:
            self.after(SHORT, self.begin_download, volume["id"])
        else:
            self.after(LONG, self.finish_create, volume["id"])
        return volume

    def blank_volume(self, context: Context, wanted: Record, kind: Record, size: int) -> Record:
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

    def provisioned(self) -> int:
        """The GiB that all volumes have together."""
        return sum(row["size"] for row in self.volumes)

    def fail_to_schedule(self, volume_id: str) -> None:
        """No back end takes a new volume: it is in error, and a message says why."""
        volume = self.volumes.get(volume_id)
        if volume is not None and volume["status"] == "creating":
            self.volumes.update(volume, status="error", updated_at=self.moment())
            self.tell("VOLUME", volume, NO_BACKEND)

    def _has_room_for(self, kind: Record, size: int) -> bool:
        """Whether the back end is enabled, is what the type asks for, and has so many GiB."""
        enabled = any(not row["disabled"] for row in self.services.select(binary="cinder-volume"))
        room = CAPACITY_GIGABYTES * OVERSUBSCRIPTION
        return enabled and suits(kind["extra_specs"]) and self.provisioned() + size <= room

    def _check_group(self, context: Context, wanted: Record, kind: Record) -> None:
        """Refuse a volume of a type that its group does not take."""
        group_id = wanted.get("group_id")
        if group_id is None:
            return
        group = self.visible(self.groups, context, group_id)
        if "volume_type" not in wanted or kind["id"] not in group["volume_types"]:
            raise bad_request(
                "Invalid input received: a volume_type that the group supports must be provided when creating a "
                f"volume in group {group_id}."
            )

    def begin_download(self, volume_id: str) -> None:
        """The image is being copied to the new volume."""
        volume = self.volumes.get(volume_id)
        if volume is not None and volume["status"] == "creating":
            self.volumes.update(volume, status="downloading")
            self.after(LONG, self.finish_create, volume_id)

    def finish_create(self, volume_id: str) -> None:
        self.settle_volume(volume_id, ("creating", "downloading"), "available", "error")

    def settle_volume(self, volume_id: str, during: tuple[str, ...], good: str, bad: str) -> None:
        """End a state the volume is still in: well, or badly when a fault rule wants that."""
        volume = self.volumes.get(volume_id)
        if volume is not None and volume["status"] in during:
            doomed = volume.pop("_fault", None) is not None
            self.volumes.update(volume, status=bad if doomed else good, updated_at=self.moment())

    def update_volume(self, volume: Record, changes: Record) -> Record:
        """Set name, description or metadata."""
        return self.volumes.update(volume, **changes, updated_at=self.moment())

    def set_metadata(self, volume: Record, metadata: dict[str, str]) -> None:
        """Replace a volume's metadata; 400 while it is in maintenance."""
        if volume["status"] == "maintenance":
            raise bad_request("Invalid volume: Metadata of a volume in maintenance cannot be changed.")
        self.volumes.update(volume, metadata=metadata, updated_at=self.moment())

    def delete_volume(self, volume: Record, cascade: bool = False, force: bool = False) -> None:
        """Begin to delete a volume, with its snapshots when `cascade`; `force` whatever its status.

        Raises: ApiError 400 while it is used, has snapshots or awaits a transfer.
        """
        snapshots = self.snapshots.select(volume_id=volume["id"])
        used = self.attachments.first(volume_id=volume["id"]) is not None
        wrong = volume["status"] not in DELETABLE or volume["migration_status"] not in (None, "success", "error")
        if (wrong and not force) or used or (snapshots and not cascade) or volume["group_id"]:
            raise bad_request(
                f"Invalid volume: Volume status must be {' or '.join(DELETABLE)} and must not be migrating, attached, "
                "belong to a group, have snapshots, awaiting a transfer, or be disassociated from snapshots after "
                f"volume transfer. (Volume {volume['id']} has status {volume['status']}.)"
            )
        for snapshot in snapshots:
            self.snapshots.update(snapshot, status="deleting")
        self.volumes.update(volume, status="deleting", updated_at=self.moment())
        self.after(SHORT, self.finish_delete_volume, volume["id"])

    def finish_delete_volume(self, volume_id: str) -> None:
        volume = self.volumes.get(volume_id)
        if volume is None or volume["status"] != "deleting":
            return
        if volume.pop("_fault", None) is not None:
            self.volumes.update(volume, status="error_deleting", updated_at=self.moment())
            return
        for snapshot in self.snapshots.select(volume_id=volume_id):
            self.snapshots.remove(snapshot)
        for transfer in self.transfers.select(volume_id=volume_id):
            self.transfers.remove(transfer)
        self.volumes.remove(volume)

    def _source(self, context: Context, wanted: Record) -> Record:
        """What a new volume copies: `{size, kind_id, label, _volume, _image_metadata}`, empty for a blank one."""
        given = [name for name in SOURCES if name in wanted]
        if len(given) > 1:
            raise bad_request(f"Invalid input received: {' and '.join(given)} cannot be given together.")
        if not given:
            return {}
        reader = {
            "snapshot_id": self._snapshot_source,
            "source_volid": self._volume_source,
            "imageRef": self._image_source,
            "backup_id": self._backup_source,
        }[given[0]]
        return reader(context, wanted[given[0]])

    def _snapshot_source(self, context: Context, snapshot_id: str) -> Record:
        snapshot = self.visible(self.snapshots, context, snapshot_id)
        if snapshot["status"] != "available":
            raise bad_request("Invalid snapshot: Originating snapshot status must be one of 'available' values")
        return {
            "size": snapshot["size"],
            "kind_id": snapshot["volume_type_id"],
            "label": "snapshot",
            "_volume": self.volumes.get(snapshot["volume_id"]),
        }

    def _volume_source(self, context: Context, volume_id: str) -> Record:
        volume = self.volume_for(context, volume_id)
        if volume["status"] not in ("available", "in-use"):
            raise bad_request(f"Invalid volume: Source volume {volume_id} must be available or in-use.")
        return {
            "size": volume["size"],
            "kind_id": volume["volume_type_id"],
            "label": "source volume",
            "_volume": volume,
        }

    def _image_source(self, context: Context, image_id: str) -> Record:
        try:
            image = self.cloud.of(ImageRecords).image_for(context.project, image_id)
        except ApiError as error:
            raise bad_request(f"Invalid imageRef provided: {error.message}") from None
        if image["status"] != "active":
            raise bad_request(f"Invalid input received: Image {image_id} is not active.")
        found: Record = {"_image": image, "_image_metadata": image_metadata(image)}
        if (snapshot_id := root_snapshot(image)) is not None:
            found |= {**self._snapshot_source(context, snapshot_id), "snapshot_id": snapshot_id}
        return found

    def _backup_source(self, context: Context, backup_id: str) -> Record:
        backup = self.visible(self.backups, context, backup_id)
        if backup["status"] != "available":
            raise bad_request("Invalid backup: Backup status must be available")
        return {"size": backup["size"], "label": "backup"}

    def _type_of_new(self, context: Context, wanted: Record, source: Record) -> Record:
        asked = wanted.get("volume_type")
        if asked is not None:
            return self.type_for(context, asked)
        copied = self.types.get(source.get("kind_id") or "")
        return self.default_type() if copied is None else copied


def _size(asked: Any, source: Record) -> int:
    """The size of a new volume in GiB: asked for, or its source's; never less than its source needs."""
    size = source.get("size") if asked is None else as_integer(asked)
    if size is None or size <= 0:
        raise bad_request(
            f"Invalid input received: Invalid volume size provided for create request: {asked} "
            "(size argument must be an integer (or string representation of an integer) and greater than zero)."
        )
    if size < source.get("size", 0):
        label = source["label"]
        raise bad_request(
            f"Invalid input received: Volume size '{size}'GB cannot be smaller than the {label} size "
            f"{source['size']}GB. They must be >= original {label} size."
        )
    if (image := source.get("_image")) is not None:
        _check_image_fits(image, size)
    return size


def _check_image_fits(image: Record, size: int) -> None:
    least = -(-int(image.get("size") or 0) // GIGABYTE)
    if size < least:
        raise bad_request(
            f"Invalid input received: Size of specified image {least}GB is larger than volume size {size}GB."
        )
    if size < (image.get("min_disk") or 0):
        raise bad_request(
            f"Invalid input received: Volume size {size}GB cannot be smaller than the image minDisk size "
            f"{image['min_disk']}GB."
        )


def image_metadata(image: Record) -> dict[str, str]:
    """What a volume remembers of the image on it."""
    kept = {name: str(image[name]) for name in IMAGE_FIELDS if image.get(name) is not None}
    return {"image_id": image["id"], "image_name": image.get("name") or "", **kept}


def root_snapshot(image: Record) -> str | None:
    """The snapshot that stands behind the image of a server that booted from a volume; None for other images."""
    return next((row.get("snapshot_id") for row in mappings_of(image) if row.get("boot_index") == 0), None)


def mappings_of(image: Record) -> list[Record]:
    """The block devices that an image names, as Nova writes them into the image of a server that has volumes.

    Raises: ApiError 400 when the image's property cannot be read.
    """
    try:
        rows = orjson.loads(image["properties"].get(MAPPINGS) or "[]")
    except orjson.JSONDecodeError:
        rows = None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise bad_request(f"Invalid image: the property {MAPPINGS} of image {image['id']} is no list of objects.")
    return rows


def flag(value: Any, name: str) -> bool:
    """The truth a request means; 400 when it is none."""
    found = as_boolean(value)
    if found is None:
        raise bad_request(f"Invalid input received: Invalid value '{value}' for '{name}': it must be a boolean.")
    return found
