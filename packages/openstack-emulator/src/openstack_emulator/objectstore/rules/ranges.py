"""The parts of a body that a header asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from openstack_emulator.objectstore.rules.errors import refused

MOST_RANGES = 50
Span = tuple[int, int]
"""The first byte, and the one after the last."""


def spans(header: str | None, size: int, shown: Mapping[str, str] | None = None) -> Sequence[Span] | None:
    """The parts a `Range` header asks for, as first byte and the one after the last; None for all of it.

    A header that is malformed is ignored, as HTTP demands.

    shown: the headers of the object.

    Raises: ApiError 416, with these headers, when nothing of it exists.
    """
    match = re.fullmatch(r"bytes=(.+)", (header or "").strip())
    parts = [part.strip() for part in match.group(1).split(",")] if match else []
    matches = [re.fullmatch(r"(\d*)-(\d*)", part) for part in parts]
    if not matches or len(parts) > MOST_RANGES:
        return None
    found: list[Span] = []
    for interval in matches:
        if interval is None or interval.group(0) == "-":
            return None
        span = _span(interval.group(1), interval.group(2), size)
        if span is None:
            return None
        if span[0] < span[1]:
            found.append(span)
    if not found:
        raise refused(416, {**(shown or {}), "Content-Range": f"bytes */{size}"})
    return found


def _span(first: str, last: str, size: int) -> Span | None:
    if not first:
        return max(size - int(last), 0), size
    if last and int(last) < int(first):
        return None
    return int(first), min(int(last) + 1, size) if last else size
