"""What requests want to be stored, with values that were checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from openstack_emulator.objectstore.records import Link, Segment


@dataclass(frozen=True, kw_only=True)
class NewObject:
    """An object.

    bytes, hash: of what its segments are; without them they follow from the data. expected_hash: what the hash must be.
    """

    content_type: str
    headers: Mapping[str, str] = field(default_factory=dict)
    delete_at: int | None = None
    segments: list[Segment] | None = None
    symlink: Link | None = None
    bytes: int | None = None
    hash: str | None = None
    expected_hash: str | None = None
