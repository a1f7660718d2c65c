"""Messages on their way to subscribers that are web hooks."""

from __future__ import annotations

import json
from collections.abc import Mapping

from openstack_emulator.core.outgoing import RequestSender
from openstack_emulator.core.posting import Poster
from openstack_emulator.messaging.records import Message, Subscription

PLACEHOLDER = "$zaqar_message$"
"""Stands for the message in `post_data`."""


class Deliveries:
    """Posts messages to subscribers, without a second attempt."""

    def __init__(self, sender: RequestSender) -> None:
        self._poster = Poster("zaqar-deliveries", sender)

    def send(self, subscription: Subscription, queue_name: str, message: Message, extra: Mapping[str, str]) -> None:
        """Post a message to a subscriber soon, with extra headers."""
        content = {
            "body": message.body,
            "ttl": message.ttl,
            "queue_name": queue_name,
            "Message_Type": "Notification",
        }
        form = subscription.options.get("post_data")
        data = json.dumps(content) if form is None else str(form).replace(f'"{PLACEHOLDER}"', json.dumps(content))
        headers = {"Content-Type": "application/json", **subscription.options.get("post_headers", {}), **extra}
        self._poster.post(subscription.subscriber.removeprefix("trust+"), data.encode(), headers)
