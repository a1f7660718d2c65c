"""Why a run starts no more steps, and the way out of those that wait."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from enum import Enum


class Stop(Enum):
    """Why a run starts no more steps."""

    SUPERSEDED = "superseded by a newer operation"
    EXPIRED = "Timed out"
    SHUTDOWN = "the engine stops"
    LOST = "another engine goes on with it"


CANCELLED = "cancelled"
"""Why an operation has failed that was called off."""

SET_ASIDE_REASON = (
    "Set aside: the engines that ran this operation died repeatedly. Update the stack or retry it once the cause is "
    "removed, or have an operator resume it."
)
"""Why an operation has failed that was set aside."""

UNCHANGING = ("CHECK", "SUSPEND", "RESUME", "SNAPSHOT")
"""Actions that leave the definition as it is."""


def gives_way(running: str, following: str) -> bool:
    """Whether the action that runs on a stack stops for one that follows, rather than coming to its end first.

    A newer definition takes over from an older one, and a deletion from everything. What leaves the definition alone
    neither stops another action half-way, nor is left half done itself.
    """
    return following == "DELETE" or (running not in UNCHANGING and following not in UNCHANGING)


def never() -> bool:
    """For what belongs to no run: it cannot be lost."""
    return False


LOST: ContextVar[Callable[[], bool]] = ContextVar("LOST", default=never)
"""Whether the run that the present task works for has been lost to another engine."""


class Stopped(Exception):
    """Raised inside a waiting step when its run stops."""
