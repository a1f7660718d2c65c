"""What new volumes are copies of: snapshots, volumes, images or backups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules, visible
from openstack_emulator.core.store import Table
from openstack_emulator.core.validation.conversions import as_integer
from openstack_emulator.image.records import Image
from openstack_emulator.image.rules.composition import ImageService
from openstack_emulator.volume.records import Backup, Snapshot, Volume
from openstack_emulator.volume.rules.inputs import NewVolume

GIGABYTE = 1024**3
MAPPINGS = "block_device_mapping"
"""The property of an image that names block devices, as JSON."""
IMAGE_FIELDS = ("container_format", "disk_format", "min_disk", "min_ram", "size", "checksum")


@dataclass(frozen=True, kw_only=True)
class Source:
    """What a new volume is a copy of; without a size, it may have any.

    label: what messages call the source. snapshot_id: the snapshot that an image names.
    """

    size: int | None = None
    volume_type_id: str | None = None
    label: str = ""
    bootable: bool = False
    metadata: Mapping[str, str] = field(default_factory=dict)
    image_metadata: dict[str, str] = field(default_factory=dict)
    snapshot_id: str | None = None
    image: Image | None = None


class Sources(Rules):
    """Finds and checks the source that a request for a volume names.

    The arguments are the tables of possible sources.
    """

    def __init__(
        self, records: Records, volumes: Table[Volume], snapshots: Table[Snapshot], backups: Table[Backup]
    ) -> None:
        super().__init__(records)
        self._volumes = volumes
        self._snapshots = snapshots
        self._backups = backups

    def find(self, context: Context, new_volume: NewVolume) -> Source:
        """The source of a new volume.

        Raises: ApiError 400 for several sources, or one that is not available; 404 for an unknown one.
        """
        finders = (
            (new_volume.snapshot_id, self._snapshot_source),
            (new_volume.source_volid, self._volume_source),
            (new_volume.image_id, self._image_source),
            (new_volume.backup_id, self._backup_source),
        )
        sources = [find(context, identifier) for identifier, find in finders if identifier is not None]
        if len(sources) > 1:
            raise bad_request(
                "Invalid input received: May specify only one of backup, imageRef, snapshot, source volume"
            )
        return sources[0] if sources else Source()

    def _snapshot_source(self, context: Context, snapshot_id: str) -> Source:
        snapshot = visible(self._snapshots, context, snapshot_id)
        if snapshot.status != "available":
            raise bad_request("Invalid snapshot: Originating snapshot status must be one of 'available' values")
        origin = self._volumes.get(snapshot.volume_id)
        return Source(
            size=snapshot.size,
            volume_type_id=snapshot.volume_type_id,
            label="snapshot",
            bootable=origin is not None and origin.bootable,
            image_metadata={} if origin is None else origin.image_metadata,
        )

    def _volume_source(self, context: Context, volume_id: str) -> Source:
        volume = visible(self._volumes, context, volume_id)
        if volume.status not in ("available", "in-use"):
            raise bad_request(f"Invalid volume: Source volume {volume_id} must be available or in-use.")
        return Source(
            size=volume.size,
            volume_type_id=volume.volume_type_id,
            label="source volume",
            bootable=volume.bootable,
            image_metadata=volume.image_metadata,
        )

    def _image_source(self, context: Context, image_id: str) -> Source:
        try:
            image = self.cloud.of(ImageService).images.usable(context.project, image_id)
        except ApiError:
            raise bad_request("Invalid image identifier or unable to access requested image.") from None
        if image.status != "active":
            raise bad_request(f"Invalid input received: Image {image_id} is not active.")
        snapshot_id = root_snapshot(image)
        source = Source() if snapshot_id is None else self._snapshot_source(context, snapshot_id)
        return replace(source, image=image, image_metadata=image_metadata(image), snapshot_id=snapshot_id)

    def _backup_source(self, context: Context, backup_id: str) -> Source:
        backup = visible(self._backups, context, backup_id)
        if backup.status != "available":
            raise bad_request("Invalid backup: Originating backup status must be one of 'available' values")
        properties = backup.volume_properties
        if properties is None:
            return Source(size=backup.size, label="backup")
        return Source(
            size=backup.size,
            label="backup",
            bootable=bool(properties.image_metadata),
            metadata=properties.metadata,
            image_metadata=properties.image_metadata,
        )


def size_of(requested: int | str | None, source: Source) -> int:
    """The size of a new volume in GiB: the one asked for, or its source's; 400 when it is too small for the source."""
    size = source.size if requested is None else as_integer(requested)
    if size is None or size <= 0:
        raise bad_request(
            f"Invalid input received: Invalid volume size provided for create request: {requested} "
            "(size argument must be an integer (or string representation of an integer) and greater than zero)."
        )
    if source.size is not None and size < source.size:
        raise bad_request(
            f"Invalid input received: Volume size '{size}'GB cannot be smaller than the {source.label} size "
            f"{source.size}GB. They must be >= original {source.label} size."
        )
    if source.image is not None:
        _check_image_fits(source.image, size)
    return size


def _check_image_fits(image: Image, size: int) -> None:
    image_size = -(-(image.size or 0) // GIGABYTE)
    if size < image_size:
        raise bad_request(
            f"Invalid input received: Size of specified image {image_size}GB is larger than volume size {size}GB."
        )
    if size < image.min_disk:
        raise bad_request(
            f"Invalid input received: Volume size {size}GB cannot be smaller than the image minDisk size "
            f"{image.min_disk}GB."
        )


def image_metadata(image: Image) -> dict[str, str]:
    """The attributes of an image that a volume created from it keeps."""
    attributes = {name: str(value) for name in IMAGE_FIELDS if (value := image.get(name)) is not None}
    return {"image_id": image.id, "image_name": image.name or "", **attributes}


def root_snapshot(image: Image) -> str | None:
    """The snapshot of the root disk in the image of a volume-backed server; None for other images."""
    return next((mapping.get("snapshot_id") for mapping in mappings_of(image) if mapping.get("boot_index") == 0), None)


def mappings_of(image: Image) -> list[dict[str, Any]]:
    """The block devices that an image names, as Nova writes them into the image of a volume-backed server.

    Raises: ApiError 400 when the image's property cannot be read.
    """
    try:
        mappings = orjson.loads(image.properties.get(MAPPINGS) or "[]")
    except orjson.JSONDecodeError:
        mappings = None
    if not isinstance(mappings, list) or not all(isinstance(mapping, dict) for mapping in mappings):
        raise bad_request(f"Invalid image: the property {MAPPINGS} of image {image.id} is not a list of objects.")
    return mappings
