"""How long an action has still to wait."""

from __future__ import annotations

from stoker.plugins.resource import Call

_RESOLUTION = 0.001
_SINCE = "waiting_since"


def seconds_left(call: Call, seconds: float, key: str = _SINCE) -> float:
    """What is left of `seconds` counted from `call.progress[key]`; 0 when they are over.

    Without that entry the wait began with the action. The entry survives restarts of the engine. A clock that is before
    it was set back, and the wait begins again: so a step back of any size costs at most one more wait.

    Less than a millisecond counts as over: a float of seconds since the epoch cannot tell such moments apart.
    """
    since = min(call.progress.get(key, call.started_at), call.now)
    call.progress[key] = since
    left = float(since + seconds - call.now)
    return left if left > _RESOLUTION else 0.0
