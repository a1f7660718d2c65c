"""The metadata of queues: Zaqar's own settings, and what users add."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openstack_emulator.core.errors import bad_request
from openstack_emulator.messaging.records import Queue
from openstack_emulator.messaging.rules.checks import is_integer

SHORTEST_TTL, LONGEST_MESSAGE_TTL, DEFAULT_MESSAGE_TTL = 60, 1_209_600, 3600
LONGEST_DELAY = 900
LARGEST_POST = 262_144
RESERVED = {
    "_max_messages_post_size": LARGEST_POST,
    "_default_message_ttl": DEFAULT_MESSAGE_TTL,
    "_default_message_delay": 0,
    "_dead_letter_queue": None,
    "_dead_letter_queue_messages_ttl": None,
    "_max_claim_count": None,
    "_enable_encrypt_messages": False,
}
"""What every queue has besides its own metadata."""
_TTL_RANGE = (SHORTEST_TTL, LONGEST_MESSAGE_TTL, "{name} can not exceed {most} seconds, and must be at least {least}.")
_RANGES = {
    "_max_messages_post_size": (1, LARGEST_POST, "{name} can not exceed {most},  and must be at least greater than 0."),
    "_default_message_ttl": _TTL_RANGE,
    "_default_message_delay": (0, LONGEST_DELAY, "{name} can not exceed {most} seconds, and must be at least {least}."),
    "_dead_letter_queue_messages_ttl": _TTL_RANGE,
    "_max_claim_count": (1, 2**31 - 1, "{name} must be at least {least}."),
}
"""The least and the greatest value of the numbers among them, and the error for others."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Zaqar's own settings of a queue: sizes in bytes, times in seconds.

    dead_letter_queue: the name of the queue for messages that were claimed `max_claim_count` times.
    """

    max_messages_post_size: int
    default_message_ttl: int
    default_message_delay: int
    dead_letter_queue: str | None
    dead_letter_queue_messages_ttl: int | None
    max_claim_count: int | None
    enable_encrypt_messages: bool


def metadata_of(queue: Queue | None) -> dict[str, Any]:
    """The metadata of a queue, with the default for each of Zaqar's own keys that it lacks."""
    return {**RESERVED, **(queue.metadata if queue is not None else {})}


def settings_of(queue: Queue | None) -> Settings:
    """Zaqar's own settings of a queue; the defaults for one that has not been made yet."""
    metadata = metadata_of(queue)
    return Settings(**{name.removeprefix("_"): metadata[name] for name in RESERVED})


def check_reserved(metadata: Mapping[str, Any]) -> None:
    """400 for metadata with a wrong value of one of Zaqar's own keys; null is right where it is the default."""
    for name, (least, most, words) in _RANGES.items():
        value = metadata.get(name, RESERVED[name])
        if value is None and RESERVED[name] is None:
            continue
        if not is_integer(value):
            raise bad_request(f"{name} must be integer.")
        if not least <= value <= most:
            raise bad_request(words.format(name=name, least=least, most=most))
    if not isinstance(metadata.get("_enable_encrypt_messages", False), bool):
        raise bad_request("_enable_encrypt_messages must be boolean.")
