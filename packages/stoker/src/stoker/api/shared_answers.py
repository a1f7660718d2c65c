"""Answers that are made once for all clients who wait for the same one.

Clients that watch a large stack ask for the same list again and again. While one answer is being made, those who ask
for an equal one wait, and the next one is made for all of them. An answer is always made after it was asked for, so
that it shows what the client's earlier requests have changed.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future

from stoker.api.serving.workers import waiting


class SharedAnswers:
    """Answers in preparation, by what they depend on. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rounds: dict[Hashable, deque[Future[bytes | None]]] = {}
        """For each answer, the one that is being made, and the one that is made next, if anybody waits for it. One that
        could not be made is None: each client who waits for it makes its own."""

    def answer(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """Return the result of `make`, or of a call for an equal `key` that began after this one.

        Raises what `make` raises. `key` contains whatever the result depends on, the caller's permissions included.
        """
        with self._lock:
            rounds = self._rounds.setdefault(key, deque())
            current = rounds[0] if rounds else None
            joined = rounds[1] if len(rounds) > 1 else None
            if joined is None:
                ours: Future[bytes | None] = Future()
                rounds.append(ours)
        if joined is not None:
            return self._shared(joined, make)
        if current is not None:
            with waiting():
                current.result()
        return self._made(key, ours, make)

    def _shared(self, answer: Future[bytes | None], make: Callable[[], bytes]) -> bytes:
        with waiting():
            content = answer.result()
        return make() if content is None else content

    def _made(self, key: Hashable, answer: Future[bytes | None], make: Callable[[], bytes]) -> bytes:
        content: bytes | None = None
        try:
            content = make()
            return content
        finally:
            self._end_round(key)  # before the next round begins: who asks from then on must not join that
            answer.set_result(content)

    def _end_round(self, key: Hashable) -> None:
        with self._lock:
            rounds = self._rounds[key]
            rounds.popleft()
            if not rounds:
                del self._rounds[key]
