"""What Cinder tells users about requests that failed after they had been accepted."""

from __future__ import annotations

from datetime import timedelta

from stoker.emulator.core.cloud import new_id
from stoker.emulator.core.store import Record
from stoker.emulator.volume.tables import MICROSECONDS, Tables

KEPT = timedelta(days=30)
NO_BACKEND = ("001_003", "schedule allocate volume:Could not find any available weighted backend.")


class MessageRecords(Tables):
    """User messages; each belongs to the project of the object that failed."""

    def tell(self, resource_type: str, record: Record, event: tuple[str, str]) -> None:
        """Leave a message about a record.

        resource_type: `VOLUME`, ….
        event: the numbers of action and detail, and the words.
        """
        number, words = event
        self.messages.add(
            {
                "id": new_id(),
                "project_id": record["project_id"],
                "request_id": record.get("_request_id") or f"req-{new_id()}",
                "resource_type": resource_type,
                "resource_uuid": record["id"],
                "event_id": f"VOLUME_{resource_type}_{number}",
                "message_level": "ERROR",
                "user_message": words,
                "created_at": self.moment(),
                "guaranteed_until": (self.now() + KEPT).strftime(MICROSECONDS),
            }
        )
