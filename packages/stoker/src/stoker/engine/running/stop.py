"""The reasons why a run stops, and the exception for waiting steps."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from enum import Enum


class Stop(Enum):
    """The reason why a run starts no more steps."""

    SUPERSEDED = "superseded by a newer operation"
    EXPIRED = "Timed out"
    SHUTDOWN = "the engine is shutting down"
    LOST = "another engine has taken it over"


CANCELLED = "cancelled"
"""The status reason of a cancelled operation."""

SET_ASIDE_REASON = (
    "Set aside: the engines that ran this operation died repeatedly. Remove the cause, then update the stack or retry "
    "the operation, or have an operator resume it."
)
"""The status reason of an operation that was set aside."""

UNCHANGING = ("CHECK", "SUSPEND", "RESUME", "SNAPSHOT")
"""Actions that do not change the definition."""


def is_superseded(running: str, following: str) -> bool:
    """Return whether the running action stops for the following one; otherwise it is finished first.

    A newer definition supersedes an older one, and a deletion supersedes everything. Actions that do not change the
    definition neither interrupt others nor are interrupted.
    """
    return following == "DELETE" or (running not in UNCHANGING and following not in UNCHANGING)


def never() -> bool:
    """Return False, for tasks that belong to no run and so cannot be lost."""
    return False


LOST: ContextVar[Callable[[], bool]] = ContextVar("LOST", default=never)
"""Whether the run of the current task was lost to another engine."""

RESOURCE: ContextVar[tuple[str, str] | None] = ContextVar("RESOURCE", default=None)
"""The ID of the stack and the name of the resource whose step the current task runs."""


class Stopped(Exception):
    """Raised in a waiting step when its run stops."""
