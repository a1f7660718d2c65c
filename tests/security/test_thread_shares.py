"""Tenants that keep the threads of the API busy, and what is left to others."""

from __future__ import annotations

import threading

import pytest

from stoker.api.serving.workers import Workers

THREADS = 8


class Held:
    """Jobs that run until they are released."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._changed = threading.Condition()
        self.running: dict[str, int] = {}
        self._released: dict[str, int] = {}

    def submit(self, share: str, count: int) -> None:
        for _ in range(count):
            self._workers.submit(share, lambda: self._hold(share))

    def _hold(self, share: str) -> None:
        with self._changed:
            self.running[share] = self.running.get(share, 0) + 1
            self._changed.notify_all()
            assert self._changed.wait_for(lambda: self._released.get(share, 0) > 0, 30)
            self._released[share] -= 1
            self.running[share] -= 1
            self._changed.notify_all()

    def release(self, share: str, count: int) -> None:
        with self._changed:
            self._released[share] = self._released.get(share, 0) + count
            self._changed.notify_all()

    def reach(self, share: str, count: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self.running.get(share, 0) == count, 10), self.running


def test_two_projects_with_slow_requests_leave_a_thread_to_a_third() -> None:
    """Two projects together hold all threads of the API while the engine answers slowly."""
    workers = Workers(THREADS)
    held = Held(workers)
    held.submit("hostile", 50)
    held.reach("hostile", 6)
    held.submit("accomplice", 50)
    held.reach("accomplice", 1)
    answered = threading.Event()
    workers.submit("neighbour", answered.set)
    assert answered.wait(10)
    assert (held.running["hostile"], held.running["accomplice"]) == (6, 1)
    for share in ("hostile", "accomplice"):
        held.release(share, 50)
    assert workers.stop(30)


@pytest.mark.parametrize("projects", [2, 3, 5])
def test_a_thread_that_becomes_free_goes_to_the_project_that_has_fewest(projects: int) -> None:
    """Several projects hold all threads, and send on without end."""
    workers = Workers(THREADS)
    held = Held(workers)
    names = [f"hostile{number}" for number in range(projects)]
    held.submit(names[0], 100)
    held.reach(names[0], 6)
    for name in names[1:]:
        held.submit(name, 100)
    answered = threading.Event()
    workers.submit("neighbour", answered.set)
    held.release(names[0], 3)
    assert answered.wait(10)
    for name in names:
        held.release(name, 100)
    assert workers.stop(30)


def test_a_project_that_is_alone_again_gets_its_threads_back() -> None:
    """One project keeps the share of others small indefinitely by having been there at the same time."""
    workers = Workers(THREADS)
    held = Held(workers)
    held.submit("one", 20)
    held.reach("one", 6)
    held.submit("other", 1)
    held.reach("other", 1)
    held.release("one", 2)
    held.reach("one", 4)
    held.release("other", 1)
    held.reach("one", 6)
    held.release("one", 20)
    assert workers.stop(30)
