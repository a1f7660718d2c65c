"""Poll many objects with one request.

A step polls its object itself until many steps wait for objects of the same list: then the list is polled, and only the
steps whose object has changed are woken. The creation of ten thousand servers needs only a few requests.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from stoker.cloud.session import Cloud
from stoker.plugins.outcome import Watch
from stoker_foundation.clock import Clock, Timer

LOG = logging.getLogger(__name__)

MANY = 20
"""Number of objects from which on objects of a list are watched together."""
PER_SECOND = 600.0
"""Average number of objects listed in a second: a list of 10,000 is polled every 17 seconds."""
LONGEST_PAUSE = 5.0

_Place = tuple[Cloud, str, str, str, str, str]


@dataclass(slots=True)
class _WatchedList:
    """A list with its watched objects: their last known status, and the functions to call."""

    waiting: dict[str, tuple[str | None, Callable[[], None]]] = field(default_factory=dict)
    pause: float = LONGEST_PAUSE
    timer: Timer | None = None
    look: asyncio.Task[None] | None = None

    @property
    def asleep(self) -> bool:
        """Return whether no poll is due or in progress."""
        return self.timer is None and self.look is None


class ObjectPoller:
    """Watches objects as the module's docstring describes. Used on one event loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lookouts: dict[_Place, _WatchedList] = {}

    @contextmanager
    def watching(
        self, cloud: Cloud, watch: Watch, physical_id: str, after: float, wake: Callable[[], None]
    ) -> Iterator[bool]:
        """Watch an object while the context is open; yield False if the caller must poll it itself.

        `wake` is called when the object's status changes, when the object disappears, or when it cannot be watched any
        more; unnecessary calls must be harmless. `after` is the number of seconds until the caller would poll it
        itself.
        """
        place = (cloud, watch.service, watch.path, watch.members, watch.id_field, watch.status_field)
        lookout = self._lookouts.setdefault(place, _WatchedList())
        lookout.waiting[physical_id] = (watch.status, wake)
        together = len(lookout.waiting) >= MANY
        if together and lookout.asleep:
            lookout.pause = after
            self._schedule(place, lookout, after)
        try:
            yield together
        finally:
            lookout.waiting.pop(physical_id, None)
            if not lookout.waiting:
                self._close(place, lookout)

    def _schedule(self, place: _Place, lookout: _WatchedList, seconds: float) -> None:
        def begin() -> None:
            lookout.timer = None
            lookout.look = asyncio.ensure_future(self._poll(place, lookout))

        lookout.timer = self._clock.call_later(seconds, begin)

    def _close(self, place: _Place, lookout: _WatchedList) -> None:
        if self._lookouts.get(place) is lookout:
            del self._lookouts[place]
        if lookout.timer is not None:
            lookout.timer.cancel()
            lookout.timer = None
        if lookout.look is not None:
            lookout.look.cancel()

    async def _poll(self, place: _Place, lookout: _WatchedList) -> None:
        cloud, service, path, members, id_field, status_field = place
        try:
            listed = await cloud.list(service, path, members)
        except Exception as error:  # after any error, the waiting steps must be woken
            LOG.warning("cannot list %s: %s", path, error)
            listed = []
        finally:
            lookout.look = None
        found = {str(item.get(id_field)): item.get(status_field) for item in listed}
        moved = [wake for key, (status, wake) in lookout.waiting.items() if found.get(key, _GONE) != status]
        few = len(lookout.waiting) - len(moved) < MANY
        for wake in [wake for _, wake in lookout.waiting.values()] if few else moved:
            wake()
        if not few and self._lookouts.get(place) is lookout:
            lookout.pause = min(lookout.pause * 2, LONGEST_PAUSE)
            self._schedule(place, lookout, max(lookout.pause, len(listed) / PER_SECOND))


_GONE = object()
