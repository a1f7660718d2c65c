"""The events of a stack as a stream of server-sent events: recorded events first, then each new one.

An open stream uses no thread. It is kept open if the server can request more of its body later (the built-in one can,
see `stoker.api.serving.exchange.WAKE`), and only up to a maximum number of streams. Otherwise the stream ends after
the recorded events; clients reconnect after RETRY_MILLISECONDS with the ID of the last event that they received, and
miss nothing. Open streams end after LONGEST_SECONDS in the same way, so that tokens are checked again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from threading import Semaphore

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
    """The requested events, where the stream begins, and how they are fetched.

    `depth` is the depth of nested stacks; `marker` is the ID of the last known event. `history` returns the page of at
    most PAGE events after another one, `selects` says which new events are sent, `render` returns an event as it is
    sent. `wake` signals that the stream has more data; None if the server does not support that.
    """

    stack_id: str
    depth: int
    marker: str | None
    history: Callable[[str | None], list[View]]
    selects: Callable[[View], bool]
    render: Callable[[View], Mapping[str, object]]
    wake: Callable[[], None] | None

    def chunk(self, view: View) -> bytes:
        """Return an event as a server-sent event."""
        return b"id: %s\ndata: %s\n\n" % (view["id"].encode(), json_text(self.render(view)))


class EventStreams:
    """Shared by all streams of a process. `most` is the maximum number of open streams."""

    def __init__(self, client: EngineClient, most: int, longest: float = LONGEST_SECONDS) -> None:
        self._feed = EventFeed(client)
        self._places = Semaphore(most)
        self._longest = longest

    def open(self, subscription: Subscription) -> EventStream:
        """Return a stream of recorded and future events. Raises StokerError."""
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
        """Yield recorded events, then new ones."""
        yield b"retry: %d\n\n" % RETRY_MILLISECONDS
        sent: set[str] = set()
        while page:
            sent.update(view["id"] for view in page)
            yield from map(subscription.chunk, page)
            page = subscription.history(page[-1]["id"]) if len(page) == PAGE else []
        if listener is not None:
            yield from self._new(subscription, listener, sent)

    def _new(self, subscription: Subscription, listener: Listener, sent: set[str]) -> Iterator[bytes]:
        """Yield events as they are recorded, and keep-alive comments; empty strings if there is nothing to send."""
        began = spoke = time.monotonic()
        while not listener.overrun and time.monotonic() - began < self._longest:
            view = listener.next()
            if view is None:
                yield b""
                if time.monotonic() - spoke > HEARTBEAT_SECONDS:
                    spoke = time.monotonic()
                    yield b": nothing new\n\n"
            elif view["id"] not in sent and subscription.selects(view):
                spoke = time.monotonic()
                yield subscription.chunk(view)


class EventStream:
    """The body of a response. The server calls `close`, also if the client has left."""

    def __init__(self, opened: ExitStack, chunks: Iterable[bytes]) -> None:
        self._opened = opened
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._chunks)

    def close(self) -> None:
        """Release the resources of the stream."""
        self._opened.close()
