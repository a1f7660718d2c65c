"""Removal of queues, and of what is in them."""

from __future__ import annotations

from collections.abc import Collection

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.rules import Rules
from openstack_emulator.messaging.rules.claims import Claims
from openstack_emulator.messaging.rules.messages import Messages
from openstack_emulator.messaging.rules.queues import Queues
from openstack_emulator.messaging.rules.subscriptions import Subscriptions

KINDS = ("subscriptions", "messages")


class Removal(Rules):
    """Removes queues, and empties them."""

    def __init__(
        self, records: Records, queues: Queues, messages: Messages, claims: Claims, subscriptions: Subscriptions
    ) -> None:
        super().__init__(records)
        self._queues = queues
        self._messages = messages
        self._claims = claims
        self._subscriptions = subscriptions

    def remove(self, project_id: str, name: str) -> None:
        """Remove the queue with everything in it; does nothing when there is none."""
        known = self._queues.find(project_id, name)
        if known is not None:
            self.purge(known.id, KINDS)
            for claim in self._claims.rows.select(queue=known.id):
                self._claims.rows.remove(claim)
            self._queues.rows.remove(known)

    def purge(self, queue: str, kinds: Collection[str]) -> None:
        """Remove all messages of a queue, all subscriptions, or both."""
        for message in self._messages.rows.select(queue=queue) if "messages" in kinds else ():
            self._messages.rows.remove(message)
        for subscription in self._subscriptions.rows.select(queue=queue) if "subscriptions" in kinds else ():
            self._subscriptions.unsubscribe(subscription)
