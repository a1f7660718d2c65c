"""Identifiers: UUIDs, the short ids inside physical names, request ids, ARNs."""

from __future__ import annotations

import os
import uuid
from urllib.parse import quote

_SHORT_ID_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
_SHORT_ID_CHARACTERS = frozenset(_SHORT_ID_ALPHABET)
_SHORT_ID_PAIRS = [first + second for first in _SHORT_ID_ALPHABET for second in _SHORT_ID_ALPHABET]
"""The characters for each ten bits."""
_VERSION_4 = uuid.UUID("00000000-0000-4000-8000-000000000000").int
_RANDOM_BITS = uuid.UUID("ffffffff-ffff-0fff-3fff-ffffffffffff").int


def new_id() -> str:
    """Return a random UUID as a hyphenated string."""
    number = int.from_bytes(os.urandom(16)) & _RANDOM_BITS | _VERSION_4
    text = f"{number:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def new_request_id() -> str:
    """Return a new OpenStack request ID."""
    return f"req-{new_id()}"


def short_id(identifier: str) -> str:
    """Return 12 lower-case base32 characters made from 60 random bits of a version 4 UUID.

    The same UUID always gives the same characters, so that a physical name can be derived again after a crash.
    """
    bits = int(identifier.replace("-", "")[-15:], 16)  # the low 62 bits of a version 4 UUID are all random
    pairs = _SHORT_ID_PAIRS
    left = pairs[bits >> 50] + pairs[bits >> 40 & 1023] + pairs[bits >> 30 & 1023]
    return left + pairs[bits >> 20 & 1023] + pairs[bits >> 10 & 1023] + pairs[bits & 1023]


def physical_name(stack_name: str, resource_name: str, identifier: str, limit: int | None = 255) -> str:
    """Return `<stack>-<resource>-<short id>`, shortened in the middle when longer than `limit` characters.

    Raises ValueError for a limit below 4.
    """
    name = f"{stack_name.rstrip('*')}-{resource_name}-{short_id(identifier)}"
    return shorten(name, limit)


def has_short_id(name: str) -> bool:
    """Return whether a name ends as physical names do, so that Stoker may have chosen it."""
    front, _, end = name.rpartition("-")
    return "-" in front and len(end) == 12 and all(character in _SHORT_ID_CHARACTERS for character in end)


def shorten(name: str, limit: int | None) -> str:
    """Return the first two characters, a hyphen, and the end of `name` if it is longer than `limit`, else `name`."""
    if limit is None or len(name) <= limit:
        return name
    if limit < 4:
        raise ValueError(f"a name cannot be shortened to {limit} characters")
    return f"{name[:2]}-{name[-(limit - 3) :]}"


def arn(project_id: str, stack_name: str, stack_id: str, path: str = "") -> str:
    """Return the ARN of a stack or, with `path`, of one of its resources."""
    tail = f"/{quote(path, safe='/')}" if path else ""
    return f"arn:openstack:heat::{project_id}:stacks/{quote(stack_name, safe='')}/{stack_id}{tail}"
