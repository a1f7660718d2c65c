"""Why a run starts no more steps, and the way out of those that wait."""

from __future__ import annotations

from enum import Enum


class Stop(Enum):
    """Why a run starts no more steps."""

    SUPERSEDED = "superseded by a newer operation"
    EXPIRED = "Timed out"
    CANCELLED = "cancelled"
    SHUTDOWN = "the engine stops"


class Stopped(Exception):
    """Raised inside a waiting step when its run stops."""
