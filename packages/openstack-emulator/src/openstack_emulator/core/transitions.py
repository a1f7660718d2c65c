"""State changes that happen later, on the cloud's clock, and survive a restart.

Each is a record: a restarted emulator continues where it was killed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from openstack_emulator.core.store import Store
from openstack_emulator.core.typed import TypedRecord
from stoker_foundation.clock import Clock

log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True, eq=False)
class Transition(TypedRecord):
    """A state change that is to happen at a time, `due`, in seconds since the epoch: a method with JSON arguments."""

    due: float
    service: str
    method: str
    arguments: list[Any]


class Transitions:
    """Pending state changes. `run(service, method, arguments)` carries one out."""

    def __init__(self, store: Store, clock: Clock, run: Callable[[str, str, list[object]], None]) -> None:
        self._store = store
        self._clock = clock
        self._run = run
        self._pending = store.table(Transition, "core", "transitions", internal=True)
        self._running = False

    def __len__(self) -> int:
        return len(self._pending)

    def start(self) -> None:
        """Begin to carry out what is pending; called on the thread of the event loop."""
        self._running = True
        for pending in self._pending:
            self._arm(pending)

    def add(self, delay: float, service: str, method: str, arguments: list[Any]) -> None:
        """Call a method of a service's records `delay` seconds from now with JSON arguments."""
        due = self._clock.now() + delay
        pending = Transition(id=uuid4().hex, due=due, service=service, method=method, arguments=arguments)
        self._pending.add(pending)
        if self._running:
            self._arm(pending)

    def _arm(self, pending: Transition) -> None:
        self._clock.call_later(pending.due - self._clock.now(), lambda: self._fire(pending.id))

    def _fire(self, key: str) -> None:
        pending = self._pending.get(key)
        if pending is None:
            return
        self._pending.remove(pending)
        try:
            self._run(pending.service, pending.method, pending.arguments)
        except Exception:
            log.exception("The state change %s of %s failed.", pending.method, pending.service)
        self._store.flush()
