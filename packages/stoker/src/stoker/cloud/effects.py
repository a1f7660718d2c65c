"""Which requests of a task may have changed something in a cloud."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing (RFC 9110, section 9.2.1)."""


@dataclass(slots=True)
class Effects:
    """Counts requests that were executed, or whose outcome is unknown."""

    requests: int = 0

    def sent(self, method: str) -> None:
        """Count a request that is about to be sent."""
        self.requests += method not in _SAFE

    def answered(self, method: str, status: int) -> None:
        """Do not count a request that the service refused: a status of 4xx means that it was not executed."""
        self.requests -= method not in _SAFE and 400 <= status < 500


_effects: ContextVar[Effects | None] = ContextVar("effects", default=None)


@contextmanager
def counted() -> Iterator[Effects]:
    """Count the requests that this task and tasks that it starts send within the context, also for an outer context."""
    outer, effects = _effects.get(), Effects()
    token = _effects.set(effects)
    try:
        yield effects
    finally:
        _effects.reset(token)
        if outer is not None:
            outer.requests += effects.requests


def current() -> Effects:
    """Return what counts the requests of this task; without effect if nothing does."""
    return _effects.get() or Effects()
