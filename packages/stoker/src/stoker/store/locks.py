"""Locks of stacks: who has locked a tree of stacks, since when, and why.

A lock is a column of the root stack. While it is there, no operation begins on the tree, and nothing changes what the
next one would do to it: no resource is marked, and no drift is accepted. An operation that runs continues.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import orjson
from sqlalchemy import Connection

from stoker.base.errors import StackLocked
from stoker.store import queries
from stoker.store.records import Stack
from stoker_foundation.clock import isoformat


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock; `since` is in seconds since the epoch."""

    reason: str
    user_id: str | None
    user_name: str | None
    since: float

    @property
    def user(self) -> str:
        """Who has locked the stack, for messages."""
        return self.user_name or self.user_id or "an unknown user"

    def to_json(self) -> str:
        """Return the value of the column."""
        return orjson.dumps(asdict(self)).decode()

    def refusal(self, root: Stack) -> StackLocked:
        """Return the error for what the lock of a root stack does not allow, in its tree."""
        since = isoformat(self.since)
        return StackLocked(
            f"Stack {root.name} is locked by {self.user} since {since}: {self.reason}. Nothing is changed until it is "
            "unlocked (stoker stack unlock)."
        )


def lock_of(root: Stack) -> Lock | None:
    """Return the lock of a root stack."""
    return None if root.locked is None else Lock(**orjson.loads(root.locked))


def refuse_if_locked_now(connection: Connection, stack: Stack) -> None:
    """As `refuse_locked`, as of this transaction, until whose end nobody locks the tree."""
    _refuse(queries.lock_stack(connection, stack.root_id))


def refuse_locked(connection: Connection, stack: Stack) -> None:
    """Raise StackLocked if the tree that the stack belongs to is locked."""
    _refuse(stack if stack.parent_id is None else queries.stack_by_id(connection, stack.root_id))


def _refuse(root: Stack | None) -> None:
    if root is not None and (lock := lock_of(root)) is not None:
        raise lock.refusal(root)
