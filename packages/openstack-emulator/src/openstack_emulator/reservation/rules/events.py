"""The events of leases: each is carried out on its date, on the cloud's clock."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.rules import Rules
from openstack_emulator.reservation.records import Event, Lease
from openstack_emulator.reservation.rules.dates import STAMP, read

log = logging.getLogger(__name__)

START, END, BEFORE_END = "start_lease", "end_lease", "before_end_lease"


class Events(Rules):
    """The events of all leases.

    The records set `actions`, what to do with the lease by the type of the event, and `on_failed_start`, what to do
    with a lease that could not begin.
    """

    actions: Mapping[str, Callable[[Lease], None]]
    on_failed_start: Callable[[Lease], None]

    def __init__(self, records: Records, find_lease: Callable[[str], Lease | None]) -> None:
        super().__init__(records)
        self.rows = records.table("events", Event, "lease_id", internal=True)
        self._find_lease = find_lease
        self.actions = {}
        records.deferrable(self.occur)

    def of(self, lease: Lease) -> list[Event]:
        """The events of a lease."""
        return self.rows.select(lease_id=lease.id)

    def schedule(self, lease: Lease, events: Iterable[tuple[str, str]]) -> None:
        """Add events, each a type and a date, to a lease."""
        for kind, date in events:
            event = Event(
                id=new_id(),
                lease_id=lease.id,
                event_type=kind,
                time=date,
                status="UNDONE",
                created_at=self.records.timestamp(STAMP),
                updated_at=None,
            )
            self.rows.add(event)
            self._arm(event.id, date)

    def reschedule(self, lease: Lease, dates: Mapping[str, str]) -> None:
        """Give the events of a lease that have not occurred other dates, by type. A warning can occur again."""
        for event in self.of(lease):
            date = dates.get(event.event_type, event.time)
            if date != event.time and (event.status == "UNDONE" or event.event_type == BEFORE_END):
                event.time, event.status, event.updated_at = date, "UNDONE", self.records.timestamp(STAMP)
                self.rows.save(event)
                self._arm(event.id, date)

    def forget(self, lease: Lease) -> None:
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
        if event is None or event.status != "UNDONE" or event.time != date:
            return
        lease = self._find_lease(event.lease_id)
        if lease is None:
            return
        event.status = "DONE" if self._act(event.event_type, lease) else "ERROR"
        self.rows.save(event)

    def _act(self, kind: str, lease: Lease) -> bool:
        action = self.actions.get(kind)
        if action is None or (kind == START and lease.take_fault() is not None):
            return self._failed(kind, lease, "no service knows what to do" if action is None else "a fault rule")
        try:
            action(lease)
        except ApiError as error:
            return self._failed(kind, lease, error.message)
        return True

    def _failed(self, kind: str, lease: Lease, why: str) -> bool:
        log.warning("The event %s of the lease %s failed: %s", kind, lease.id, why)
        if kind == START:
            self.on_failed_start(lease)
        return False
