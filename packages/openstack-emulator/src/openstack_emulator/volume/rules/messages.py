"""User messages: why a request failed after it had been accepted."""

from __future__ import annotations

from datetime import timedelta

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.rules import MICROSECONDS, Rules
from openstack_emulator.volume.records import Message, Volume

KEPT = timedelta(days=30)
NO_BACKEND = ("001_003", "schedule allocate volume:Could not find any available weighted backend.")


class Messages(Rules):
    """User messages; each belongs to the project of the object that failed."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.table("messages", Message, "project_id")

    def add(self, volume: Volume, event: tuple[str, str]) -> None:
        """Add a message about a volume.

        event: the numbers of action and detail, and the message.
        """
        number, message = event
        self.rows.add(
            Message(
                id=new_id(),
                project_id=volume.project_id,
                request_id=volume.request_id or f"req-{new_id()}",
                resource_type="VOLUME",
                resource_uuid=volume.id,
                event_id=f"VOLUME_VOLUME_{number}",
                message_level="ERROR",
                user_message=message,
                created_at=self.moment(),
                guaranteed_until=(self.records.now() + KEPT).strftime(MICROSECONDS),
            )
        )
