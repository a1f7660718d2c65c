"""The events of leases: each is carried out on its date, on the cloud's clock."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.store import Record
from openstack_emulator.reservation.dates import STAMP, read

log = logging.getLogger(__name__)

START, END, BEFORE_END = "start_lease", "end_lease", "before_end_lease"


class Events(Component):
    """Events: `{id, lease_id, event_type, time, status}`; the status is UNDONE, DONE or ERROR.

    The records set `actions`, what to do with the lease by the type of the event, and `on_failed_start`, what to do
    with a lease that could not begin.
    """

    actions: Mapping[str, Callable[[Record], None]]
    on_failed_start: Callable[[Record], None]

    def __init__(self, records: Records, find_lease: Callable[[str], Record | None]) -> None:
        super().__init__(records)
        self.rows = records.collection("events", ("lease_id",), internal=True)
        self._find_lease = find_lease
        self.actions = {}
        records.deferrable(self.occur)

    def of(self, lease: Record) -> list[Record]:
        """The events of a lease."""
        return self.rows.select(lease_id=lease["id"])

    def schedule(self, lease: Record, events: Iterable[tuple[str, str]]) -> None:
        """Add events, each a type and a date, to a lease."""
        for kind, date in events:
            moment = self.records.timestamp(STAMP)
            event = {"id": new_id(), "lease_id": lease["id"], "event_type": kind, "time": date, "status": "UNDONE"}
            self.rows.add({**event, "created_at": moment, "updated_at": None})
            self._arm(event["id"], date)

    def reschedule(self, lease: Record, dates: Mapping[str, str]) -> None:
        """Give the events of a lease that have not occurred other dates, by type. A warning can occur again."""
        for event in self.of(lease):
            date = dates.get(event["event_type"], event["time"])
            if date != event["time"] and (event["status"] == "UNDONE" or event["event_type"] == BEFORE_END):
                self.rows.update(event, time=date, status="UNDONE", updated_at=self.records.timestamp(STAMP))
                self._arm(event["id"], date)

    def forget(self, lease: Record) -> None:
        """Remove the events of a lease."""
        for event in self.of(lease):
            self.rows.remove(event)

    def _arm(self, key: str, date: str) -> None:
        # A date is not a delay of the emulated service, which the cloud's pace would change.
        delay = max((read(date) - self.records.now()).total_seconds(), 0.0)
        self.cloud.transitions.add(delay, self.records.service, self.occur.__name__, [key, date])

    def occur(self, key: str, date: str) -> None:
        """Carry out an event, unless it has another date by now."""
        event = self.rows.get(key)
        if event is None or event["status"] != "UNDONE" or event["time"] != date:
            return
        lease = self._find_lease(event["lease_id"])
        if lease is None:
            return
        self.rows.update(event, status="DONE" if self._act(event["event_type"], lease) else "ERROR")

    def _act(self, kind: str, lease: Record) -> bool:
        action = self.actions.get(kind)
        if action is None or (kind == START and lease.pop("_fault", None) is not None):
            return self._failed(kind, lease, "no service knows what to do" if action is None else "a fault rule")
        try:
            action(lease)
        except ApiError as error:
            return self._failed(kind, lease, error.message)
        return True

    def _failed(self, kind: str, lease: Record, why: str) -> bool:
        log.warning("The event %s of the lease %s failed: %s", kind, lease["id"], why)
        if kind == START:
            self.on_failed_start(lease)
        return False
