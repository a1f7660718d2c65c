"""The status and action that every change passes through: PENDING until the name servers have it, then ACTIVE."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.dns.records import PropagatedRecord

SECONDS_TO_CHANGE = 1.0
S = TypeVar("S", bound=PropagatedRecord)


class _TrackedTable(NamedTuple):
    """A table whose changes are finished, and what is called with its records then."""

    rows: Table[Any]
    published: Callable[[Any], None]
    removed: Callable[[Any], None]


class Progress(Rules):
    """Finishes changes of zones and record sets. One with an injected fault ends with the status ERROR."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self._tracked: dict[str, _TrackedTable] = {}
        records.deferrable(self.finish)

    def track(self, rows: Table[S], published: Callable[[S], None], removed: Callable[[S], None]) -> None:
        """Finish the changes of a table. The functions are called with a record that the name servers now have, and
        with one that they no longer have."""
        self._tracked[rows.name] = _TrackedTable(rows, published, removed)

    def begin(self, rows: Table[S], record: S, action: str) -> None:
        """Begin a change (CREATE, UPDATE or DELETE) of a record, which has been added before."""
        record.status, record.action = "PENDING", action
        record.changes += 1
        rows.save(record)
        self.after(SECONDS_TO_CHANGE, self.finish, rows.name, record.id, record.changes)

    def finish(self, collection: str, key: str, number: int) -> None:
        """Finish a change, unless there has been another one since."""
        rows, published, removed = self._tracked[collection]
        record = rows.get(key)
        if record is None or record.changes != number:
            return
        if record.take_fault() is not None:
            record.status = "ERROR"
            rows.save(record)
        elif record.action == "DELETE":
            rows.remove(record)
            removed(record)
        else:
            record.status, record.action = "ACTIVE", "NONE"
            rows.save(record)
            published(record)
