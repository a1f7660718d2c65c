"""Actions of several steps: each is called until it is done, then the next.

A step is a coroutine like a lifecycle method. `call.progress["turn"]` is the index of the current one. A step that has
requested something that takes time records it in `call.progress["sent"]`, which is removed when the step is done. The
end of a step is committed before the next one begins, because the state that it waited for may be over by then.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from stoker.plugins.outcome import Done, InProgress, Outcome
from stoker.plugins.resource import Call

Step = Callable[[Call], Awaitable[Outcome]]


async def in_turn(call: Call, steps: Sequence[Step]) -> Outcome:
    """Call the current step; the list must be the same at every call within one action."""
    turn: int = call.progress.get("turn", 0)
    if turn >= len(steps):
        return Done()
    outcome = await steps[turn](call)
    if not isinstance(outcome, Done) or turn + 1 == len(steps):
        return outcome
    call.progress["turn"] = turn + 1
    call.progress.pop("sent", None)
    return InProgress(after=0.0)
