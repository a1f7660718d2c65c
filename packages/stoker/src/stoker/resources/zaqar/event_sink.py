"""Events of stacks as messages of a queue: `event_sinks: [{type: zaqar-queue, target: <queue>, ttl: <seconds>}]`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from stoker.cloud.messaging import QUEUE_NAME, post
from stoker.plugins.event_sink import EventSink

if TYPE_CHECKING:
    from stoker.cloud.session import Cloud

DEFAULT_TTL = 3600
_TTLS = range(60, 1_209_601)
_KEYS = ("type", "target", "ttl")
_MOST_MESSAGES, _MOST_BYTES = 20, 200_000
"""The maximum number and size in bytes of messages in one request."""


class QueueSink(EventSink):
    """A queue of the stack owner's project, which is created if it does not exist."""

    def problems(self, entry: Mapping[str, object]) -> Iterable[str]:
        target, ttl = entry.get("target"), entry.get("ttl", DEFAULT_TTL)
        if not isinstance(target, str) or not QUEUE_NAME.fullmatch(target):
            yield "target must be the name of a queue: at most 64 letters, digits, '_' and '-'."
        if isinstance(ttl, bool) or not isinstance(ttl, int) or ttl not in _TTLS:
            yield f"ttl must be an integer number of seconds between {_TTLS[0]} and {_TTLS[-1]}."
        if unknown := sorted(str(key) for key in entry if key not in _KEYS):
            yield f"unknown key {', '.join(unknown)}; the keys are {', '.join(_KEYS)}."

    async def send(self, cloud: Cloud, entry: Mapping[str, Any], messages: Sequence[Mapping[str, object]]) -> None:
        ttl = entry.get("ttl", DEFAULT_TTL)
        for batch in _batches([{"body": dict(message), "ttl": ttl} for message in messages]):
            await post(cloud, entry["target"], batch)


def _batches(messages: Iterable[dict[str, object]]) -> Iterator[list[dict[str, object]]]:
    """Yield the messages in batches that the service accepts in one request."""
    batch: list[dict[str, object]] = []
    size = 0
    for message in messages:
        length = len(orjson.dumps(message))
        if batch and (len(batch) == _MOST_MESSAGES or size + length > _MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(message)
        size += length
    if batch:
        yield batch
