"""Inventories of Cinder's types."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.plugins.inventory import Fields

_SERVICE_METADATA = frozenset({"attached_mode", "readonly"})
"""Keys that the service itself adds to the metadata of a volume."""


def _volume(values: Mapping[str, object], volume: Fields) -> Fields:
    """A volume that was created from another source than an image has the image's metadata, too."""
    metadata = volume.get("metadata") or {}
    copied = volume.get("snapshot_id") or volume.get("source_volid")
    return {
        **values,
        "image": None if copied else (volume.get("volume_image_metadata") or {}).get("image_id"),
        "metadata": {name: value for name, value in metadata.items() if name not in _SERVICE_METADATA},
        "read_only": str(metadata.get("readonly", False)).lower() == "true",
    }


ROWS: Mapping[str, Mapping[str, object]] = {
    "OS::Cinder::Volume": {
        "usual": {"read_only": False},
        "varying": frozenset({"availability_zone"}),
        "describe": _volume,
    },
}
