"""Limits on the cost of one request or operation: steps, bytes created, seconds of processor time.

One `Budget` is opened for a whole request or operation. All work for it (parsing, expanding, evaluating, planning)
charges this budget before the work is done:

    with opened(Budget(allowed)):
        with computing():
            charge(steps=len(items), made=size)

Without an open budget nothing is charged. `at_once` is for callers that must not block, such as an event loop: work
that would take longer raises `Postponed`, and is restarted from the beginning on another thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from stoker.base.errors import BudgetExceeded
from stoker_foundation.patterns import measure_waiting
from stoker_foundation.processor_time import processor_time

Result = TypeVar("Result")

_STEPS_BETWEEN_CHECKS = 128
_BYTES_PER_STEP = 512
_MOST_BYTES_AT_ONCE = 131_072


@dataclass(frozen=True, slots=True)
class BudgetLimits:
    """The size of a budget. `resources` is the maximum in a tree of stacks; -1 means no limit."""

    steps: int
    made: int
    seconds: float
    resources: int = -1

    def times(self, factor: int) -> BudgetLimits:
        """Return the allowance for doing the same work `factor` times."""
        return BudgetLimits(self.steps * factor, self.made * factor, self.seconds * factor, self.resources)


class Postponed(BaseException):
    """The work does not finish within the caller's time limit and must be done on another thread.

    Not an `Exception`, so that only the caller that set the limit (`at_once`) handles it.
    """


class Budget:
    """The remaining allowance. Several threads may work for one request at the same time."""

    __slots__ = ("_allowed", "_made", "_marks", "_seconds", "_steps", "_until_check")

    def __init__(self, allowed: BudgetLimits) -> None:
        self._allowed = allowed
        self._until_check = min(_STEPS_BETWEEN_CHECKS, allowed.steps)
        self._steps = allowed.steps - self._until_check
        self._made = allowed.made
        self._seconds = allowed.seconds
        self._marks: dict[int, float] = {}

    def charge(self, steps: int = 1, made: int = 0) -> None:
        """Deduct `steps`, and `made` bytes that are about to be allocated. Raises BudgetExceeded or Postponed."""
        if made:
            steps += made // _BYTES_PER_STEP
            self._made -= made
            if self._made < 0:
                raise BudgetExceeded(
                    f"The template makes more than {self._allowed.made} bytes when it is evaluated. "
                    "Make its values smaller, or use fewer copies of them."
                )
            if _slice.ends is not None:
                _slice.made += made
                if _slice.made > _MOST_BYTES_AT_ONCE:
                    raise Postponed
        self._until_check -= steps
        if self._until_check < 0:
            self._check()

    def _check(self) -> None:
        """Allot the steps until the next check, and deduct the processor time used by this thread since the last one.

        Raises BudgetExceeded or Postponed.
        """
        self._steps += self._until_check  # negative: the steps taken beyond those allotted
        if self._steps < 0:
            raise BudgetExceeded(
                f"The template takes more than {self._allowed.steps} steps to evaluate. Make it simpler, or split it."
            )
        self._until_check = min(_STEPS_BETWEEN_CHECKS, self._steps)
        self._steps -= self._until_check
        thread = threading.get_ident()
        mark = self._marks.get(thread)
        now = processor_time()
        if mark is not None:
            self._marks[thread] = now
            self.spend(now - mark)
        if _slice.ends is not None and now > _slice.ends:
            raise Postponed

    def spend(self, seconds: float) -> None:
        """Deduct processor time that was used. Raises BudgetExceeded when none is left."""
        self._seconds -= seconds
        if self._seconds <= 0:
            raise BudgetExceeded(
                f"The template takes more than {self._allowed.seconds:g} s of processor time to evaluate. "
                "Make it simpler, or split it."
            )

    def members(self, count: int, name: str = "The group") -> None:
        """Check that a resource may have `count` members, before any of them is created. Raises BudgetExceeded."""
        limit = self._allowed.resources
        if 0 <= limit < count:
            raise BudgetExceeded(
                f"{name} would have {count} members; at most {limit} resources are allowed (max_resources_per_stack)."
            )
        self.charge(count)

    @property
    def is_computing(self) -> bool:
        """Whether what this thread computes is being deducted."""
        return threading.get_ident() in self._marks

    def computing(self) -> AbstractContextManager[None]:
        """Deduct the processor time of the block, also while it runs. Raises BudgetExceeded when none is left."""
        return _ALREADY_MEASURED if self.is_computing else _Computing(self)

    def begin(self, now: float) -> None:
        """Deduct what this thread computes from now on, a value of `processor_time`. Raises BudgetExceeded."""
        self.spend(0)
        self._marks[threading.get_ident()] = now

    def end(self) -> None:
        """Deduct nothing more of what this thread computes."""
        self._seconds -= processor_time() - self._marks.pop(threading.get_ident())


class _Computing:
    """The block of `Budget.computing`; a generator would cost as much as a short evaluation."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget

    def __enter__(self) -> None:
        self._budget.begin(processor_time())

    def __exit__(self, *error: object) -> None:
        self._budget.end()


_ALREADY_MEASURED: AbstractContextManager[None] = nullcontext()


class _Slice(threading.local):
    """The processor time up to which the thread may compute without interruption, and the bytes made since it began.

    None means no limit.
    """

    ends: float | None = None
    made: int = 0


_slice = _Slice()
_current: ContextVar[Budget | None] = ContextVar("budget", default=None)


def current() -> Budget | None:
    """The open budget."""
    return _current.get()


@contextmanager
def opened(budget: Budget) -> Iterator[Budget]:
    """Charge `budget` for all work in the block, including tasks and threads started with its context."""
    token = _current.set(budget)
    try:
        yield budget
    finally:
        _current.reset(token)


@contextmanager
def ensured(allowed: BudgetLimits) -> Iterator[Budget]:
    """Use the open budget, or a new one if none is open; the block's processor time is deducted from it."""
    budget = _current.get()
    if budget is not None:
        with budget.computing():
            yield budget
        return
    with opened(Budget(allowed)) as budget, budget.computing():
        yield budget


def charge(steps: int = 1, made: int = 0) -> None:
    """Call `Budget.charge` on the open budget, if any."""
    budget = _current.get()
    if budget is not None:
        budget.charge(steps, made)


def members(count: int, name: str = "The group") -> None:
    """Call `Budget.members` on the open budget, if any."""
    budget = _current.get()
    if budget is not None:
        budget.members(count, name)


def charge_copy(value: object, times: int = 1) -> None:
    """Charge the open budget for plain data that is about to be copied `times` times."""
    budget = _current.get()
    if budget is not None:
        budget.charge(made=times * measured(value, budget))


def at_once(seconds: float, work: Callable[[], Result]) -> Result:
    """Return the result of `work()`, with its processor time deducted from the open budget.

    Work that takes longer than `seconds` raises Postponed.
    """
    current_slice, budget = _slice, _current.get()
    former = current_slice.ends, current_slice.made
    now = processor_time()
    current_slice.ends, current_slice.made = now + seconds, 0
    try:
        if budget is None or budget.is_computing:
            return work()
        budget.begin(now)
        try:
            return work()
        finally:
            budget.end()
    finally:
        current_slice.ends, current_slice.made = former


@contextmanager
def waiting(seconds: float) -> Iterator[None]:
    """Wait for another process that computes for at most `seconds`, and deduct the time from the open budget.

    Raises Postponed inside `at_once`, where waiting is not allowed.
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


measure_waiting(waiting)  # for the helper processes that match patterns


def size_of(text: str) -> int:
    """Return an upper bound of the bytes that a string takes."""
    return len(text) if text.isascii() else 4 * len(text)


ITEM_BYTES = 64
"""Bytes that every item of a list and every entry of a map takes, besides what it holds."""

_BETWEEN_CHARGES = 512


def measured(value: Any, budget: Budget) -> int:
    """Return the bytes that plain data would take with every shared part written out each time it occurs.

    The traversal is charged as well, which bounds it. Raises BudgetExceeded or Postponed.
    """
    kind = type(value)
    if kind is str:
        budget.charge()
        return size_of(value)
    if kind in _SCALARS:
        return ITEM_BYTES
    total, steps = 0, 1
    pending = [value]
    while pending:
        collection = pending.pop()
        kind = type(collection)
        if kind is dict or (kind not in _LISTS and isinstance(collection, Mapping)):
            total += _keys_size(collection)
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
            total += ITEM_BYTES * steps
            budget.charge(steps)
            steps = 0
    total += ITEM_BYTES * steps
    budget.charge(steps + total // _BYTES_PER_STEP)
    return total


_LISTS = frozenset({list, tuple})
_SCALARS = frozenset({bool, int, float, type(None)})
_SHORT = 256
"""Strings shorter than this count as one byte per character, whatever characters they contain."""


def _keys_size(keys: Collection[object]) -> int:
    try:
        return sum(map(len, keys))  # type: ignore[arg-type]  # as good as always all are strings
    except TypeError:
        return sum(len(key) for key in keys if type(key) is str)
