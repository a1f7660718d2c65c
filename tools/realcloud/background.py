"""Work that is repeated in the background of a step."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def repeated(seconds: float, action: Callable[[], None]) -> Iterator[None]:
    """Call `action` again and again, with pauses of so many seconds before each call, until the body ends."""
    stop = threading.Event()

    def run() -> None:
        while not stop.wait(seconds):
            action()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
