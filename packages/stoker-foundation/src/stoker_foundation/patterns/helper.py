"""Match patterns with Python's `re` in a helper process.

Helpers are started on demand and reused. The kernel ends a helper that computes for too long; callers wait for at most
`_TIMEOUT_SECONDS`, however busy the machine is.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from stoker_foundation.interpreter import bare_python_command
from stoker_foundation.json_process import JsonProcess

SECONDS = 0.2
"""Limit of processor time of one request, in seconds."""

_MEMORY = 192 * 1024 * 1024
_TIMEOUT_SECONDS = 10.0
_MOST_AT_ONCE = 2


class PatternTooCostly(TimeoutError):
    """Matching a pattern exceeds the limit of time or memory."""


@dataclass(frozen=True)
class Match:
    """A match; `regs` are the spans of its groups, the whole match first, as in `re`."""

    text: str
    regs: tuple[tuple[int, int], ...]
    names: dict[str, int]

    def group(self, number: int = 0) -> str | None:
        """Return what a group matched; None when it did not participate."""
        start, end = self.regs[number]
        return None if start < 0 else self.text[start:end]

    @cached_property
    def _groups(self) -> tuple[str | None, ...]:
        return tuple(self.group(number) for number in range(1, len(self.regs)))

    def groups(self) -> tuple[str | None, ...]:
        """Return what each group matched, without the whole match."""
        return self._groups

    def groupdict(self) -> dict[str, str | None]:
        """Return what each named group matched."""
        return {name: self.group(number) for name, number in self.names.items()}

    def start(self, number: int = 0) -> int:
        """Return where a group begins; -1 when it did not participate."""
        return self.regs[number][0]

    def end(self, number: int = 0) -> int:
        """Return where a group ends; -1 when it did not participate."""
        return self.regs[number][1]


def _start() -> JsonProcess:
    worker = Path(__file__).with_name("worker.py")
    return JsonProcess(bare_python_command(str(worker), str(SECONDS), str(_MEMORY)), timeout=_TIMEOUT_SECONDS)


class _Helpers:
    """The idle helpers, and the limit of concurrent requests."""

    def __init__(self) -> None:
        self._idle: list[JsonProcess] = []
        self._turns = threading.BoundedSemaphore(_MOST_AT_ONCE)
        self.waiting: Callable[[float], AbstractContextManager[None]] = lambda _: nullcontext()

    def ask(self, question: Sequence[object]) -> dict[str, Any]:
        """Return the answer to a request. Raises PatternTooCostly."""
        with self.waiting(SECONDS), self._turns:
            helper = self._idle.pop() if self._idle else _start()
            try:
                answer = helper.ask(question)
            except (EOFError, TimeoutError) as error:
                helper.stop()
                raise PatternTooCostly from error
            except BaseException:
                helper.stop()
                raise
            self._idle.append(helper)
        if "too_costly" in answer:
            raise PatternTooCostly
        return answer

    def stop(self) -> None:
        """End the idle helpers."""
        while self._idle:
            self._idle.pop().stop()


_helpers = _Helpers()
atexit.register(_helpers.stop)


def measure_waiting(waiting: Callable[[float], AbstractContextManager[None]]) -> None:
    """Enter `waiting(SECONDS)` around every request, so that an application accounts for the time, or forbids it."""
    _helpers.waiting = waiting


def ask(question: str, pattern: str, flags: int, *arguments: object) -> Any:
    """Return `re`'s answer; see `worker`. Raises PatternTooCostly, and ValueError for invalid arguments."""
    answer = _helpers.ask([question, pattern, flags, *arguments])
    if "error" in answer:
        raise ValueError(answer["error"])
    return answer["answer"]
