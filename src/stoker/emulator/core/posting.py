"""Requests that an emulated service sends to other programs, such as web hooks, beside its serving of requests."""

from __future__ import annotations

import logging
import queue
import threading
import urllib.request
from collections.abc import Mapping

_log = logging.getLogger(__name__)

SECONDS = 10.0
"""The time limit of one request."""
MOST_WAITING = 10_000
"""The number of requests that may wait; further ones are dropped, with a line in the log."""


class Poster:
    """Sends POST requests one after the other, on a thread that is started by the first one. None is repeated."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._waiting: queue.Queue[urllib.request.Request] = queue.Queue(MOST_WAITING)
        self._thread: threading.Thread | None = None

    def post(self, url: str, data: bytes, headers: Mapping[str, str]) -> None:
        """Send a request to an `http` or `https` URL soon."""
        try:
            self._waiting.put_nowait(urllib.request.Request(url, data, dict(headers), method="POST"))  # noqa: S310  http(s) only
        except (queue.Full, ValueError) as error:
            _log.warning("%s cannot post to %s: %s", self._name, url.partition("?")[0], error or "too many are waiting")
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            request = self._waiting.get()
            place = request.full_url.partition("?")[0]
            try:
                with urllib.request.urlopen(request, timeout=SECONDS):  # noqa: S310
                    pass
            except (OSError, ValueError) as error:
                _log.warning("%s: %s did not accept a request: %s", self._name, place, error)
