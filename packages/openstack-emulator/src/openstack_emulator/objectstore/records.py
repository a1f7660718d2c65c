"""What Swift keeps: accounts, containers and objects. `headers` are those that were sent to be kept, with names in
lower case; times are in seconds since the epoch."""

from __future__ import annotations

from dataclasses import dataclass, field

from openstack_emulator.core.typed import Part, TypedRecord, named


@dataclass(slots=True, kw_only=True, eq=False)
class Account(TypedRecord):
    """An account, `AUTH_<project>`."""

    project_id: str
    headers: dict[str, str]
    created: float


@dataclass(slots=True, kw_only=True, eq=False)
class Container(TypedRecord):
    """A container, `<account>/<name>`."""

    account: str
    project_id: str
    name: str
    headers: dict[str, str]
    created: float


@dataclass(slots=True, kw_only=True, eq=False)
class Segment(Part):
    """A segment of a static large object: `/<container>/<object>`, and what that was when the manifest was put.

    range: the first and the last byte of a part; `bytes` is the number of its bytes, `whole_bytes` of all.
    """

    name: str
    hash: str
    bytes: int
    content_type: str
    last_modified: str
    range: str | None
    whole_bytes: int = field(metadata=named("_whole"))


@dataclass(slots=True, kw_only=True, eq=False)
class Link(Part):
    """What an object leads to that stands for another one; `hash` is what that must have."""

    account: str
    container: str
    object: str
    hash: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class StoredObject(TypedRecord):
    """An object, `<container id>/<name>`; `blob` is the key of its data, `segments` the manifest of a static large
    object."""

    project_id: str
    container_id: str
    name: str
    modified: float
    bytes: int
    hash: str
    content_type: str
    headers: dict[str, str]
    delete_at: int | None
    segments: list[Segment] | None
    symlink: Link | None
    blob: str = field(metadata=named("_blob"))
