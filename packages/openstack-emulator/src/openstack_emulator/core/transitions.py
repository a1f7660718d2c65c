"""State changes that happen later, on the cloud's clock, and survive a restart.

Each is a record `{id, due, service, method, arguments}`: a restarted emulator continues where it was killed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from openstack_emulator.core.store import Record, Store
from stoker_foundation.clock import Clock

log = logging.getLogger(__name__)


class Transitions:
    """Pending state changes. `run(service, method, arguments)` carries one out."""

    def __init__(self, store: Store, clock: Clock, run: Callable[[str, str, list[Any]], None]) -> None:
        self._store = store
        self._clock = clock
        self._run = run
        self._pending = store.collection("core", "transitions", internal=True)
        self._running = False

    def __len__(self) -> int:
        return len(self._pending)

    def start(self) -> None:
        """Begin to carry out what is pending; called on the thread of the event loop."""
        self._running = True
        for record in self._pending:
            self._arm(record["id"], record["due"])

    def add(self, delay: float, service: str, method: str, arguments: list[Any]) -> None:
        """Call a method of a service's records `delay` seconds from now with JSON arguments."""
        record: Record = {
            "id": uuid4().hex,
            "due": self._clock.now() + delay,
            "service": service,
            "method": method,
            "arguments": arguments,
        }
        self._pending.add(record)
        if self._running:
            self._arm(record["id"], record["due"])

    def _arm(self, key: str, due: float) -> None:
        self._clock.call_later(due - self._clock.now(), lambda: self._fire(key))

    def _fire(self, key: str) -> None:
        record = self._pending.get(key)
        if record is None:
            return
        self._pending.remove(record)
        try:
            self._run(record["service"], record["method"], record["arguments"])
        except Exception:
            log.exception("The state change %s of %s failed.", record["method"], record["service"])
        self._store.flush()
