"""Messages, claims and subscriptions as Zaqar shows them."""

from __future__ import annotations

from openstack_emulator.messaging.records import Claim, Message, Subscription
from openstack_emulator.messaging.rules.composition import Messaging


def message_path(name: str, message: Message) -> str:
    """The path of a message in a queue."""
    return f"/v2/queues/{name}/messages/{message.id}"


def message_view(messaging: Messaging, name: str, message: Message) -> dict[str, object]:
    """A message of the queue with this name."""
    held, href = messaging.claims.of(message), message_path(name, message)
    return {
        "id": message.id,
        "href": href if held is None else f"{href}?claim_id={held}",
        "ttl": message.ttl,
        "age": age_of(messaging, message),
        "body": message.body,
    }


def age_of(messaging: Messaging, record: Message | Claim | Subscription) -> int:
    """For how many seconds something exists."""
    return int(messaging.cloud.clock.now() - record.created)


def claim_path(name: str, claim: Claim) -> str:
    """The path of a claim in a queue."""
    return f"/v2/queues/{name}/claims/{claim.id}"


def claim_view(messaging: Messaging, name: str, claim: Claim) -> dict[str, object]:
    """A claim of messages of the queue with this name."""
    messages = [message_view(messaging, name, message) for message in messaging.claims.messages_of(claim)]
    return {
        "age": age_of(messaging, claim),
        "ttl": claim.ttl,
        "href": claim_path(name, claim),
        "messages": messages,
    }


def subscription_view(messaging: Messaging, subscription: Subscription) -> dict[str, object]:
    """A subscription, with its age in seconds."""
    trust = {"trust_id": subscription.trust_id} if subscription.trust_id else {}
    return {
        "id": subscription.id,
        "source": subscription.source,
        "subscriber": subscription.subscriber,
        "ttl": subscription.ttl,
        "options": {**subscription.options, **trust},
        "age": age_of(messaging, subscription),
        "confirmed": subscription.confirmed,
    }
