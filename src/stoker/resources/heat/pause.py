"""How long an action has still to wait."""

from __future__ import annotations

from stoker.plugins.resource import Call

_RESOLUTION = 0.001


def seconds_left(call: Call, seconds: float, since: float | None = None) -> float:
    """What is left of `seconds` counted from `since` (the action's beginning unless given); 0 when they are over.

    Less than a millisecond counts as over: a float of seconds since the epoch cannot tell such moments apart.
    """
    left = (call.started_at if since is None else since) + seconds - call.now
    return left if left > _RESOLUTION else 0.0
