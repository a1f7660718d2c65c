"""Looking at many objects with one call.

A step that waits for an object looks for itself, until many wait for objects of the same list: then the list is
looked at from time to time, and only those steps are woken whose object has another status. Ten thousand servers
that are being built cost a few calls, and no step is entered in vain.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from stoker.base.clock import Clock, Timer
from stoker.cloud.session import Cloud
from stoker.plugins.outcome import Watch

LOG = logging.getLogger(__name__)

MANY = 20
"""From this many on, objects of one list are watched together."""
PER_SECOND = 600.0
"""Objects listed in a second, on average: a list of 10,000 is looked at every 17 seconds."""
LONGEST_PAUSE = 5.0

_Place = tuple[Cloud, str, str, str, str, str]


@dataclass(slots=True)
class _Lookout:
    """A list, and the objects in it that are waited for: their last known status, and whom to wake."""

    waiting: dict[str, tuple[str | None, Callable[[], None]]] = field(default_factory=dict)
    pause: float = LONGEST_PAUSE
    timer: Timer | None = None
    look: asyncio.Task[None] | None = None

    @property
    def asleep(self) -> bool:
        """Whether no look is due or under way."""
        return self.timer is None and self.look is None


class Watchtower:
    """See the module's docstring. Used on one event loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lookouts: dict[_Place, _Lookout] = {}

    @contextmanager
    def watching(
        self, cloud: Cloud, watch: Watch, physical_id: str, after: float, wake: Callable[[], None]
    ) -> Iterator[bool]:
        """Have an object watched for the time of the context; false when the caller must look for itself.

        `wake` is called when the object has another status, is gone, or cannot be watched any more; it must do no
        harm when called in vain. `after` are the seconds until the caller would look for itself.
        """
        place = (cloud, watch.service, watch.path, watch.members, watch.id_field, watch.status_field)
        lookout = self._lookouts.setdefault(place, _Lookout())
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

    def _schedule(self, place: _Place, lookout: _Lookout, seconds: float) -> None:
        def begin() -> None:
            lookout.timer = None
            lookout.look = asyncio.ensure_future(self._look(place, lookout))

        lookout.timer = self._clock.call_later(seconds, begin)

    def _close(self, place: _Place, lookout: _Lookout) -> None:
        if self._lookouts.get(place) is lookout:
            del self._lookouts[place]
        if lookout.timer is not None:
            lookout.timer.cancel()
            lookout.timer = None
        if lookout.look is not None:
            lookout.look.cancel()

    async def _look(self, place: _Place, lookout: _Lookout) -> None:
        cloud, service, path, members, id_field, status_field = place
        try:
            listed = await cloud.list(service, path, members)
        except Exception as error:  # whatever it is, those who wait must not sleep for ever
            LOG.warning("%s cannot be looked at as a whole: %s", path, error)
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
