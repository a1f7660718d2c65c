"""The threads on which code of plug-ins blocks."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError

import pytest

from stoker_heat_plugins.workers import Workers


def test_blocking_code_runs_on_a_bounded_number_of_threads() -> None:
    """Further code waits for its turn; what is canceled meanwhile does not run; an exception ends no thread."""
    workers, gate, lock = Workers(limit=2), threading.Event(), threading.Lock()
    entered = threading.Semaphore(0)
    running, most, names = 0, 0, set()

    def block(number: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
            names.add(threading.current_thread().name)
        entered.release()
        gate.wait(30)
        with lock:
            running -= 1
        if number == 1:
            raise ZeroDivisionError
        return number

    futures = [workers.submit(lambda number=number: block(number)) for number in range(8)]  # type: ignore[misc]
    assert entered.acquire(timeout=30) and entered.acquire(timeout=30)
    assert futures[7].cancel()
    gate.set()
    assert [future.result(30) for future in futures[2:7]] == [2, 3, 4, 5, 6]
    with pytest.raises(ZeroDivisionError):
        futures[1].result(30)
    with pytest.raises(CancelledError):
        futures[7].result(30)
    assert most == 2 and len(names) == 2
    assert workers.submit(lambda: "again").result(30) == "again"
