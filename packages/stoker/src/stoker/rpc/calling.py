"""Calls through the message broker that end in time, whatever the broker does.

oslo.messaging tries to open a connection until it succeeds; `timeout` and `retry` of a call apply only after that. A
caller that waits for it would never be answered while the broker is away.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

import oslo_messaging
from oslo_config import cfg

Result = TypeVar("Result")

_PORT = 5672
_SENDING_SECONDS = 5.0
"""Time to connect and to send, beside the time for the answer."""

_MOST_CALLS = 256
"""Calls of a process at a time, including those whose callers have stopped waiting."""

_AMQP = ("rabbit", "kombu")


class BrokerUnavailable(Exception):
    """The message broker accepts no connections, or too many calls wait for it."""


class BoundedCalls:
    """Runs calls on threads of their own, so that a caller can stop waiting. Threads may share it.

    Before a call, and as long as none has succeeded since the last failure, it checks that one of the brokers of
    `transport_url` accepts connections: a call that would only be sent when the broker is back, long after its caller
    got an error, is not begun.
    """

    def __init__(self, config: cfg.ConfigOpts) -> None:
        self._addresses = broker_addresses(config)
        self._free = threading.Semaphore(_MOST_CALLS)
        self._reached = False

    def run(self, call: Callable[[], Result], seconds: float) -> Result:
        """The result of `call`, which waits for an answer for at most `seconds` once it is sent.

        Raises what `call` raises, BrokerUnavailable, or TimeoutError when it takes much longer than `seconds`.
        """
        if not self._free.acquire(blocking=False):
            raise BrokerUnavailable(f"{_MOST_CALLS} calls wait for it")
        future: Future[Result] = Future()

        def work() -> None:
            try:
                future.set_result(self._checked(call, seconds))
            except BaseException as error:
                self._reached = False
                future.set_exception(error)
            finally:
                self._free.release()

        threading.Thread(target=work, name="rpc-call", daemon=True).start()
        try:
            return future.result(seconds + _SENDING_SECONDS)
        except TimeoutError:
            self._reached = False
            raise

    def _checked(self, call: Callable[[], Result], seconds: float) -> Result:
        if not self._reached:
            self._require_a_broker(min(seconds, _SENDING_SECONDS))
        result = call()
        self._reached = True
        return result

    def _require_a_broker(self, seconds: float) -> None:
        problem: OSError | None = None
        for address in self._addresses:
            try:
                with socket.create_connection(address, seconds / len(self._addresses)):
                    return
            except OSError as error:
                problem = error
        if problem is not None:
            raise BrokerUnavailable(str(problem))


def broker_addresses(config: cfg.ConfigOpts) -> list[tuple[str, int]]:
    """Host and port of each broker that `transport_url` names; none for a transport that has no hosts."""
    url: Any = oslo_messaging.TransportURL.parse(config)
    named = [(host.hostname or "localhost", host.port or _PORT) for host in url.hosts]
    return named or ([("localhost", _PORT)] if url.transport in _AMQP else [])
