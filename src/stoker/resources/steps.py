"""Actions of several steps: each is entered until it is done, then the next.

A step is a coroutine like a lifecycle method. Which one is running stands in `call.progress["turn"]`. A step that has
asked a service for something that takes time notes it in `call.progress["sent"]`, which is wiped when it is done. That
it is done is committed before the next one begins, for what it waited for may not be seen any more by then.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from stoker.plugins.outcome import Again, Done, Outcome
from stoker.plugins.resource import Call

Step = Callable[[Call], Awaitable[Outcome]]


async def in_turn(call: Call, steps: Sequence[Step]) -> Outcome:
    """Enter the step whose turn it is; the list must be the same at every entry of one action."""
    turn: int = call.progress.get("turn", 0)
    if turn >= len(steps):
        return Done()
    outcome = await steps[turn](call)
    if not isinstance(outcome, Done) or turn + 1 == len(steps):
        return outcome
    call.progress["turn"] = turn + 1
    call.progress.pop("sent", None)
    return Again(after=0.0)
