"""Requests whose sender has stopped waiting: what they have not committed by then is not committed any more.

A request that is answered with an error must not take effect later, for example when a locked database is free again.
The journal asks right before it commits a request's first batch; from then on, the request is carried out to its end.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from stoker.base.errors import StokerError


class RequestExpired(StokerError):
    """The sender of the request has got an error meanwhile, so nothing may be committed for it."""


class Expiry:
    """Decides, for one request, between the end of its sender's timeout and its first commit. It is thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._expired = False
        self._begun = False

    @property
    def expired(self) -> bool:
        """Whether the request has expired, and nothing is committed for it."""
        return self._expired and not self._begun

    def expire(self) -> bool:
        """Let nothing be committed from now on; return False if something is committed already, or is just being."""
        with self._lock:
            self._expired = True
            return not self._begun

    def may_commit(self) -> bool:
        """Return whether the request's batch may be committed, which is then going to happen."""
        with self._lock:
            self._begun = self._begun or not self._expired
            return self._begun


EXPIRY: ContextVar[Expiry | None] = ContextVar("EXPIRY", default=None)
"""The expiry of the request that the current task carries out; None in other tasks."""


@contextmanager
def outside_request() -> Iterator[None]:
    """Commit, or start tasks that commit, independently of the request that the current task carries out."""
    token = EXPIRY.set(None)
    try:
        yield
    finally:
        EXPIRY.reset(token)
