"""Requests that an emulated service sends to other programs, such as web hooks, beside its serving of requests."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Mapping

from openstack_emulator.core.outgoing import RequestSender, SendFailed

_log = logging.getLogger(__name__)

SECONDS = 10.0
"""The time limit of one request."""
MOST_WAITING = 10_000
"""The number of requests that may wait; further ones are dropped, with a line in the log."""


class Poster:
    """Sends POST requests one after the other, on a thread that is started by the first one. None is repeated."""

    def __init__(self, name: str, sender: RequestSender) -> None:
        self._name = name
        self._sender = sender
        self._waiting: queue.Queue[tuple[str, bytes, dict[str, str]]] = queue.Queue(MOST_WAITING)
        self._thread: threading.Thread | None = None

    def post(self, url: str, data: bytes, headers: Mapping[str, str]) -> None:
        """Send a request to an `http` or `https` URL soon."""
        try:
            self._waiting.put_nowait((url, data, dict(headers)))
        except queue.Full:
            _log.warning("%s cannot post to %s: too many are waiting", self._name, url.partition("?")[0])
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            url, data, headers = self._waiting.get()
            place = url.partition("?")[0]
            try:
                answer = self._sender.send(url, "POST", data, headers, SECONDS)
            except SendFailed as error:
                _log.warning("%s: a request to %s was not accepted: %s", self._name, place, error)
            except Exception:  # the thread serves all users
                _log.exception("%s: a request to %s was not sent", self._name, place)
            else:
                if answer.status >= 300:
                    _log.warning("%s: %s did not accept a request: %d", self._name, place, answer.status)
