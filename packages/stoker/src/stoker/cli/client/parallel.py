"""Run steps that need each other in parallel threads: each one after those that it needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from queue import SimpleQueue
from threading import Thread


class Outcome(StrEnum):
    """How a step ended."""

    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"
    """Not begun, since a step that it needs has failed or was skipped."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """The end of a step; `error` is what it raised, `because_of` the steps that kept it from beginning."""

    outcome: Outcome
    error: BaseException | None = None
    because_of: tuple[str, ...] = ()


def run(before: Mapping[str, Collection[str]], act: Callable[[str], None], most: int) -> dict[str, StepResult]:
    """Run `act` for each step, at most `most` at a time; return how each one ended.

    `before` has the steps that each one needs, without a circular dependency. A step that raises an exception has
    failed; the steps that need it are skipped, and all others are run. KeyboardInterrupt leaves the running steps
    behind, in threads that end with the process.
    """
    ended: dict[str, StepResult] = {}
    waiting = dict.fromkeys(before)
    finished: SimpleQueue[tuple[str, BaseException | None]] = SimpleQueue()
    running: set[str] = set()

    def work(name: str) -> None:
        try:
            act(name)
        except BaseException as error:
            finished.put((name, error))
        else:
            finished.put((name, None))

    while waiting or running:
        for name in list(waiting):
            needed = [other for other in before[name] if other in before]
            failed = tuple(other for other in needed if other in ended and ended[other].outcome is not Outcome.DONE)
            if failed:
                del waiting[name]
                ended[name] = StepResult(Outcome.SKIPPED, because_of=failed)
            elif len(running) < most and all(other in ended for other in needed):
                del waiting[name]
                running.add(name)
                Thread(target=work, args=(name,), name=name, daemon=True).start()
        if running:
            name, error = finished.get()
            running.remove(name)
            ended[name] = StepResult(Outcome.DONE if error is None else Outcome.FAILED, error)
    return {name: ended[name] for name in before}
