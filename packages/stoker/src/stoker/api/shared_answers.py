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
from contextlib import suppress

from stoker.api.serving.workers import waiting


class _NotMade(Exception):
    """The attempt to make an answer has failed: each client who waits for it makes its own."""


class SharedAnswers:
    """Answers in preparation, by what they depend on. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rounds: dict[Hashable, deque[Future[bytes]]] = {}
        """For each answer, the one that is being made, and the one that is made next, if anybody waits for it."""

    def answer(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """Return the result of `make`, or of a call for an equal `key` that began after this one.

        Raises what `make` raises. `key` contains whatever the result depends on, the caller's permissions included.
        """
        with self._lock:
            rounds = self._rounds.setdefault(key, deque())
            current = rounds[0] if rounds else None
            joined = rounds[1] if len(rounds) > 1 else None
            if joined is None:
                ours: Future[bytes] = Future()
                rounds.append(ours)
        if joined is not None:
            return self._shared(joined, make)
        if current is not None:
            with waiting(), suppress(_NotMade):
                current.result()
        return self._made(key, ours, make)

    def _shared(self, answer: Future[bytes], make: Callable[[], bytes]) -> bytes:
        try:
            with waiting():
                return answer.result()
        except _NotMade:
            return make()

    def _made(self, key: Hashable, answer: Future[bytes], make: Callable[[], bytes]) -> bytes:
        try:
            content = make()
        except BaseException:
            self._end_round(key)
            answer.set_exception(_NotMade())
            raise
        self._end_round(key)
        answer.set_result(content)
        return content

    def _end_round(self, key: Hashable) -> None:
        with self._lock:
            rounds = self._rounds[key]
            rounds.popleft()
            if not rounds:
                del self._rounds[key]
