"""Marks of databases, and what a database lacks compared with one: plain data (see `marks`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

ShownId = Callable[[str, str, str], str]
"""How the ID of an object is written in a mark: from the type and the UUID of its resource, and the ID."""


class Finding(Enum):
    """What a restored database tells otherwise about a stack than its mark."""

    MISSING = "missing"
    """The mark has the stack, the database does not: nobody owns its objects."""
    CHANGED = "changed"
    """It was changed after the database's last record of it: objects may be lost, or belong to nobody."""
    DELETED = "deleted"
    """The database has the stack, the mark does not: it was deleted, and its objects are lost."""


class Item(NamedTuple):
    """An object in the cloud: the type and the name of its resource, and its ID."""

    type: str
    resource: str
    physical_id: str


@dataclass(frozen=True, slots=True)
class MarkedStack:
    """A stack that is not nested. `changed_at` is when an operation of its tree was last recorded; `items` are the
    objects of the tree.
    """

    name: str
    project_id: str
    changed_at: float
    items: frozenset[Item] = frozenset()


@dataclass(frozen=True, slots=True)
class Mark:
    """The engine with the last report, the time of that report, and the stacks by ID. `event` is the sequence number of
    the last event: as long as it is the same, no object has changed.
    """

    engine: str
    seen_at: float
    event: int
    stacks: Mapping[str, MarkedStack]


@dataclass(frozen=True, slots=True)
class Difference:
    """What was found about a stack. `marked_at` and `recorded_at` are its last changes, as the mark and as the database
    have them; None where there is no such stack. Objects in `orphaned` are in the mark only, so that no resource has
    them; those in `lost` are in the database only: they were deleted or replaced after it was copied.
    """

    finding: Finding
    stack_id: str
    name: str
    project_id: str
    marked_at: float | None
    recorded_at: float | None
    orphaned: tuple[Item, ...] = ()
    lost: tuple[Item, ...] = ()

    def values(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {
            "finding": self.finding.value,
            "stack_id": self.stack_id,
            "name": self.name,
            "project_id": self.project_id,
            "marked_at": self.marked_at,
            "recorded_at": self.recorded_at,
            "orphaned": [list(item) for item in self.orphaned],
            "lost": [list(item) for item in self.lost],
        }

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Difference:
        """Return the difference that `values` described. Raises the errors of malformed data."""
        items = {name: tuple(Item(*item) for item in data[name]) for name in ("orphaned", "lost")}
        return cls(**{**data, "finding": Finding(data["finding"]), **items})
