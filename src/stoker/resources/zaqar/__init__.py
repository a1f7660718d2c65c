"""Zaqar: queues of messages."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.plugins.event_sink import EventSink
from stoker.plugins.resource import ResourceType
from stoker.resources.zaqar.event_sink import QueueSink
from stoker.resources.zaqar.queue import Queue
from stoker.resources.zaqar.signed_url import SignedQueueURL
from stoker.resources.zaqar.subscription import MistralTrigger, Subscription

TYPES: tuple[type[ResourceType], ...] = (Queue, SignedQueueURL, Subscription, MistralTrigger)

EVENT_SINKS: Mapping[str, EventSink] = {"zaqar-queue": QueueSink()}
