"""Tasks: generators that a plug-in runs step by step."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from typing import Any


class Timeout(BaseException):
    """A task has not ended within its time limit."""


class TaskRunner:
    """Runs a task: a function whose result may be a generator, of which each step is one iteration."""

    def __init__(self, task: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        self._task = functools.partial(task, *args, **kwargs)
        self._steps: Iterator[object] | None = None
        self._started = self._done = False
        self._deadline: float | None = None

    def __call__(self, wait_time: float = 1, timeout: float | None = None, **_other: Any) -> None:
        """Start the task and run it to its end."""
        self.start(timeout=timeout)
        self.run_to_completion(wait_time=wait_time)

    def start(self, timeout: float | None = None) -> None:
        """Start the task and run its first step."""
        self._started = True
        self._deadline = None if timeout is None else time.monotonic() + timeout
        result = self._task()
        if hasattr(result, "__next__"):
            self._steps = result
            self.step()
        else:
            self._done = True

    def step(self) -> bool:
        """Run the next step; return whether the task has ended. Raises Timeout."""
        if not self._done:
            if self._deadline is not None and time.monotonic() > self._deadline:
                self.cancel()
                raise Timeout(f"{self._task.func!r} timed out")
            assert self._steps is not None
            try:
                next(self._steps)
            except StopIteration:
                self._done = True
        return self._done

    def run_to_completion(self, wait_time: float = 1, **_other: Any) -> None:
        """Run the remaining steps, with a pause before each."""
        while not self._done:
            time.sleep(wait_time)
            self.step()

    def cancel(self, grace_period: float | None = None) -> None:
        """End the task without running its remaining steps."""
        if self._steps is not None and not self._done:
            self._steps.close()  # type: ignore[attr-defined]
        self._done = True

    def started(self) -> bool:
        """Return whether the task has been started."""
        return self._started

    def done(self) -> bool:
        """Return whether the task has ended."""
        return self._done

    def __bool__(self) -> bool:
        return True


def wrappertask(task: Callable[..., Any]) -> Callable[..., Iterator[object]]:
    """Decorate a generator that yields other tasks' generators, so that their steps become its own."""

    @functools.wraps(task)
    def flattened(*args: Any, **kwargs: Any) -> Iterator[object]:
        for step in task(*args, **kwargs):
            if hasattr(step, "__next__"):
                yield from step
            else:
                yield step

    return flattened
