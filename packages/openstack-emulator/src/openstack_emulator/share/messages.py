"""Messages for users: why an operation that had been accepted has failed."""

from __future__ import annotations

from datetime import UTC, datetime

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import MICROSECONDS, Component
from openstack_emulator.core.store import Collection, Record

KEPT_SECONDS = 30 * 24 * 3600.0
ALLOCATE = "001"
NO_CAPABILITY = "008"
TEXTS = {
    (ALLOCATE, NO_CAPABILITY): "allocate host: No storage could be allocated for this share request, Capabilities "
    "filter didn't succeed."
}


class Messages(Component):
    """The messages of projects. rows: their collection."""

    def __init__(self, records: Records, rows: Collection) -> None:
        super().__init__(records)
        self.rows = rows

    def add(self, share: Record, action: str, detail: str) -> None:
        """Say why an action on a share has failed."""
        expires = datetime.fromtimestamp(self.cloud.clock.now() + KEPT_SECONDS, UTC).strftime(MICROSECONDS)
        self.rows.add(
            {
                "id": new_id(),
                "project_id": share["project_id"],
                "resource_type": "SHARE",
                "resource_id": share["id"],
                "action_id": action,
                "detail_id": detail,
                "message_level": "ERROR",
                "user_message": TEXTS[action, detail],
                "request_id": share.get("_request_id"),
                "created_at": self.moment(),
                "expires_at": expires,
            }
        )
