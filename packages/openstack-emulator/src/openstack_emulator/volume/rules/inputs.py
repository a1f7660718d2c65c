"""What requests want of the block-storage service; None is the same as absent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, kw_only=True)
class NewVolume:
    """A volume that is to be created, empty or of at most one of its sources.

    size: in GiB, also as a string. request_id: the request that messages about the volume are to name.
    """

    size: int | str | None = None
    name: str | None = None
    description: str | None = None
    volume_type: str | None = None
    availability_zone: str | None = None
    metadata: Mapping[str, str] | None = None
    bootable: bool = False
    group_id: str | None = None
    snapshot_id: str | None = None
    source_volid: str | None = None
    image_id: str | None = None
    backup_id: str | None = None
    request_id: str | None = None

    @classmethod
    def from_json(cls, body: Mapping[str, Any], request_id: str | None = None) -> Self:
        """The volume of a request's body, in which an empty string is the same as null."""
        values = {name: value for name, value in body.items() if value not in (None, "")}
        return cls(
            size=values.get("size"),
            name=values.get("name", values.get("display_name")),
            description=values.get("description", values.get("display_description")),
            volume_type=values.get("volume_type"),
            availability_zone=values.get("availability_zone"),
            metadata=values.get("metadata"),
            group_id=values.get("group_id"),
            snapshot_id=values.get("snapshot_id"),
            source_volid=values.get("source_volid"),
            image_id=values.get("imageRef"),
            backup_id=values.get("backup_id"),
            request_id=request_id,
        )


@dataclass(frozen=True, kw_only=True)
class NewSnapshot:
    """A snapshot that is to be taken."""

    name: str | None = None
    description: str | None = None
    metadata: Mapping[str, str] | None = None
    group_snapshot_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class NewBackup:
    """A backup that is to be made; `force` allows it of a volume in use."""

    name: str | None = None
    description: str | None = None
    container: str | None = None
    availability_zone: str | None = None
    metadata: Mapping[str, str] | None = None
    snapshot_id: str | None = None
    incremental: bool = False
    force: bool = False


@dataclass(frozen=True, kw_only=True)
class NewGroup:
    """A group that is to be created; its types by id or name."""

    name: str | None = None
    description: str | None = None
    group_type: str = ""
    volume_types: Sequence[str] = ()
    availability_zone: str | None = None
    group_snapshot_id: str | None = None
    source_group_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class NewImage:
    """An image that is to be made of a volume; the formats and the visibility are Glance's."""

    name: str
    force: bool = False
    container_format: str | None = None
    disk_format: str | None = None
    visibility: str | None = None


@dataclass(frozen=True, kw_only=True)
class NewEncryption:
    """How the volumes of a type are to be encrypted."""

    provider: str
    cipher: str | None = None
    key_size: int | None = None
    control_location: str | None = None
