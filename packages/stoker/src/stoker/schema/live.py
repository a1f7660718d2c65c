"""How the live value of a property is known, so that it can be compared with the template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class LiveSource(StrEnum):
    """Where the value that an object has now is read."""

    LISTED = "listed"
    """It is a field of the object, as its service shows and lists it."""
    FETCHED = "fetched"
    """It takes a further read: of a sub-collection, or of what connects the object with others."""
    NEVER = "never"
    """It cannot be read; the reason says why."""
    MANAGED = "managed"
    """No service has it: it tells Stoker what to do, or Stoker keeps it, or resources of a nested stack have it."""


@dataclass(frozen=True, slots=True)
class Live:
    """How a property's live value is known; `reason` says why it is NEVER or MANAGED, as part of a sentence.

    Others may add keys to a `shared` map, and elements to a `shared` list, which are no differences. The order of an
    `ordered` list counts.
    """

    how: LiveSource
    reason: str = ""
    shared: bool = False
    ordered: bool = False

    @property
    def is_compared(self) -> bool:
        """Whether the value is expected to be read and compared."""
        return self.how in (LiveSource.LISTED, LiveSource.FETCHED)


LISTED = Live(LiveSource.LISTED)
FETCHED = Live(LiveSource.FETCHED)


def never(reason: str) -> Live:
    """Declare a property whose live value cannot be read: `the service does not show passwords`."""
    return Live(LiveSource.NEVER, reason)


def managed(reason: str) -> Live:
    """Declare a property of which no service has a value: `it tells Stoker when to replace the server`."""
    return Live(LiveSource.MANAGED, reason)


def same(sent: object, shown: object) -> bool:
    """Return whether a service shows what it was sent, ignoring keys that it adds and the order of lists.

    Services show an empty value in several ways, null among them.
    """
    if shown is None and sent in ("", [], {}):
        return True
    if isinstance(sent, Mapping) and isinstance(shown, Mapping):
        return all(key in shown and same(value, shown[key]) for key, value in sent.items())
    if isinstance(sent, list) and isinstance(shown, list):
        return (
            len(sent) == len(shown)
            and all(any(same(item, other) for other in shown) for item in sent)
            and all(any(same(item, other) for item in sent) for other in shown)
        )
    return bool(sent == shown) or str(sent) == str(shown)
