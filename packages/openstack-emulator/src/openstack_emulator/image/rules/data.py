"""The data of images, which are blobs: what follows from it, and what stands in for data that is nowhere."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import bad_request, conflict, forbidden
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.image.records import Image
from openstack_emulator.image.rules.stores import DEFAULT_STORE

HASH = "sha512"


class ImageData(Rules):
    """Puts data into images, and reads it."""

    def __init__(self, records: Records, images: Table[Image]) -> None:
        super().__init__(records)
        self._images = images

    def upload(self, image: Image, data: bytes, stores: list[str]) -> None:
        """Fill a queued image with data, in these stores; 409 in another status, 400 without formats."""
        _require_queued(image, "saving")
        require_formats(image)
        self.fill(image, data, stores)

    def stage(self, image: Image, data: bytes) -> None:
        """Keep data for an import by `glance-direct`; 409 when the image is not queued."""
        _require_queued(image, "uploading")
        self.cloud.store.put_blob(_staging_key(image), data)
        image.status, image.size = "uploading", len(data)
        self._save(image)

    def staged(self, image: Image) -> bytes | None:
        """The data that was kept for an import, if there is some."""
        return self.cloud.store.get_blob(_staging_key(image))

    def of(self, image: Image) -> bytes | None:
        """The bytes of an image, None while it has none; 403 when it is deactivated."""
        if image.status == "deactivated":
            raise forbidden("The requested image has been deactivated. Image data download is forbidden.")
        return self.cloud.store.get_blob(_data_key(image))

    def fill(self, image: Image, data: bytes, stores: Iterable[str] = (DEFAULT_STORE,)) -> None:
        """Make an image active with this data; one with a fault is killed."""
        if image.take_fault() is not None:
            image.status = "killed"
        else:
            self.cloud.store.put_blob(_data_key(image), data)
            image.size = len(data)
            image.virtual_size = len(data) if image.disk_format in ("raw", "iso") else None
            image.checksum = hashlib.md5(data, usedforsecurity=False).hexdigest()
            image.os_hash_algo, image.os_hash_value = HASH, hashlib.new(HASH, data).hexdigest()
            image.stores, image.status = list(stores), "active"
        self._save(image)

    def forget_staged(self, image: Image) -> None:
        """Remove the data that was kept for an import."""
        self.cloud.store.remove_blob(_staging_key(image))

    def forget(self, image: Image) -> None:
        """Remove all data of an image."""
        self.cloud.store.remove_blob(_data_key(image))
        self.forget_staged(image)

    def _save(self, image: Image) -> None:
        image.updated_at = self.records.timestamp()
        self._images.save(image)


def _data_key(image: Image) -> str:
    return f"glance/images/{image.id}"


def _staging_key(image: Image) -> str:
    return f"glance/staging/{image.id}"


def placeholder_data(seed: str, size: int) -> bytes:
    """Bytes in place of an image's real data: always the same for the same seed."""
    block = hashlib.sha512(seed.encode()).digest()
    return (block * (size // len(block) + 1))[:size]


def _require_queued(image: Image, target: str) -> None:
    if image.status != "queued":
        raise conflict(f"Image status transition from {image.status} to {target} is not allowed")


def require_formats(image: Image) -> None:
    """Refuse an image without formats, which cannot have data. Raises ApiError 400."""
    missing = [field for field in ("disk_format", "container_format") if image.get(field) is None]
    if missing:
        raise bad_request(f"Properties {', '.join(missing)} must be set prior to saving data.")
