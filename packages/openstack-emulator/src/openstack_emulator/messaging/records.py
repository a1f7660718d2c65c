"""What the messaging service keeps. All that belongs to a queue is found by its place: the project and the name.

Times of messages, claims and subscriptions are in seconds since the epoch, and how long they last (`ttl`) in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from openstack_emulator.core.typed import TypedRecord, named


@dataclass(slots=True, kw_only=True, eq=False)
class Queue(TypedRecord):
    """A queue, whose place is its id; `metadata` has Zaqar's own settings too, as far as they are not the defaults."""

    project_id: str
    name: str
    metadata: dict[str, object]


@dataclass(slots=True, kw_only=True, eq=False)
class Message(TypedRecord):
    """A message; `visible` is when its delay is over, `claim` the last claim that it belonged to."""

    queue: str
    client_id: str
    body: Any
    ttl: int
    created: float
    visible: float
    claim_count: int
    claim: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class Claim(TypedRecord):
    """Messages that a client has taken for a while; they last for `grace` seconds beyond it."""

    queue: str
    ttl: int
    grace: int
    created: float


@dataclass(slots=True, kw_only=True, eq=False)
class Subscription(TypedRecord):
    """Who gets the messages of a queue, whose name is `source`.

    trust_id: of the trust that was made for it, whatever its options say; empty for none.
    """

    queue: str
    source: str
    created: float
    subscriber: str
    ttl: int
    options: dict[str, Any]
    confirmed: bool
    trust_id: str = field(metadata=named("_trust_id"))


@dataclass(slots=True, kw_only=True, eq=False)
class ServiceState(TypedRecord):
    """What the service keeps for itself: the number of messages so far (`counter`), and a secret key (`signing`)."""

    number: int
    key: str
