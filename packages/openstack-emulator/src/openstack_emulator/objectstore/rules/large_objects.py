"""Objects made of others: static ones by a manifest of segments, dynamic ones by a common prefix."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from urllib.parse import unquote

import orjson

from openstack_emulator.objectstore.records import Segment, StoredObject
from openstack_emulator.objectstore.rules.accounts import Containers
from openstack_emulator.objectstore.rules.errors import explained
from openstack_emulator.objectstore.rules.inputs import NewObject
from openstack_emulator.objectstore.rules.objects import Objects, hash_of
from openstack_emulator.objectstore.rules.ranges import spans
from openstack_emulator.objectstore.rules.times import iso_time

MOST_SEGMENTS = 1000
KEYS = frozenset({"path", "etag", "size_bytes", "range"})
DYNAMIC = "x-object-manifest"
"""The header with the prefix of the segments of a dynamic large object."""


class LargeObjects:
    """Finds the segments of large objects."""

    def __init__(self, containers: Containers, objects: Objects) -> None:
        self._containers, self._objects = containers, objects

    def static(self, account: str, body: bytes, new: NewObject) -> NewObject:
        """A new object that is a static large one, by the body of `PUT …?multipart-manifest=put`.

        Raises: ApiError 400 that tells, per segment, what is wrong.
        """
        try:
            entries = orjson.loads(body)
        except orjson.JSONDecodeError:
            raise explained(400, "Manifest must be valid JSON.") from None
        if not isinstance(entries, list) or not entries:
            raise explained(400, "Manifest must be a list with at least one segment.")
        if len(entries) > MOST_SEGMENTS:
            raise explained(413, f"Number of segments must be <= {MOST_SEGMENTS}")
        segments, problems = [], []
        for index, entry in enumerate(entries):
            try:
                segments.append(self._segment(account, index, entry))
            except _BadSegment as error:
                problems.append(str(error))
        if problems:
            raise explained(400, "\n".join(["Errors:", *problems]))
        size = sum(segment.bytes for segment in segments)
        whole_hash = _joined_hash(
            segment.hash if segment.range is None else f"{segment.hash}:{segment.range};" for segment in segments
        )
        return dataclasses.replace(new, segments=segments, bytes=size, hash=whole_hash)

    def _segment(self, account: str, index: int, entry: object) -> Segment:
        if not isinstance(entry, Mapping) or not isinstance(path := entry.get("path"), str):
            raise _BadSegment(f'Index {index}: each segment must be an object with a "path"')
        if unknown := set(entry) - KEYS:
            raise _BadSegment(f"Index {index}: extraneous keys {', '.join(sorted(unknown))}")
        path = "/" + path.lstrip("/")
        found = self._at(account, path)
        if found is None:
            raise _BadSegment(f"{path}, 404 Not Found")
        if entry.get("etag") not in (None, found.hash):
            raise _BadSegment(f"{path}, Etag Mismatch")
        if (size := entry.get("size_bytes")) is not None and str(size) != str(found.bytes):
            raise _BadSegment(f"{path}, Size Mismatch")
        segment = Segment(
            name=path,
            hash=found.hash,
            bytes=found.bytes,
            content_type=found.content_type,
            last_modified=iso_time(found.modified),
            range=None,
            whole_bytes=found.bytes,
        )
        return segment if (byte_range := entry.get("range")) is None else _narrowed(segment, index, byte_range)

    def _at(self, account: str, path: str) -> StoredObject | None:
        """The object that a manifest's `/container/object` names."""
        container, _, name = path.lstrip("/").partition("/")
        holder = self._containers.find(account, container)
        return None if holder is None else self._objects.find(holder, name)

    def content(self, account: str, stored: StoredObject) -> tuple[bytes, str]:
        """What a GET gives: the object's own bytes or its segments', and the ETag.

        Raises: ApiError 409 when a segment of a static large object has gone or has changed.
        """
        if stored.segments is not None:
            return b"".join(self._bytes(account, segment) for segment in stored.segments), f'"{stored.hash}"'
        if (manifest := stored.headers.get(DYNAMIC)) is not None:
            parts = self._dynamic(account, manifest)
            whole_hash = _joined_hash(part.hash for part in parts)
            return b"".join(self._objects.data(part) for part in parts), f'"{whole_hash}"'
        return self._objects.data(stored), stored.hash

    def _dynamic(self, account: str, manifest: str) -> list[StoredObject]:
        """The objects that a dynamic large object consists of, in order."""
        container, _, prefix = unquote(manifest).lstrip("/").partition("/")
        holder = self._containers.find(account, container)
        rows = [] if holder is None else self._objects.of(holder)
        return [row for row in rows if row.name.startswith(prefix)]

    def _bytes(self, account: str, segment: Segment) -> bytes:
        found = self._at(account, segment.name)
        if found is None or found.hash != segment.hash:
            raise explained(409, f"The segment {segment.name} of this object has gone or has changed.")
        data, _ = self.content(account, found)
        if segment.range is None:
            return data
        first, _, last = segment.range.partition("-")
        return data[int(first) : int(last) + 1]


def _joined_hash(parts: Iterable[str]) -> str:
    return hash_of("".join(parts).encode())


def _narrowed(segment: Segment, index: int, byte_range: object) -> Segment:
    """The segment with a part of its bytes."""
    byte_ranges = spans(f"bytes={byte_range}", segment.whole_bytes)
    if byte_ranges is None or len(byte_ranges) != 1:
        raise _BadSegment(f"Index {index}: invalid range")
    start, end = byte_ranges[0]
    return dataclasses.replace(segment, bytes=end - start, range=f"{start}-{end - 1}")


def check_dynamic_manifest(manifest: str) -> None:
    """Raise ApiError 400 unless a header's value is `container/prefix`."""
    container, slash, prefix = manifest.partition("/")
    if not (container and slash and prefix) or "?" in manifest or "&" in manifest:
        raise explained(400, "X-Object-Manifest must be in the format container/prefix")


class _BadSegment(Exception):
    """One entry of a manifest is wrong."""
