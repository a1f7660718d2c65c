"""Subscriptions: who gets the messages of a queue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.cloud import Records, new_hex_id
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.http import Request
from openstack_emulator.core.rules import Rules
from openstack_emulator.identity.rules.service_trusts import end_trust, own_trust
from openstack_emulator.messaging.records import Subscription
from openstack_emulator.messaging.rules.checks import is_integer
from openstack_emulator.messaging.rules.queues import Queues, place
from openstack_emulator.messaging.rules.settings import SHORTEST_TTL

DEFAULT_TTL = 3600
"""Seconds."""
SCHEMES = ("http", "https", "mailto", "trust+http", "trust+https")
TRUST = "trust+"
DELIVERY_SCHEMES = ("http", "https", "trust+http", "trust+https")
"""Of subscribers to whom the emulated service delivers messages: it sends no mail."""
SERVICE_USER = "zaqar"


class Subscriptions(Rules):
    """The subscriptions of queues. rows: their table."""

    def __init__(self, records: Records, queues: Queues) -> None:
        super().__init__(records)
        self.rows = records.table("subscriptions", Subscription, "queue")
        self._queues = queues

    def subscribe(self, request: Request, project_id: str, name: str, body: Mapping[str, object]) -> Subscription:
        """Return a new subscription, or the one of the same subscriber that it has not confirmed yet.

        body: subscriber, ttl and options, the last two with defaults.

        Raises: ApiError 400, or 409 when the subscriber has confirmed a subscription of the queue.
        """
        self._queues.make(project_id, name, {})
        queue = place(project_id, name)
        existing = next(
            (subscription for subscription in self.current(queue) if subscription.subscriber == body.get("subscriber")),
            None,
        )
        if existing is not None and not existing.confirmed:
            return existing
        values = self._checked(queue, body, None)
        record = Subscription(
            id=new_hex_id()[:24],
            queue=queue,
            source=name,
            created=self.cloud.clock.now(),
            subscriber=values["subscriber"],
            ttl=values.get("ttl", DEFAULT_TTL),
            options=values.get("options", {}),
            confirmed=False,
            trust_id="",
        )
        record.trust_id = self._trust(request, record.subscriber)
        return self.rows.add(record)

    def unsubscribe(self, subscription: Subscription) -> None:
        """Remove a subscription and its trust."""
        self.rows.remove(subscription)
        end_trust(self.cloud, subscription.trust_id)

    def _trust(self, request: Request, subscriber: str) -> str:
        """A new trust of the caller for a subscriber that needs one; Zaqar gives no reason if Keystone refuses it."""
        if not subscriber.startswith(TRUST):
            return ""
        try:
            return own_trust(self.cloud, request, SERVICE_USER)
        except ApiError as error:
            reason = "Subscription could not be created. Please try again in a few seconds."
            raise ApiError(503, reason) from error

    def change(self, request: Request, subscription: Subscription, body: Mapping[str, object]) -> None:
        """Change a subscription. Another subscriber gets no token of the user who chose the one before."""
        merged = {"subscriber": subscription.subscriber, **body}
        values = self._checked(subscription.queue, merged, subscription.id)
        subscriber = str(values.get("subscriber"))
        if subscriber != subscription.subscriber:
            former, subscription.trust_id = subscription.trust_id, self._trust(request, subscriber)
            end_trust(self.cloud, former)
        if "ttl" in values:
            subscription.created = self.cloud.clock.now()
        self.rows.update(subscription, **values)

    def confirm(self, subscription: Subscription, confirmed: bool) -> None:
        subscription.confirmed = confirmed
        self.rows.save(subscription)

    def _checked(self, queue: str, body: Mapping[str, Any], own: str | None) -> dict[str, Any]:
        """The values that a request has, checked; `own` is the id of the subscription that is changed."""
        values = {name: body[name] for name in ("subscriber", "ttl", "options") if body.get(name) is not None}
        subscriber = values.get("subscriber")
        if subscriber is None:
            raise bad_request("Missing parameter subscriber in body.")
        if not isinstance(subscriber, str) or scheme(subscriber) not in SCHEMES:
            raise bad_request(f"The subscriber type of subscription must be supported in the list {list(SCHEMES)}.")
        if not is_integer(values.get("ttl", SHORTEST_TTL)):
            raise bad_request("TTL must be an integer.")
        if values.get("ttl", SHORTEST_TTL) < SHORTEST_TTL:
            raise bad_request(f"The TTL of a subscription must be at least {SHORTEST_TTL} seconds.")
        if not isinstance(values.get("options", {}), dict):
            raise bad_request("Options must be a dict.")
        if any(known.subscriber == subscriber and known.id != own for known in self.current(queue)):
            raise conflict(
                f"Such subscription already exists. Subscriptions are unique by source and subscriber: {subscriber}"
            )
        return values

    def current(self, queue: str) -> list[Subscription]:
        """The subscriptions whose time has not run out."""
        now = self.cloud.clock.now()
        return [known for known in self.rows.select(queue=queue) if known.created + known.ttl > now]

    def find(self, queue: str, key: str) -> Subscription:
        """A subscription of a queue. Raises ApiError 404."""
        found = next((known for known in self.current(queue) if known.id == key), None)
        if found is None:
            raise not_found(f"Subscription {key} does not exist")
        return found


def scheme(subscriber: str) -> str:
    """The scheme of a subscriber's URL, in lower case."""
    return subscriber.partition(":")[0].lower()
