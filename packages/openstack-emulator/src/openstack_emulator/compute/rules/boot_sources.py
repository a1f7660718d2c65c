"""What servers boot from: images, and volumes that exist or are to be created."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from openstack_emulator.compute.records import Flavor, RequestedDevice, ServerFlavor
from openstack_emulator.compute.rules.inputs import NewServer
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.image.records import Image
from openstack_emulator.image.rules.composition import ImageService
from openstack_emulator.volume.records import Volume
from openstack_emulator.volume.rules.composition import BlockStorage
from openstack_emulator.volume.rules.sources import mappings_of

SOURCE_FIELDS: Mapping[object, str | None] = {"image": "imageRef", "snapshot": "snapshot_id", "blank": None}
"""The field of a new volume that names its source, by the `source_type` of a mapping; None: it has none."""


class BootSources(Rules):
    """Finds and checks the images and volumes that a request names."""

    @property
    def _storage(self) -> BlockStorage:
        return self.cloud.of(BlockStorage)

    def image(self, context: Context, image_id: str | None) -> Image | None:
        """The image that a server is built from, None when the request names none; 400 when it cannot be used."""
        if not image_id:
            return None
        image_id = image_id.rstrip("/").rsplit("/", 1)[-1]
        try:
            image = self.cloud.of(ImageService).images.usable(context.project, image_id)
        except ApiError:
            raise bad_request("Can not find requested image") from None
        if image.status != "active":
            raise bad_request(f"Image {image_id} is not active.")
        return image

    def devices(self, context: Context, new_server: NewServer, image: Image | None) -> list[RequestedDevice]:
        """The volumes of a new server. Raises ApiError 400 for a mapping that is wrong, or no source to boot from."""
        legacy = [_current_mapping(row) for row in new_server.legacy_mappings]
        current = new_server.mappings
        mappings = [*current, *legacy]
        if image is None and not mappings:
            raise bad_request("Missing imageRef attribute")
        image_boots = image is not None and not current and not any(row.get("boot_index") == 0 for row in legacy)
        check_boot_order(mappings, image_boots)
        devices = [device for device in (self._device(context, row) for row in mappings) if device is not None]
        for device in devices if image is None else ():
            self._require_bootable(device)
        return devices

    def _require_bootable(self, device: RequestedDevice) -> None:
        """400 for an existing volume that is to be booted from and is not bootable."""
        volume = self._storage.volumes.rows.get(device.volume_id or "")
        if device.boot_index == 0 and volume is not None and not volume.bootable:
            raise invalid_mapping(f"Volume {volume.id} is not bootable.")

    def _device(self, context: Context, row: Mapping[str, Any]) -> RequestedDevice | None:
        """One volume; None for a disk that is local to the host."""
        source, target = row.get("source_type"), row.get("destination_type")
        if source != "volume" and target != "volume":
            return None
        device = RequestedDevice(
            boot_index=_boot_index(row),
            delete_on_termination=str(row.get("delete_on_termination", False)).lower() in ("true", "1"),
            device=_device_path(row.get("device_name")),
            tag=row.get("tag"),
        )
        if source == "volume":
            device.volume_id = self._free_volume(context, row.get("uuid") or row.get("volume_id")).id
        else:
            device.volume = self._new_volume(context, source, row)
        return device

    def _new_volume(self, context: Context, source: object, row: Mapping[str, object]) -> dict[str, object]:
        """The body of the request to Cinder for a new volume. Raises ApiError 400."""
        size = row.get("volume_size")
        if source not in SOURCE_FIELDS:
            raise invalid_mapping(f"unknown source_type {source}.")
        volume = {"size": size, "volume_type": row.get("volume_type"), "name": ""}
        if (field := SOURCE_FIELDS[source]) is not None:
            volume[field] = self._device_source(context, source, row.get("uuid") or row.get("snapshot_id"))
        if source == "image" and not size:
            raise invalid_mapping("Images with destination_type 'volume' need a non-zero size specified")
        if source == "blank" and not size:
            raise invalid_mapping("Blank volumes need a non-zero size")
        return volume

    def _device_source(self, context: Context, source: object, key: Any) -> str:
        """The checked id of the source of a new volume."""
        if source == "image":
            image = self.image(context, key)
            if image is None:
                raise invalid_mapping("failed to get image None.")
        elif self._storage.snapshots.rows.get(str(key)) is None:
            raise invalid_mapping(f"failed to get snapshot {key}.")
        return str(key)

    def _free_volume(self, context: Context, key: Any) -> Volume:
        try:
            volume = self._storage.volumes.find(context, str(key))
        except ApiError:
            raise invalid_mapping(f"failed to get volume {key}.") from None
        if volume.status != "available" and not (volume.multiattach and volume.status == "in-use"):
            raise bad_request(
                f"Invalid volume: volume '{key}' status must be 'available'. Currently in '{volume.status}'"
            )
        return volume


def invalid_mapping(reason: str) -> ApiError:
    """Nova's 400 for a wrong block device mapping."""
    return bad_request(f"Block Device Mapping is Invalid: {reason}")


def check_image_fits(image: Image, flavor: Flavor | ServerFlavor) -> None:
    """400 for an image that needs more memory or disk than a flavor has."""
    if flavor.ram < image.min_ram:
        raise bad_request("Flavor's memory is too small for requested image.")
    if 0 < flavor.disk < image.min_disk:
        raise bad_request("Flavor's disk is smaller than the minimum size specified in image metadata.")


def check_boot_order(mappings: Sequence[Mapping[str, object]], image_boots: bool) -> None:
    """400 unless exactly one disk is the first to boot from and the others follow without a gap.

    image_boots: whether the server's image is a boot disk when the mappings name no other; entries of
    block_device_mapping_v2 must name the disk of the image themselves.
    """
    local = any(row.get("destination_type") == "local" and row.get("source_type") == "image" for row in mappings)
    indexes = [_boot_index(row) for row in mappings]
    order = sorted(index for index in indexes if index is not None and index >= 0)
    if image_boots and not local and 0 not in order:
        order = sorted([0, *order])
    if not order or order != list(range(len(order))):
        raise invalid_mapping("Boot sequence for the instance and image/block device mapping combination is not valid.")


def devices_of_image(image: Image, requested: Sequence[Mapping[str, object]]) -> list[Mapping[str, object]]:
    """The block devices of the image of a volume-backed server; those of the request replace them by boot index."""
    taken = {index for row in requested if (index := row.get("boot_index")) is not None}
    return [*(row for row in mappings_of(image) if row.get("boot_index") not in taken), *requested]


def _current_mapping(row: Mapping[str, object]) -> Mapping[str, object]:
    """An entry of block_device_mapping as one of block_device_mapping_v2."""
    device = str(row.get("device_name") or "").removeprefix("/dev/")
    source = "volume" if row.get("volume_id") else "snapshot"
    return {
        "source_type": source,
        "destination_type": "volume",
        "uuid": row.get("volume_id") or row.get("snapshot_id"),
        "boot_index": 0 if device == "vda" else None,
        "volume_size": row.get("volume_size"),
        "delete_on_termination": row.get("delete_on_termination", False),
        "device_name": row.get("device_name"),
    }


def _boot_index(row: Mapping[str, Any]) -> int | None:
    index = row.get("boot_index")
    return None if index in (None, "") else int(index)


def _device_path(name: str | None) -> str | None:
    return None if not name else name if name.startswith("/dev/") else f"/dev/{name}"
