"""New events for all listeners in this process: one request to an engine serves all of them.

No requests are sent without listeners. Transactions can become visible in another order than that of their events'
numbers, so each request overlaps with the previous ones, and events that were already delivered are skipped.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from stoker.base.context import RequestContext
from stoker.base.errors import StokerError
from stoker.base.ids import new_request_id
from stoker.contract.events import GetNewEvents
from stoker.rpc.contract import EngineClient

_log = logging.getLogger(__name__)

View = Mapping[str, Any]

POLL_SECONDS = 0.5
_REACH = 4
"""Number of previous results that each request overlaps with."""
_LONGEST_QUEUE = 10_000


class Listener:
    """Collects the events of a stack and of its nested stacks down to `depth`; `wake` is called for each event."""

    def __init__(self, stack_id: str, depth: int, wake: Callable[[], None]) -> None:
        self.stack_id = stack_id
        self.depth = depth
        self.overrun = False
        self._wake = wake
        self._events: queue.Queue[View] = queue.Queue(_LONGEST_QUEUE)

    def next(self) -> View | None:
        """Return the next event, or None."""
        try:
            return self._events.get_nowait()
        except queue.Empty:
            return None

    def concerns(self, view: View) -> bool:
        """Return whether the listener is interested in an event."""
        return view["stack_id"] == self.stack_id or self.stack_id in view["above"][: self.depth]

    def hand(self, view: View) -> None:
        """Add an event; a listener that does not fetch its events is `overrun`, and receives no more."""
        try:
            if not self.overrun:
                self._events.put_nowait({**view, "within": self._within(view)})
        except queue.Full:
            self.overrun = True
        self._wake()

    def _within(self, view: View) -> Sequence[str] | None:
        """Return the names of the resources that contain the event's stack, from the listener's stack."""
        names: Sequence[str] | None = view.get("within")
        levels = 0 if view["stack_id"] == self.stack_id else view["above"].index(self.stack_id) + 1
        return None if names is None or len(names) < levels else names[len(names) - levels :]


class EventFeed:
    """Delivers events to listeners as the module's docstring describes. Thread-safe."""

    def __init__(self, client: EngineClient, seconds: float = POLL_SECONDS) -> None:
        self._client = client
        self._seconds = seconds
        self._listeners: set[Listener] = set()
        self._lock = threading.Lock()
        self._asking = False

    @contextmanager
    def listening(self, stack_id: str, depth: int, wake: Callable[[], None]) -> Iterator[Listener]:
        """Yield a listener for all events that are recorded from now on.

        Raises StokerError if no engine is available.
        """
        listener, place = Listener(stack_id, depth, wake), self._place()
        with self._lock:
            self._listeners.add(listener)
            if not self._asking:
                self._asking = True
                threading.Thread(target=self._request_events, args=(place,), name="event-feed", daemon=True).start()
        try:
            yield listener
        finally:
            with self._lock:
                self._listeners.discard(listener)

    def _place(self) -> int:
        """Return the current end of the sequence of all events."""
        return int(self._new_events({}, None)["last"])

    def _new_events(self, watched: Mapping[str, int], after: int | None) -> Any:
        context = RequestContext(new_request_id(), user_id="", user_name="", project_id="")
        return self._client.call(context, GetNewEvents(watched=watched, after=after))

    def _request_events(self, place: int) -> None:
        """Request events until there are no listeners."""
        places = deque([place], maxlen=_REACH)
        handed_out: deque[set[str]] = deque(maxlen=_REACH + 1)
        pause = threading.Event()
        while watched := self._watched():
            try:
                answer = self._new_events(watched, places[0])
            except StokerError as error:
                _log.warning("cannot fetch new events of stacks, retrying: %s", error.message)
                pause.wait(self._seconds)
                continue
            known = set[str]().union(*handed_out)
            new = [view for view in answer["events"] if view["id"] not in known]
            handed_out.append({view["id"] for view in new})
            self._hand_out(new)
            if answer["more"]:
                places.clear()
            places.append(answer["last"])
            if not answer["more"]:
                pause.wait(self._seconds)

    def _watched(self) -> dict[str, int]:
        """Return the watched stacks with the maximum depth of their listeners; if there are none, requests end."""
        depths: dict[str, int] = {}
        with self._lock:
            for listener in self._listeners:
                depths[listener.stack_id] = max(listener.depth, depths.get(listener.stack_id, 0))
            self._asking = bool(depths)
        return depths

    def _hand_out(self, views: Collection[View]) -> None:
        """Deliver events to the current listeners, including those that came after the request was sent."""
        with self._lock:
            listeners = list(self._listeners)
        for view in views:
            for listener in listeners:
                if listener.concerns(view):
                    listener.hand(view)
