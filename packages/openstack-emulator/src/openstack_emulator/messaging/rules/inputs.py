"""What requests want to be posted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from openstack_emulator.core.errors import bad_request
from openstack_emulator.messaging.rules.checks import INVALID_BODY, check_integer
from openstack_emulator.messaging.rules.settings import LONGEST_DELAY, LONGEST_MESSAGE_TTL, SHORTEST_TTL, Settings


@dataclass(frozen=True, kw_only=True)
class NewMessage:
    """A message that is to be posted; without a `delay`, with that of its queue. Both times are in seconds."""

    body: Any
    ttl: int
    delay: int | None = None

    @classmethod
    def from_json(cls, message: Any, settings: Settings) -> Self:
        """The message in a request; the settings of its queue have the defaults. Raises ApiError 400."""
        if not isinstance(message, dict) or "body" not in message:
            raise bad_request('Missing "body" field.', INVALID_BODY)
        ttl = message.get("ttl", settings.default_message_ttl)
        check_integer("ttl", ttl)
        if not SHORTEST_TTL <= ttl <= LONGEST_MESSAGE_TTL:
            raise bad_request(
                f"The TTL for a message may not exceed {LONGEST_MESSAGE_TTL} seconds, and must be at least "
                f"{SHORTEST_TTL} seconds long."
            )
        delay = message.get("delay", settings.default_message_delay)
        check_integer("delay", delay)
        if not 0 <= delay <= LONGEST_DELAY:
            raise bad_request(
                f"The delay for a message may not exceed {LONGEST_DELAY} seconds, and must be at least 0."
            )
        return cls(body=message["body"], ttl=ttl, delay=delay)
