"""The remaining time of a wait within an action."""

from __future__ import annotations

from stoker.plugins.resource import Call

_RESOLUTION = 0.001
_SINCE = "waiting_since"


def seconds_left(call: Call, seconds: float, key: str = _SINCE) -> float:
    """Return how many of `seconds`, counted from `call.progress[key]`, remain; 0 when they are over.

    Without that entry the wait began with the action. The entry survives restarts of the engine. If the clock shows an
    earlier time it was set back, and the wait restarts: a step back of any size costs at most one more wait.

    Less than a millisecond counts as over: a float of seconds since the epoch cannot distinguish such times.
    """
    since = min(call.progress.get(key, call.started_at), call.now)
    call.progress[key] = since
    left = since + float(seconds) - call.now
    return left if left > _RESOLUTION else 0.0
