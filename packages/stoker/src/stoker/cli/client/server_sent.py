"""Server-sent events, as a client reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from requests import Response


@dataclass(frozen=True, slots=True)
class Message:
    """One part of a stream: an event's data, or None for a keep-alive; `retry` is the pause, in seconds, after which a
    client may reconnect when the stream has ended, if the part sets one.
    """

    data: dict[str, Any] | None = None
    retry: float | None = None


def messages(response: Response) -> Iterator[Message]:
    """Yield the parts of a stream until its end, also if the connection breaks."""
    from requests import RequestException

    lines = response.iter_lines(decode_unicode=True)
    try:
        for line in lines:
            name, _, value = str(line).partition(":")
            match name:
                case "data":
                    yield Message(json.loads(value))
                case "retry":
                    yield Message(retry=int(value) / 1000)
                case "" if line:
                    yield Message()
    except RequestException:
        return
