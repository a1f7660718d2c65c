"""What the work for one request or operation may cost: steps, bytes that it makes, seconds of processor time.

One `Budget` is opened for a whole request or operation, and everything that is done for it (parsing, expanding,
evaluating, planning) charges that one, before it does the work:

    with opened(Budget(allowed)):
        with computing():
            charge(steps=len(items), made=size)

Code that runs where none is open charges nothing. `at_once` is for callers that must not be held up, such as an event
loop: what would take longer raises `Postponed`, and is done again from the beginning on another thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from stoker.base.errors import BudgetExceeded
from stoker.base.processor_time import processor_time

_STEPS_BETWEEN_LOOKS = 128
_BYTES_PER_STEP = 512
_MOST_BYTES_AT_ONCE = 65_536


@dataclass(frozen=True, slots=True)
class Allowed:
    """How much a budget has; `resources` are those of a tree of stacks, -1 is no limit."""

    steps: int
    made: int
    seconds: float
    resources: int = -1

    def times(self, factor: int) -> Allowed:
        """As much for each of `factor` times that the same work is done."""
        return replace(self, steps=self.steps * factor, made=self.made * factor, seconds=self.seconds * factor)


class Postponed(BaseException):
    """The work does not end in the time that the caller has; it has to be done elsewhere.

    Not an `Exception`: nobody but the one who asked is to handle it.
    """


class Budget:
    """What is left of what is allowed. Several threads may work for one request at the same time."""

    __slots__ = ("_allowed", "_made", "_marks", "_seconds", "_steps", "_until_look")

    def __init__(self, allowed: Allowed) -> None:
        self._allowed = allowed
        self._steps = allowed.steps
        self._made = allowed.made
        self._seconds = allowed.seconds
        self._until_look = _STEPS_BETWEEN_LOOKS
        self._marks: dict[int, float] = {}

    def charge(self, steps: int = 1, made: int = 0) -> None:
        """Take `steps`, and `made` bytes that are about to be made. Raises BudgetExceeded or Postponed."""
        if made:
            steps += made // _BYTES_PER_STEP
            self._made -= made
            if self._made < 0:
                raise BudgetExceeded(
                    f"The template makes more than {self._allowed.made} bytes when it is evaluated. "
                    "Make its values smaller, or use fewer copies of them."
                )
            if made > _MOST_BYTES_AT_ONCE and _slice.ends is not None:
                raise Postponed
        self._steps -= steps
        if self._steps < 0:
            raise BudgetExceeded(
                f"The template takes more than {self._allowed.steps} steps to evaluate. Make it simpler, or split it."
            )
        self._until_look -= steps
        if self._until_look < 0:
            self.look()

    def look(self) -> None:
        """Take the processor time that has passed in this thread since the last look. Raises BudgetExceeded."""
        self._until_look = _STEPS_BETWEEN_LOOKS
        thread = threading.get_ident()
        mark = self._marks.get(thread)
        now = processor_time()
        if mark is not None:
            self._marks[thread] = now
            self.spend(now - mark)
        if _slice.ends is not None and now > _slice.ends:
            raise Postponed

    def spend(self, seconds: float) -> None:
        """Take processor time that was used. Raises BudgetExceeded when nothing is left."""
        self._seconds -= seconds
        if self._seconds <= 0:
            raise BudgetExceeded(
                f"The template takes more than {self._allowed.seconds:g} s of processor time to evaluate. "
                "Make it simpler, or split it."
            )

    def members(self, count: int, name: str = "The group") -> None:
        """See that a resource may have `count` members, before any of them is made. Raises BudgetExceeded."""
        limit = self._allowed.resources
        if 0 <= limit < count:
            raise BudgetExceeded(
                f"{name} would have {count} members; at most {limit} resources are allowed (max_resources_per_stack)."
            )
        self.charge(count)

    def computing(self) -> AbstractContextManager[None]:
        """The processor time of the block is taken, also while it lasts. Raises BudgetExceeded when none is left."""
        return _NOTHING_MORE if threading.get_ident() in self._marks else self._computing()

    @contextmanager
    def _computing(self) -> Iterator[None]:
        self.spend(0)
        thread = threading.get_ident()
        self._marks[thread] = processor_time()
        try:
            yield
        finally:
            self._seconds -= processor_time() - self._marks.pop(thread)


_NOTHING_MORE: AbstractContextManager[None] = nullcontext()


class _Slice(threading.local):
    """Until which moment of its processor time the thread may compute without a break; None is no limit."""

    ends: float | None = None


_slice = _Slice()
_current: ContextVar[Budget | None] = ContextVar("budget", default=None)


def current() -> Budget | None:
    """The open budget."""
    return _current.get()


@contextmanager
def opened(budget: Budget) -> Iterator[Budget]:
    """Have everything in the block charge `budget`, in tasks and threads too that are begun with its context."""
    token = _current.set(budget)
    try:
        yield budget
    finally:
        _current.reset(token)


@contextmanager
def ensured(allowed: Allowed) -> Iterator[Budget]:
    """The open budget, or where there is none, a new one for the block; the block's processor time is taken from it."""
    budget = _current.get()
    if budget is not None:
        with budget.computing():
            yield budget
        return
    with opened(Budget(allowed)) as budget, budget.computing():
        yield budget


def charge(steps: int = 1, made: int = 0) -> None:
    """As `Budget.charge`, of the open budget."""
    budget = _current.get()
    if budget is not None:
        budget.charge(steps, made)


def members(count: int, name: str = "The group") -> None:
    """As `Budget.members`, of the open budget."""
    budget = _current.get()
    if budget is not None:
        budget.members(count, name)


def charge_copy(value: Any, times: int = 1) -> None:
    """Charge the open budget for plain data that is about to be written out `times` times."""
    budget = _current.get()
    if budget is not None:
        budget.charge(made=times * measured(value, budget))


@contextmanager
def at_once(seconds: float) -> Iterator[None]:
    """Compute for `seconds` at the most; what takes longer raises Postponed."""
    former, _slice.ends = _slice.ends, processor_time() + seconds
    try:
        yield
    finally:
        _slice.ends = former


@contextmanager
def waiting(seconds: float) -> Iterator[None]:
    """Wait for another process that computes for `seconds` at the most; that is taken from the open budget.

    Raises Postponed where there is no time to wait.
    """
    if _slice.ends is not None:
        raise Postponed
    began = time.monotonic()
    try:
        yield
    finally:
        budget = _current.get()
        if budget is not None:
            budget.spend(min(time.monotonic() - began, seconds))


def size_of(text: str) -> int:
    """Bytes that a string takes, at the most."""
    return len(text) if text.isascii() else 4 * len(text)


_ITEM_BYTES = 64
_BETWEEN_CHARGES = 512


def measured(value: Any, budget: Budget) -> int:
    """Bytes that plain data would take with every part written out that it has several times.

    Looking at it is charged for, so that it ends. Raises BudgetExceeded or Postponed.
    """
    if type(value) is str:
        budget.charge()
        return size_of(value)
    total, steps = 0, 1
    pending = [value]
    while pending:
        collection = pending.pop()
        kind = type(collection)
        if kind is dict or (kind not in _LISTS and isinstance(collection, Mapping)):
            total += sum(map(_key_size, collection))
            collection = collection.values()
        elif kind not in _LISTS:
            continue
        steps += len(collection)
        for item in collection:
            kind = type(item)
            if kind is str:
                size = len(item)
                total += size if size < _SHORT or item.isascii() else 4 * size
            elif kind not in _SCALARS:
                pending.append(item)
        if steps >= _BETWEEN_CHARGES:
            total += _ITEM_BYTES * steps
            budget.charge(steps)
            steps = 0
    total += _ITEM_BYTES * steps
    budget.charge(steps + total // _BYTES_PER_STEP)
    return total


_LISTS = frozenset({list, tuple})
_SCALARS = frozenset({bool, int, float, type(None)})
_SHORT = 256
"""Up to which length it does not matter what characters a string is made of."""


def _key_size(key: object) -> int:
    return len(key) if type(key) is str else 0
