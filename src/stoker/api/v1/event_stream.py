"""The events of a stack as a stream of server-sent events: those that are there, then each as it is recorded.

An open stream holds no thread: it is held open where the server can ask its body for more later (the built-in one
does, see `stoker.api.serving.exchange.WAKE`), and only so many at a time. To others, what there is is sent and the
stream ends; clients come back by themselves after RETRY_MILLISECONDS, with the id of the last event that they got, and
miss nothing. Streams that are held open end after LONGEST_SECONDS in the same way, so that tokens are checked again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from threading import Semaphore
from typing import Any

from stoker.api.v1.event_feed import EventFeed, Listener, View
from stoker.rpc.contract import EngineClient, json_text

CONTENT_TYPE = "text/event-stream"
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

RETRY_MILLISECONDS = 2000
LONGEST_SECONDS = 300.0
HEARTBEAT_SECONDS = 15.0
PAGE = 500


@dataclass(frozen=True)
class Subscription:
    """Whose events are wanted, from where on, and how they are had.

    `depth` says how deep into nested stacks; `marker` is the id of the last event that is known. `history` gives the
    page of at most PAGE events recorded after one, `wanted` chooses among new ones, `render` is an event as it is
    shown. `wake` says that the stream has more to give; None where the server does not have that.
    """

    stack_id: str
    depth: int
    marker: str | None
    history: Callable[[str | None], list[View]]
    wanted: Callable[[View], bool]
    render: Callable[[View], Mapping[str, Any]]
    wake: Callable[[], None] | None

    def chunk(self, view: View) -> bytes:
        """An event as it is sent."""
        return b"id: %s\ndata: %s\n\n" % (view["id"].encode(), json_text(self.render(view)))


class EventStreams:
    """What all streams of a process share. `most` are held open at a time."""

    def __init__(self, client: EngineClient, most: int, longest: float = LONGEST_SECONDS) -> None:
        self._feed = EventFeed(client)
        self._places = Semaphore(most)
        self._longest = longest

    def open(self, subscription: Subscription) -> EventStream:
        """A stream of what is recorded and of what will be. Raises StokerError."""
        opened = ExitStack()
        try:
            listener: Listener | None = None
            wake = subscription.wake
            if wake is not None and self._places.acquire(blocking=False):
                opened.callback(self._places.release)
                listener = opened.enter_context(self._feed.listening(subscription.stack_id, subscription.depth, wake))
            first = subscription.history(subscription.marker)
        except BaseException:
            opened.close()
            raise
        return EventStream(opened, self._chunks(subscription, first, listener))

    def _chunks(self, subscription: Subscription, page: list[View], listener: Listener | None) -> Iterator[bytes]:
        """What is recorded, then what is new."""
        yield b"retry: %d\n\n" % RETRY_MILLISECONDS
        sent: set[str] = set()
        while page:
            sent.update(view["id"] for view in page)
            yield from map(subscription.chunk, page)
            page = subscription.history(page[-1]["id"]) if len(page) == PAGE else []
        if listener is not None:
            yield from self._new(subscription, listener, sent)

    def _new(self, subscription: Subscription, listener: Listener, sent: set[str]) -> Iterator[bytes]:
        """Events as they are recorded, and signs of life in between; empty while there is nothing to send."""
        began = spoke = time.monotonic()
        while not listener.overrun and time.monotonic() - began < self._longest:
            view = listener.next()
            if view is None:
                yield b""
                if time.monotonic() - spoke > HEARTBEAT_SECONDS:
                    spoke = time.monotonic()
                    yield b": nothing new\n\n"
            elif view["id"] not in sent and subscription.wanted(view):
                spoke = time.monotonic()
                yield subscription.chunk(view)


class EventStream:
    """The body of an answer. Whoever serves it calls `close`, also when the client has left."""

    def __init__(self, opened: ExitStack, chunks: Iterable[bytes]) -> None:
        self._opened = opened
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._chunks)

    def close(self) -> None:
        """Give up what the stream holds."""
        self._opened.close()
