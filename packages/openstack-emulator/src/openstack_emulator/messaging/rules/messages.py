"""Messages: posted to queues and to their subscribers, and how long they are there."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Sequence
from uuid import UUID

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.identity.rules.service_trusts import token_of
from openstack_emulator.messaging.records import Message, ServiceState, Subscription
from openstack_emulator.messaging.rules.deliveries import Deliveries
from openstack_emulator.messaging.rules.inputs import NewMessage
from openstack_emulator.messaging.rules.queues import Queues, place
from openstack_emulator.messaging.rules.settings import settings_of
from openstack_emulator.messaging.rules.subscriptions import DELIVERY_SCHEMES, TRUST, Subscriptions, scheme

log = logging.getLogger(__name__)


class Messages(Rules):
    """The messages of queues. rows: their table; own: the table with the number of messages so far."""

    def __init__(
        self, records: Records, own: Table[ServiceState], queues: Queues, subscriptions: Subscriptions
    ) -> None:
        super().__init__(records)
        self.rows = records.table("messages", Message, "queue")
        self.deliveries = Deliveries(self.cloud.request_sender)
        self._own = own
        self._queues = queues
        self._subscriptions = subscriptions

    def post(self, project_id: str, name: str, client_id: str, messages: Sequence[NewMessage]) -> list[Message]:
        """Put messages into a queue, which is made when there is none; subscribers get them.

        Raises: ApiError 400 for a name that no queue may have.
        """
        self._queues.make(project_id, name, {})
        settings = settings_of(self._queues.find(project_id, name))
        queue, now = place(project_id, name), self.cloud.clock.now()
        posted = [
            self.rows.add(
                Message(
                    id=self._next_id(),
                    queue=queue,
                    client_id=client_id,
                    body=message.body,
                    ttl=message.ttl,
                    created=now,
                    visible=now + (settings.default_message_delay if message.delay is None else message.delay),
                    claim_count=0,
                    claim=None,
                )
            )
            for message in messages
        ]
        for subscription in self._subscriptions.current(queue):
            if scheme(subscription.subscriber) in DELIVERY_SCHEMES:
                self._deliver(subscription, name, posted)
        return posted

    def _deliver(self, subscription: Subscription, name: str, messages: Sequence[Message]) -> None:
        """Post messages to a subscriber; with a token of the subscription's trust, unless the trust has ended."""
        headers: dict[str, str] = {}
        if subscription.subscriber.startswith(TRUST):
            try:
                headers |= {"X-Auth-Token": token_of(self.cloud, subscription.trust_id)}
            except ApiError as error:
                log.warning("Subscription %s gets no messages: %s", subscription.id, error.message)
                return
        for message in messages:
            self.deliveries.send(subscription, name, message, headers)

    def _next_id(self) -> str:
        """A UUID that is greater than all before it, so that a page can follow a message that is gone."""
        counter = self._own.get("counter") or self._own.add(ServiceState(id="counter", number=0, key=""))
        counter.number += 1
        self._own.save(counter)
        return str(UUID(f"{counter.number:016x}{secrets.token_hex(8)}"))

    def waiting(self, queue: str) -> list[Message]:
        """The messages that have not expired and whose delay is over, the oldest first."""
        now = self.cloud.clock.now()
        return sorted(
            (row for row in self.rows.select(queue=queue) if row.created + row.ttl > now >= row.visible),
            key=lambda message: message.id,
        )
