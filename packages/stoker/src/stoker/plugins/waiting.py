"""Waiting for a status, as data: which statuses of an object mean ready, pending and failed."""

from __future__ import annotations

from dataclasses import dataclass

from stoker.plugins.outcome import Again, Done, Failed, Outcome

_SOONEST = 0.25
_PART_OF_ELAPSED = 0.25


@dataclass(frozen=True, slots=True)
class Waiter:
    """Judges an object by its status.

    `every` is the longest interval between two requests, in seconds: the first intervals are shorter, each being a
    quarter of the time waited so far. With `tolerant`, a status in none of the sets means pending; otherwise it means
    failure. The comparison of statuses is case-sensitive.
    """

    done: frozenset[str]
    pending: frozenset[str] = frozenset()
    failed: frozenset[str] = frozenset()
    every: float = 5.0
    tolerant: bool = False

    @classmethod
    def until(
        cls, *done: str, pending: tuple[str, ...] = (), failed: tuple[str, ...] = ("ERROR",), every: float = 5.0
    ) -> Waiter:
        """Create a waiter from statuses separated by spaces; without `pending`, all other statuses mean pending."""
        return cls(frozenset(done), frozenset(pending), frozenset(failed), every, tolerant=not pending)

    def judge(self, status: str | None, reason: str | None = None, elapsed: float | None = None) -> Outcome:
        """Return a lifecycle method's result for an object in this status, `elapsed` seconds into its action.

        `reason` is the service's own explanation of a failure.
        """
        if status in self.done:
            return Done()
        words = f": {reason}" if reason else ", without a reason"
        if status in self.failed:
            return Failed(f"the service reports status {status}{words}", in_error=True)
        if status in self.pending or self.tolerant:
            return Again(after=self.pause(elapsed))
        expected = ", ".join(sorted(self.done | self.pending))
        return Failed(f"the service reports status {status}{words}; expected {expected}", "ResourceUnknownStatus")

    def pause(self, elapsed: float | None = None) -> float:
        """Return the seconds until the next request."""
        return self.every if elapsed is None else min(self.every, max(_SOONEST, elapsed * _PART_OF_ELAPSED))
