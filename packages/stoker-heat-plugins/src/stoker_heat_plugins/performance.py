"""One action of one resource: its object, and the handler or check of it that runs on a thread.

What a handler sets (`resource_id_set`, `data_set`, `metadata_set`) is committed before the handler continues: the
thread waits in the call, the method of the resource type returns `InProgress`, and the next call of the method, which
the engine makes only after the commit, lets the thread continue.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from stoker.plugins.outcome import InProgress
from stoker.plugins.resource import Call
from stoker_heat_plugins.record import Record
from stoker_heat_plugins.workers import WORKERS

TIMEOUT = 2.0
"""Seconds after which a method returns although the thread still runs, so that the engine can stop the action."""
LONGEST_COMMIT = 3600.0
"""Seconds that a handler waits for a commit. It waits in vain if the engine has stopped the action for good."""

Key = tuple[str, str, float]


class Stopped(Exception):
    """The engine has ended the action for which a handler waits."""


@dataclass(slots=True)
class Request:
    """What a handler asks the engine to carry out: a step of an action of the type that the plug-in's derives from.

    `values` are the plug-in's properties, `changed` those that an update changes. `begins` tells a handler from its
    check: a creation begins with all steps until the object's ID is recorded, and other actions with one step.
    """

    action: str
    values: Mapping[str, Any]
    changed: Mapping[str, Any] | None
    begins: bool
    prepared: bool = False
    ended: bool | None = None
    """Whether the action has ended; None as long as the engine has not carried out the request."""
    released: threading.Event = field(default_factory=threading.Event)


class Performance:
    """`resource` is the plug-in's object, `token` the result of its handler."""

    def __init__(self, key: Key, record: Record) -> None:
        self.key, self.record = key, record
        self.resource: Any = None
        self.token: Any = None
        self.work: Future[Any] | None = None
        self.request: Request | None = None
        self._lock = threading.Lock()
        self._commit: threading.Event | None = None
        self._shown = False
        self._news: Future[None] = Future()
        self._changed_at = time.monotonic()
        record.save = self._save

    def start(self, function: Callable[[], object]) -> None:
        """Run `function` on a thread."""
        self.work = WORKERS.submit(function)
        self.work.add_done_callback(lambda _work: self._wake_waiter())

    async def progress(self, call: Call) -> InProgress | None:
        """Wait for the thread. Return None when it has ended, else what the method returns to the engine."""
        assert self.work is not None
        if self._shown and self._commit is not None:
            committed, self._commit, self._shown = self._commit, None, False
            committed.set()
        await asyncio.wait([asyncio.wrap_future(self._expected())], timeout=TIMEOUT)
        if self._commit is not None:
            self._shown = True
            self.record.copy_to(call)
            return InProgress(after=0.0, physical_id=self.record.resource_id)
        if not self.work.done():
            return InProgress(after=0.0)
        self.record.copy_to(call)
        return None

    def ask(self, request: Request) -> bool:
        """Wait, on the thread of a handler, until the engine has carried out a request; return whether it has ended.

        Raises Stopped.
        """
        self.request = request
        self._wake_waiter()
        if not request.released.wait(LONGEST_COMMIT) or request.ended is None:
            raise Stopped(f"the engine has stopped the action {request.action}")
        return request.ended

    def release(self) -> None:
        """Let the handler continue whose request was carried out, or has become useless."""
        request, self.request = self.request, None
        if request is not None:
            request.released.set()

    @contextmanager
    def committed_later(self) -> Iterator[None]:
        """Let what the plug-in sets in the body return at once: the engine commits it together with the failure."""
        self.record.save = lambda: None
        yield
        self.record.save = self._save

    @property
    def forgotten(self) -> bool:
        """Whether the engine has not asked for a long time, so that nobody will."""
        return (self.work is None or self.work.done()) and time.monotonic() - self._changed_at > LONGEST_COMMIT

    def _expected(self) -> Future[None]:
        """Return a future of the next news; one that is done if there are some."""
        with self._lock:
            self._changed_at = time.monotonic()
            self._news = Future()
            has_news = self._commit is not None or self.request is not None
            if has_news or (self.work is not None and self.work.done()):
                self._news.set_result(None)
            return self._news

    def _wake_waiter(self) -> None:
        with self._lock:
            if not self._news.done():
                self._news.set_result(None)

    def _save(self) -> None:
        """Wait, on the thread of a handler, until the engine has committed the record."""
        committed = threading.Event()
        self._commit = committed
        self._wake_waiter()
        if not committed.wait(LONGEST_COMMIT):
            raise TimeoutError("the engine has stopped the action, so what the plug-in sets cannot be recorded")


RUNNING: dict[str, Performance] = {}
"""The performances of this process by the ID of the resource."""


def enter(uuid: str, performance: Performance) -> None:
    """Remember a performance until its action ends."""
    for other in [key for key, known in RUNNING.items() if known.forgotten]:
        del RUNNING[other]
    RUNNING[uuid] = performance
