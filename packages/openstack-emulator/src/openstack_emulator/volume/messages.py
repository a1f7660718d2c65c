"""User messages: why a request failed after it had been accepted."""

from __future__ import annotations

from datetime import timedelta

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import MICROSECONDS, Component
from openstack_emulator.core.store import Record

KEPT = timedelta(days=30)
NO_BACKEND = ("001_003", "schedule allocate volume:Could not find any available weighted backend.")


class Messages(Component):
    """User messages; each belongs to the project of the object that failed."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.table("messages", "project_id")

    def add(self, resource_type: str, record: Record, event: tuple[str, str]) -> None:
        """Add a message about a record.

        resource_type: `VOLUME`, ….
        event: the numbers of action and detail, and the message.
        """
        number, message = event
        self.rows.add(
            {
                "id": new_id(),
                "project_id": record["project_id"],
                "request_id": record.get("_request_id") or f"req-{new_id()}",
                "resource_type": resource_type,
                "resource_uuid": record["id"],
                "event_id": f"VOLUME_{resource_type}_{number}",
                "message_level": "ERROR",
                "user_message": message,
                "created_at": self.moment(),
                "guaranteed_until": (self.records.now() + KEPT).strftime(MICROSECONDS),
            }
        )
