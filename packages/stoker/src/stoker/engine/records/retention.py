"""What an operation leaves as it is because its request says so: objects that are retained, resources to skip."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from math import inf
from typing import Any

import orjson
from sqlalchemy import Connection

from stoker.engine.records.actions import FORWARD, RETURNS
from stoker.store import completion, queries
from stoker.store.records import Operation


@dataclass(frozen=True, slots=True)
class Left:
    """An object that could not be deleted: the path of its resource below the stack, the type, and the object's ID."""

    path: str
    type: str
    physical_id: str | None

    def named(self) -> str:
        """Return the object for messages: `volume (OS::Cinder::Volume 3f0c…)`."""
        return f"{self.path} ({' '.join(filter(None, (self.type, self.physical_id)))})"


@dataclass(frozen=True, slots=True)
class Retention:
    """What the request for an operation leaves as it is, stored with the operation.

    `retained` are the uuids of the resources, in nested stacks too, whose objects a deletion retains. With `forced`, an
    object that cannot be deleted is left behind; `left` are those that were. `skipped` are the uuids of the resources,
    in nested stacks too, without which a retry continues.
    """

    retained: frozenset[str] = frozenset()
    forced: bool = False
    left: tuple[Left, ...] = ()
    skipped: frozenset[str] = frozenset()

    @classmethod
    def of(cls, operation: Operation) -> Retention:
        """Return what an operation retains."""
        if operation.retention is None:
            return cls()
        data: dict[str, Any] = orjson.loads(operation.retention)
        left = tuple(Left(**each) for each in data["left"])
        return cls(frozenset(data["retained"]), data["forced"], left, frozenset(data.get("skipped", ())))

    def to_json(self) -> str | None:
        """Return the value of the operation's column; None for nothing."""
        if self == Retention():
            return None
        data = {"retained": sorted(self.retained), "forced": self.forced, "left": [asdict(each) for each in self.left]}
        skipped = {"skipped": sorted(self.skipped)} if self.skipped else {}
        return orjson.dumps({**data, **skipped}).decode()

    def asked(self) -> Retention:
        """Return what the request asked for, for operations on nested stacks and for a retry."""
        return replace(self, left=())


def completed_before(connection: Connection, operation: Operation) -> float:
    """Return when the last operation on the stack's tree was complete that a rollback returns to: `Removing.since`.

    `operation` is the rollback, or a part of it on a nested stack; the result is infinite for other operations, and 0
    if no operation was complete.
    """
    top = _top(connection, operation)
    is_rollback = top is not None and top.action == "ROLLBACK"
    return completion.last(connection, top.stack_id, FORWARD) if top is not None and is_rollback else inf


def is_part_of_return(connection: Connection, operation: Operation) -> bool:
    """Return whether an operation on a nested stack is part of one that returns to a former definition."""
    top = _top(connection, operation)
    return top is not None and top.action in RETURNS


def _top(connection: Connection, operation: Operation) -> Operation | None:
    """Return the operation that an operation on a nested stack is part of; None if it is not recorded any more."""
    while operation.parent_operation is not None:
        above = queries.operation_by_id(connection, operation.parent_operation)
        if above is None:
            return None
        operation = above
    return operation
