"""Metadata travels in headers: which ones accounts, containers and objects keep, and within which limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from openstack_emulator.core.http import MOST_DIGITS
from openstack_emulator.objectstore.rules.errors import constrained

LONGEST_NAME = 128
LONGEST_VALUE = 256
MOST_ENTRIES = 90
LARGEST_SUM = 4096

Headers = dict[str, str]

POLICY = "Policy-0"
"""The one storage policy there is."""
ACCOUNT_QUOTAS = {
    "x-account-meta-quota-bytes": "bytes",
    **{
        f"x-account-quota-{what}{suffix}": what
        for what in ("bytes", "count")
        for suffix in ("", f"-policy-{POLICY.lower()}")
    },
}
"""Headers that limit an account, and whether they limit bytes or the count of objects."""
VERSION_LOCATIONS = ("x-versions-location", "x-history-location")
CONTAINER_KEPT = (*(f"x-container-{name}" for name in ("read", "write", "sync-to", "sync-key")), *VERSION_LOCATIONS)
OBJECT_SYSTEM = ("content-encoding", "content-disposition", "x-object-manifest")


def user_metadata(headers: Mapping[str, str], kind: str) -> Headers:
    """The `x-<kind>-meta-…` headers of a request; 400 when they are beyond the limits.

    kind: account, container or object.
    """
    prefix = f"x-{kind}-meta-"
    found = {name: value for name, value in headers.items() if name.startswith(prefix)}
    for name, value in found.items():
        short = name.removeprefix(prefix)
        if not short:
            raise constrained("Metadata name cannot be empty")
        if len(short) > LONGEST_NAME:
            raise constrained(f"Metadata name too long: {name}")
        if len(value) > LONGEST_VALUE:
            raise constrained(f"Metadata value longer than {LONGEST_VALUE}: {name}")
    if len(found) > MOST_ENTRIES:
        raise constrained(f"Too many metadata items; max {MOST_ENTRIES}")
    if sum(len(name) - len(prefix) + len(value) for name, value in found.items()) > LARGEST_SUM:
        raise constrained(f"Total metadata too large; max {LARGEST_SUM}")
    return found


def changed(stored: Mapping[str, str], headers: Mapping[str, str], kind: str, system: Sequence[str] = ()) -> Headers:
    """What an account or a container keeps after a request: named headers are set, empty ones and those under
    `x-remove-…` dropped, others stay.

    system: further headers than metadata, by full lower-case name.
    """
    result = dict(stored)
    metadata = {**user_metadata(headers, kind), **{name: headers[name] for name in system if name in headers}}
    for name in headers:
        target = "x-" + name.removeprefix("x-remove-")
        if name.startswith("x-remove-") and (target in system or target.startswith(f"x-{kind}-meta-")):
            metadata[target] = ""
    for name, value in metadata.items():
        if value:
            result[name] = value
        else:
            result.pop(name, None)
    return result


def shown(headers: Mapping[str, str]) -> Headers:
    """Headers spelled as Swift does: `X-Container-Meta-Color`."""
    return {name.title(): value for name, value in headers.items()}


def is_number(text: str) -> bool:
    """Whether a header or field is a whole number that is zero or more, with digits that Python reads."""
    return text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS
