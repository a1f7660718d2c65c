"""Claims: a client takes messages for a while, so that no other client processes them."""

from __future__ import annotations

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import bad_request, forbidden, not_found
from openstack_emulator.core.rules import Rules
from openstack_emulator.messaging.records import Claim, Message
from openstack_emulator.messaging.rules.inputs import NewMessage
from openstack_emulator.messaging.rules.messages import Messages
from openstack_emulator.messaging.rules.queues import Queues, place
from openstack_emulator.messaging.rules.settings import settings_of


class Claims(Rules):
    """The claims of queues. rows: their table."""

    def __init__(self, records: Records, queues: Queues, messages: Messages) -> None:
        super().__init__(records)
        self.rows = records.table("claims", Claim, "queue")
        self._queues = queues
        self._messages = messages

    def create(self, project_id: str, name: str, most: int, ttl: int, grace: int) -> tuple[Claim, list[Message]] | None:
        """Claim at most so many of the oldest free messages, for some seconds; None if there are none."""
        free = [message for message in self._claimable(project_id, name) if self.of(message) is None][:most]
        if not free:
            return None
        now = self.cloud.clock.now()
        claim = self.rows.add(Claim(id=new_id(), queue=place(project_id, name), ttl=ttl, grace=grace, created=now))
        for message in free:
            message.claim, message.claim_count = claim.id, message.claim_count + 1
            self._messages.rows.save(message)
            self._extend_lifetime(message, claim)
        return claim, free

    def _claimable(self, project_id: str, name: str) -> list[Message]:
        """Return the messages of a queue; those that were claimed too often move to the queue for dead letters."""
        settings = settings_of(self._queues.find(project_id, name))
        most, dead = settings.max_claim_count, settings.dead_letter_queue
        claimable = []
        for message in self._messages.waiting(place(project_id, name)):
            if not most or not dead or message.claim_count < most or self.of(message) is not None:
                claimable.append(message)
            else:
                ttl = settings.dead_letter_queue_messages_ttl or message.ttl
                self._messages.post(project_id, dead, message.client_id, [NewMessage(body=message.body, ttl=ttl)])
                self._messages.rows.remove(message)
        return claimable

    def renew(self, claim: Claim, ttl: int, grace: int) -> None:
        """Let the time of a claim begin again."""
        claim.ttl, claim.grace, claim.created = ttl, grace, self.cloud.clock.now()
        self.rows.save(claim)
        for message in self.messages_of(claim):
            self._extend_lifetime(message, claim)

    def release(self, queue: str, key: str) -> None:
        """Free the messages of a claim. One that does not exist is no error."""
        claim = self.rows.get(key)
        if claim is not None and claim.queue == queue:
            self.rows.remove(claim)

    def find(self, project_id: str, name: str, key: str) -> Claim:
        """A claim of a queue. Raises ApiError 404, also for one that is over."""
        claim = self.rows.get(key)
        if claim is None or claim.queue != place(project_id, name) or self._is_over(claim):
            raise not_found(f"Claim {key} does not exist in queue {name} for project {project_id}")
        return claim

    def of(self, message: Message) -> str | None:
        """Return the ID of the claim that a message belongs to, None for a free message."""
        claim = self.rows.get(message.claim or "")
        return None if claim is None or self._is_over(claim) else claim.id

    def messages_of(self, claim: Claim) -> list[Message]:
        return [message for message in self._messages.waiting(claim.queue) if message.claim == claim.id]

    def require_holder(self, message: Message, claim_id: str | None) -> None:
        """Raise ApiError unless a message may be deleted with the claim ID that was given, if any: 403 for a message
        that another client has claimed, 400 for a claim that does not exist, is over, or does not have the message.
        """
        held = self.of(message)
        if claim_id is not None and held != claim_id:
            raise bad_request("The specified claim does not exist or has expired.")
        if claim_id is None and held is not None:
            raise forbidden(f"Message {message.id} is claimed; a claim ID is required to delete it.")

    def _is_over(self, claim: Claim) -> bool:
        return claim.created + claim.ttl <= self.cloud.clock.now()

    def _extend_lifetime(self, message: Message, claim: Claim) -> None:
        """Let a message last until its claim ends, and the grace period."""
        lasts = int(claim.created - message.created) + claim.ttl + claim.grace
        if message.ttl < lasts:
            message.ttl = lasts
            self._messages.rows.save(message)
