"""What new volumes are copies of: snapshots, volumes, images or backups."""

from __future__ import annotations

from typing import Any

import orjson

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import Component, visible
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.fields import as_integer
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Collection, Record
from openstack_emulator.image.records import ImageRecords

GIGABYTE = 1024**3
MAPPINGS = "block_device_mapping"
"""The property of an image that names block devices, as JSON."""
SOURCES = ("snapshot_id", "source_volid", "imageRef", "backup_id")
IMAGE_FIELDS = ("container_format", "disk_format", "min_disk", "min_ram", "size", "checksum")


class Sources(Component):
    """Finds and checks the source that a request for a volume names.

    The arguments are the collections of possible sources.
    """

    def __init__(self, records: Records, volumes: Collection, snapshots: Collection, backups: Collection) -> None:
        super().__init__(records)
        self._volumes = volumes
        self._snapshots = snapshots
        self._backups = backups

    def find(self, context: Context, wanted: Record) -> Record:
        """The source of a new volume: `{size, kind_id, label, _volume, _image_metadata}`, empty for a blank one.

        Raises: ApiError 400 for several sources, or one that is not available; 404 for an unknown one.
        """
        given = [name for name in SOURCES if name in wanted]
        readers = {
            "snapshot_id": self._snapshot_source,
            "source_volid": self._volume_source,
            "imageRef": self._image_source,
            "backup_id": self._backup_source,
        }
        found = [readers[name](context, wanted[name]) for name in given]
        if len(given) > 1:
            raise bad_request(
                "Invalid input received: May specify only one of backup, imageRef, snapshot, source volume"
            )
        return found[0] if found else {}

    def _snapshot_source(self, context: Context, snapshot_id: str) -> Record:
        snapshot = visible(self._snapshots, context, snapshot_id)
        if snapshot["status"] != "available":
            raise bad_request("Invalid snapshot: Originating snapshot status must be one of 'available' values")
        return {
            "size": snapshot["size"],
            "kind_id": snapshot["volume_type_id"],
            "label": "snapshot",
            "_volume": self._volumes.get(snapshot["volume_id"]),
        }

    def _volume_source(self, context: Context, volume_id: str) -> Record:
        volume = visible(self._volumes, context, volume_id)
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
        except ApiError:
            raise bad_request("Invalid image identifier or unable to access requested image.") from None
        if image["status"] != "active":
            raise bad_request(f"Invalid input received: Image {image_id} is not active.")
        found: Record = {"_image": image, "_image_metadata": image_metadata(image)}
        if (snapshot_id := root_snapshot(image)) is not None:
            found |= {**self._snapshot_source(context, snapshot_id), "snapshot_id": snapshot_id}
        return found

    def _backup_source(self, context: Context, backup_id: str) -> Record:
        backup = visible(self._backups, context, backup_id)
        if backup["status"] != "available":
            raise bad_request("Invalid backup: Originating backup status must be one of 'available' values")
        origin = {**backup["volume_properties"], "bootable": bool(backup["volume_properties"]["image_metadata"])}
        return {"size": backup["size"], "label": "backup", "_volume": origin}


def size_of(asked: Any, source: Record) -> int:
    """The size of a new volume in GiB: the one asked for, or its source's; 400 when it is too small for the source."""
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
    """The attributes of an image that a volume created from it keeps."""
    kept = {name: str(image[name]) for name in IMAGE_FIELDS if image.get(name) is not None}
    return {"image_id": image["id"], "image_name": image.get("name") or "", **kept}


def root_snapshot(image: Record) -> str | None:
    """The snapshot of the root disk in the image of a volume-backed server; None for other images."""
    return next((row.get("snapshot_id") for row in mappings_of(image) if row.get("boot_index") == 0), None)


def mappings_of(image: Record) -> list[Record]:
    """The block devices that an image names, as Nova writes them into the image of a volume-backed server.

    Raises: ApiError 400 when the image's property cannot be read.
    """
    try:
        rows = orjson.loads(image["properties"].get(MAPPINGS) or "[]")
    except orjson.JSONDecodeError:
        rows = None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise bad_request(f"Invalid image: the property {MAPPINGS} of image {image['id']} is not a list of objects.")
    return rows
