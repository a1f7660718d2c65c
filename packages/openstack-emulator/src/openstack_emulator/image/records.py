"""What the image service keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from openstack_emulator.core.typed import TypedRecord, named

NamespaceParts = dict[str, dict[str, object]]
"""Definitions within a namespace, by name, as requests have them, most of them with times."""


@dataclass(slots=True, kw_only=True, eq=False)
class Image(TypedRecord):
    """An image; its data is a blob.

    project_id: the owner, if it has one. min_disk: in GB, min_ram in MB, the sizes in bytes. properties: those that
    are no attributes. stores: where the data is.
    """

    name: str | None
    project_id: str | None
    status: str
    visibility: str
    protected: bool
    os_hidden: bool
    container_format: str | None
    disk_format: str | None
    min_disk: int
    min_ram: int
    tags: list[str]
    properties: dict[str, str]
    stores: list[str]
    checksum: str | None
    os_hash_algo: str | None
    os_hash_value: str | None
    size: int | None
    virtual_size: int | None
    created_at: str
    updated_at: str


@dataclass(slots=True, kw_only=True, eq=False)
class Member(TypedRecord):
    """A project with which an image is shared."""

    image_id: str
    project_id: str
    status: str
    created_at: str
    updated_at: str


@dataclass(slots=True, kw_only=True, eq=False)
class Task(TypedRecord):
    """An import of an image; `input` is what was asked for, `message` why it has failed."""

    type: str
    status: str
    image_id: str | None
    project_id: str | None
    user_id: str
    request_id: str
    input: dict[str, Any]
    result: dict[str, str] | None
    message: str
    created_at: str
    updated_at: str
    expires_at: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class Namespace(TypedRecord):
    """Metadata definitions, under their name."""

    namespace: str
    display_name: str | None
    description: str | None
    visibility: str
    protected: bool
    project_id: str
    created_at: str
    updated_at: str
    resource_types: NamespaceParts = field(metadata=named("_resource_types"))
    properties: NamespaceParts = field(metadata=named("_properties"))
    objects: NamespaceParts = field(metadata=named("_objects"))
    tags: NamespaceParts = field(metadata=named("_tags"))
