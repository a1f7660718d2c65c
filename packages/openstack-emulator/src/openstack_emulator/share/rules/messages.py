"""Messages for users: why an operation that had been accepted has failed."""

from __future__ import annotations

from datetime import timedelta

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.rules import MICROSECONDS, Rules
from openstack_emulator.share.records import Message, Share

KEPT = timedelta(days=30)
ALLOCATE = "001"
NO_CAPABILITY = "008"
TEXTS = {
    (ALLOCATE, NO_CAPABILITY): "allocate host: No storage could be allocated for this share request, Capabilities "
    "filter didn't succeed."
}


class Messages(Rules):
    """The messages of projects. rows: their table."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.table("messages", Message, "project_id")

    def add(self, share: Share, action: str, detail: str) -> None:
        """Say why an action on a share has failed."""
        self.rows.add(
            Message(
                id=new_id(),
                project_id=share.project_id,
                resource_type="SHARE",
                resource_id=share.id,
                action_id=action,
                detail_id=detail,
                message_level="ERROR",
                user_message=TEXTS[action, detail],
                request_id=share.request_id,
                created_at=self.moment(),
                expires_at=(self.records.now() + KEPT).strftime(MICROSECONDS),
            )
        )
