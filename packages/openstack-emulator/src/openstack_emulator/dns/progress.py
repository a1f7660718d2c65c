"""The status and action that every change passes through: PENDING until the name servers have it, then ACTIVE."""

from __future__ import annotations

from collections.abc import Callable

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import Component
from openstack_emulator.core.store import Collection, Record

SECONDS_TO_CHANGE = 1.0
Finished = Callable[[Record], None]


class Progress(Component):
    """Finishes changes of zones and record sets.

    `_change` of a record counts its changes: only the last one is finished. A change that a fault rule dooms ends with
    the status ERROR.
    """

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self._kinds: dict[str, tuple[Collection, Finished, Finished]] = {}
        records.deferrable(self.finish)

    def track(self, rows: Collection, published: Finished, removed: Finished) -> None:
        """Finish the changes of a collection. The functions are called with a record that the name servers now have,
        and with one that they no longer have."""
        self._kinds[rows.name] = (rows, published, removed)

    def begin(self, rows: Collection, record: Record, action: str) -> None:
        """Begin a change (CREATE, UPDATE or DELETE) of a record, which may have been added before."""
        number = record.get("_change", 0) + 1
        rows.update(record, status="PENDING", action=action, _change=number)
        self.after(SECONDS_TO_CHANGE, self.finish, rows.name, record["id"], number)

    def finish(self, collection: str, key: str, number: int) -> None:
        """Finish a change, unless there has been another one since."""
        rows, published, removed = self._kinds[collection]
        record = rows.get(key)
        if record is None or record["_change"] != number:
            return
        if record.pop("_fault", None) is not None:
            rows.update(record, status="ERROR")
        elif record["action"] == "DELETE":
            rows.remove(record)
            removed(record)
        else:
            rows.update(record, status="ACTIVE", action="NONE")
            published(record)
