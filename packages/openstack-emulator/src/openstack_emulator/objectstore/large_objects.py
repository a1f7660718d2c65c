"""Objects made of others: static ones by a manifest of segments, dynamic ones by a common prefix."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

import orjson

from openstack_emulator.core.store import Record
from openstack_emulator.objectstore.conditions import spans
from openstack_emulator.objectstore.errors import explained
from openstack_emulator.objectstore.listing import iso_time
from openstack_emulator.objectstore.records import ObjectStoreRecords

MOST_SEGMENTS = 1000
KEYS = frozenset({"path", "etag", "size_bytes", "range"})


def static_manifest(swift: ObjectStoreRecords, account: str, body: bytes) -> dict[str, Any]:
    """The fields of a static large object, out of the body of `PUT …?multipart-manifest=put`.

    Raises: ApiError 400 that tells, per segment, what is wrong.
    """
    try:
        given = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise explained(400, "Manifest must be valid JSON.") from None
    if not isinstance(given, list) or not given:
        raise explained(400, "Manifest must be a list with at least one segment.")
    if len(given) > MOST_SEGMENTS:
        raise explained(413, f"Number of segments must be <= {MOST_SEGMENTS}")
    segments, problems = [], []
    for at, entry in enumerate(given):
        try:
            segments.append(_segment(swift, account, at, entry))
        except _BadSegment as error:
            problems.append(str(error))
    if problems:
        raise explained(400, "\n".join(["Errors:", *problems]))
    return {
        "segments": segments,
        "bytes": sum(segment["bytes"] for segment in segments),
        "hash": hashlib.md5("".join(map(_etag_part, segments)).encode(), usedforsecurity=False).hexdigest(),
    }


def segment_at(swift: ObjectStoreRecords, account: str, path: str) -> Record | None:
    """The object a manifest's `/container/object` names."""
    container, _, name = path.lstrip("/").partition("/")
    holder = swift.containers.get(f"{account}/{container}")
    return None if holder is None else swift.find_object(holder, name)


def content(swift: ObjectStoreRecords, account: str, stored: Record) -> tuple[bytes, str]:
    """What a GET gives: the object's own bytes or its segments', and the ETag.

    Raises: ApiError 409 when a segment of a static large object has gone or has changed.
    """
    if stored["segments"] is not None:
        return b"".join(_bytes_of(swift, account, s) for s in stored["segments"]), f'"{stored["hash"]}"'
    if "x-object-manifest" in stored["headers"]:
        parts = dynamic_segments(swift, account, stored["headers"]["x-object-manifest"])
        digest = hashlib.md5("".join(part["hash"] for part in parts).encode(), usedforsecurity=False).hexdigest()
        return b"".join(swift.data(part) for part in parts), f'"{digest}"'
    return swift.data(stored), str(stored["hash"])


def dynamic_segments(swift: ObjectStoreRecords, account: str, manifest: str) -> list[Record]:
    """The objects that a dynamic large object consists of, in order."""
    container, _, prefix = unquote(manifest).lstrip("/").partition("/")
    holder = swift.containers.get(f"{account}/{container}")
    rows = [] if holder is None else swift.objects_in(holder)
    return [row for row in rows if row["name"].startswith(prefix)]


def check_dynamic_manifest(manifest: str) -> str:
    """The header's value; 400 unless it is `container/prefix`."""
    container, slash, prefix = manifest.partition("/")
    if not (container and slash and prefix) or "?" in manifest or "&" in manifest:
        raise explained(400, "X-Object-Manifest must be in the format container/prefix")
    return manifest


def raw_manifest(segments: list[Record]) -> bytes:
    """The manifest in the form in which it was put, for `?multipart-manifest=get&format=raw`."""
    return orjson.dumps(
        [
            {
                "path": segment["name"],
                "etag": segment["hash"],
                "size_bytes": segment["_whole"],
                **({"range": segment["range"]} if "range" in segment else {}),
            }
            for segment in segments
        ]
    )


def shown_manifest(segments: list[Record]) -> bytes:
    """The manifest as Swift keeps it, for `?multipart-manifest=get`."""
    return orjson.dumps([{k: v for k, v in segment.items() if not k.startswith("_")} for segment in segments])


class _BadSegment(Exception):
    """One entry of a manifest is wrong."""


def _segment(swift: ObjectStoreRecords, account: str, at: int, entry: Any) -> Record:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("path"), str):
        raise _BadSegment(f'Index {at}: each segment must be an object with a "path"')
    if unknown := set(entry) - KEYS:
        raise _BadSegment(f"Index {at}: extraneous keys {', '.join(sorted(unknown))}")
    path = "/" + entry["path"].lstrip("/")
    found = segment_at(swift, account, path)
    if found is None:
        raise _BadSegment(f"{path}, 404 Not Found")
    if entry.get("etag") not in (None, found["hash"]):
        raise _BadSegment(f"{path}, Etag Mismatch")
    if entry.get("size_bytes") is not None and str(entry["size_bytes"]) != str(found["bytes"]):
        raise _BadSegment(f"{path}, Size Mismatch")
    segment = {
        "name": path,
        "hash": found["hash"],
        "bytes": found["bytes"],
        "content_type": found["content_type"],
        "last_modified": iso_time(found["modified"]),
        "_whole": found["bytes"],
    }
    if entry.get("range") is None:
        return segment
    wanted = spans(f"bytes={entry['range']}", found["bytes"])
    if wanted is None or len(wanted) != 1:
        raise _BadSegment(f"Index {at}: invalid range")
    start, end = wanted[0]
    return {**segment, "bytes": end - start, "range": f"{start}-{end - 1}"}


def _etag_part(segment: Mapping[str, Any]) -> str:
    return f"{segment['hash']}:{segment['range']};" if "range" in segment else str(segment["hash"])


def _bytes_of(swift: ObjectStoreRecords, account: str, segment: Mapping[str, Any]) -> bytes:
    found = segment_at(swift, account, segment["name"])
    if found is None or found["hash"] != segment["hash"]:
        raise explained(409, f"The segment {segment['name']} of this object has gone or has changed.")
    data, _ = content(swift, account, found)
    if "range" not in segment:
        return data
    first, _, last = segment["range"].partition("-")
    return data[int(first) : int(last) + 1]
