"""Actions of several steps: each is entered until it is done, then the next.

A step is a coroutine like a lifecycle method. Which one is running stands in `call.progress["turn"]`. A step that has
asked a service for something that takes time notes it in `call.progress["sent"]` and answers `Again`, so that the note
is committed. When such a step is done that is committed too, before the next one begins: what the step waited for may
not be seen any more by then. Steps that are done at once may be repeated together with the next one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from stoker.plugins.outcome import Again, Done, Outcome
from stoker.plugins.resource import Call

Step = Callable[[Call], Awaitable[Outcome]]


async def in_turn(call: Call, steps: Sequence[Step]) -> Outcome:
    """Go on with the steps; the list must be the same at every entry of one action. The last `Done` is the answer."""
    outcome: Outcome = Done()
    for turn in range(call.progress.get("turn", 0), len(steps)):
        outcome = await steps[turn](call)
        if not isinstance(outcome, Done):
            return outcome
        call.progress["turn"] = turn + 1
        if call.progress.pop("sent", None) is not None and turn + 1 < len(steps):
            return Again(after=0.0)
    return outcome
