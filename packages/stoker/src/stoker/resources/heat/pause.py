"""The remaining time of a wait within an action."""

from __future__ import annotations

from stoker.plugins.resource import Call

_RESOLUTION = 0.001
_FROM = "waits_from"


def seconds_left(call: Call, seconds: float, key: str = _FROM) -> float:
    """Return how many of `seconds`, counted from `call.progress[key]`, remain; 0 when they are over.

    The entry is in seconds since the action began (`call.elapsed`); without it the wait began with the action. It
    survives restarts of the engine. If less has passed since the action began than the entry says, the clock was set
    back while no engine ran, and the wait restarts: a step back of any size costs at most one more wait.

    Less than a millisecond counts as over: a float of seconds since the epoch cannot distinguish such times.
    """
    began = min(call.progress.get(key, 0.0), call.elapsed)
    call.progress[key] = began
    left = began + float(seconds) - call.elapsed
    return left if left > _RESOLUTION else 0.0
