"""When a stack is examined, and when it is healed. Every function here is pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from stoker.base.errors import BadValue
from stoker.store.records import COMPLETE, FAILED, HEALING, Operation, Stack

TAG = "stoker:heal"
"""The tag of stacks that are healed; `stoker:heal=120` names the interval of the health checks in seconds."""

SHORTEST_INTERVAL = 10
"""Seconds; no stack is examined more often."""

LONGEST_PAUSE = 3600.0
"""Seconds; the longest pause between two attempts."""

MOST_FAILURES = 5
"""Number of attempts that may fail in a row; after that, a user must update or check the stack."""

REMEMBERED_SECONDS = 86400.0
"""Attempts longer ago do not lengthen the pause."""

EXAMINED_OPERATIONS = 50
"""Number of operations that `next_attempt` needs at the most."""

_NOT_HEALED = ("DELETE", "SUSPEND")


def interval_of(tag: str, default: float) -> float:
    """Return the seconds between two health checks of a stack with the tag. Raises BadValue for an invalid tag."""
    if tag == TAG:
        return max(default, float(SHORTEST_INTERVAL))
    text = tag.removeprefix(f"{TAG}=")
    if not (text.isascii() and text.isdigit() and SHORTEST_INTERVAL <= int(text) <= 10 * REMEMBERED_SECONDS):
        raise BadValue(
            f"Invalid tag {tag!r}: the interval must be an integer of at least {SHORTEST_INTERVAL}, in seconds."
        )
    return float(text)


def is_healing_tag(tag: str) -> bool:
    """Return whether a tag asks for healing."""
    return tag == TAG or tag.startswith(f"{TAG}=")


def may_be_healed(stack: Stack, last: Operation | None) -> bool:
    """Return whether the state of a stack allows healing; `last` is its last operation.

    A stack whose operation failed belongs to the user who began it. Exceptions are a check, which only found what is to
    be healed, and an earlier attempt.
    """
    if stack.action in _NOT_HEALED:
        return False
    if stack.status == COMPLETE or (stack.action, stack.status) == ("CHECK", FAILED):
        return True
    return stack.status == FAILED and last is not None and last.cause == HEALING


def attempts_of(operations: Sequence[Operation]) -> list[Operation]:
    """Return the attempts since the last operation of a user, newest first; `operations` as in `next_attempt`."""
    own = takewhile(lambda operation: operation.cause == HEALING, operations)
    return [operation for operation in own if operation.action == "UPDATE"]


def failures_of(operations: Sequence[Operation]) -> int:
    """Return how many attempts have failed since the last one that succeeded; `operations` as in `next_attempt`."""
    return len(list(takewhile(lambda attempt: attempt.status != COMPLETE, attempts_of(operations))))


def next_attempt(operations: Sequence[Operation], interval: float) -> float | None:
    """Return the time from which a stack may be healed; None if too many attempts have failed.

    `operations` are those of the stack, newest first. The pause after an attempt is the interval, and doubles with each
    one, whether or not it succeeded: a server that dies again soon after each replacement is replaced ever more rarely.
    """
    attempts = attempts_of(operations)
    if not attempts:
        return 0.0
    if failures_of(operations) >= MOST_FAILURES:
        return None
    last = operations[0].finished_at or operations[0].created_at
    recent = sum(attempt.created_at > last - REMEMBERED_SECONDS for attempt in attempts)
    return last + min(interval * 2.0 ** max(recent - 1, 0), max(LONGEST_PAUSE, interval))
