"""What requests and other services want to be created, with values that were checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

SNAPSHOT_SIZE = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class NewImage:
    """An image; without an id, it gets one."""

    id: str | None = None
    name: str | None = None
    visibility: str = "shared"
    protected: bool = False
    os_hidden: bool = False
    container_format: str | None = None
    disk_format: str | None = None
    min_disk: int = 0
    min_ram: int = 0
    tags: list[str] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Self:
        """The image with these fields, as `changes.fields_of_new` returns them and pending tasks have them."""
        return cls(**fields)


@dataclass(frozen=True, kw_only=True)
class NewCopy(NewImage):
    """An image of a server or a volume; its size in bytes is 0 if it only names snapshots in its properties."""

    visibility: str = "private"
    container_format: str | None = "bare"
    disk_format: str | None = "qcow2"
    size: int = SNAPSHOT_SIZE


@dataclass(frozen=True, kw_only=True)
class ImportMethod:
    """How an image is imported, and, for `web-download`, from where. parameters: the method as the request has it."""

    name: str
    uri: str
    parameters: Mapping[str, Any]

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Self:
        return cls(name=body["name"], uri=body.get("uri", ""), parameters=body)
