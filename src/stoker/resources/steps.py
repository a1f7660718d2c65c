"""Actions of several steps: each is entered until it is done, then the next.

A step is a coroutine like a lifecycle method. Which one is running stands in `call.progress["turn"]`. A step that has
asked a service for something notes it in `call.progress["sent"]` and answers `Again`, so that the note is
committed; the note is wiped when the next step begins.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from stoker.plugins.outcome import Done, Outcome
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
        call.progress.pop("sent", None)
    return outcome
