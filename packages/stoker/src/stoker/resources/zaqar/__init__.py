"""Zaqar: queues of messages."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.plugins.event_sink import EventSink
from stoker.plugins.on_demand import TypesOnDemand
from stoker.resources.zaqar.event_sink import QueueSink

TYPES = TypesOnDemand(
    __name__,
    {
        "OS::Zaqar::Queue": "queue:Queue",
        "OS::Zaqar::SignedQueueURL": "signed_url:SignedQueueURL",
        "OS::Zaqar::Subscription": "subscription:Subscription",
        "OS::Zaqar::MistralTrigger": "subscription:MistralTrigger",
    },
)

EVENT_SINKS: Mapping[str, EventSink] = {"zaqar-queue": QueueSink()}
