"""Notifications on the operator's message bus, through oslo.messaging's notifiers.

`[oslo_messaging_notifications]` configures drivers, topics and broker. Without a driver there is no bus, and no
notifications are recorded.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Mapping
from typing import Any

import oslo_messaging
from oslo_config import cfg

from stoker.base.ids import new_request_id
from stoker.rpc.messaging import NOTIFICATIONS, checked_url, register_options

_SERVICE = "orchestration"


def open_bus(config: cfg.ConfigOpts) -> MessageBus | None:
    """Create the bus that the configuration describes, without connecting yet; None when it names no driver."""
    register_options(config)
    if not any(config[NOTIFICATIONS].driver):
        return None
    publisher = config.default_publisher_id or f"{_SERVICE}.{config.host}"
    with checked_url(f"[{NOTIFICATIONS}] transport_url"):
        transport = oslo_messaging.get_notification_transport(config)
    return MessageBus(oslo_messaging.Notifier(transport, publisher_id=publisher), config.default_notification_level)


class MessageBus:
    """See `stoker.engine.notifications.announcer.Bus`.

    Connecting to the broker is retried (`[oslo_messaging_notifications] retry`, indefinitely by default) on a separate
    thread, which does not delay the process's exit: notifications that were not sent are still recorded.
    """

    def __init__(self, notifier: Any, level: str) -> None:
        self._levels: Mapping[bool, Callable[..., None]] = {
            False: getattr(notifier, level.lower()),
            True: notifier.error,
        }
        self._waiting: queue.SimpleQueue[tuple[Callable[[], None], Callable[[BaseException | None], None]]] = (
            queue.SimpleQueue()
        )
        threading.Thread(target=self._run, name="notifications", daemon=True).start()

    async def send(self, event_type: str, payload: Mapping[str, object], *, error: bool) -> None:
        """See `Bus.send`."""
        loop = asyncio.get_running_loop()
        sent: asyncio.Future[None] = loop.create_future()

        def answer(problem: BaseException | None) -> None:
            with contextlib.suppress(RuntimeError):  # the engine has stopped; another one sends it again
                loop.call_soon_threadsafe(_settle, sent, problem)

        context = {"request_id": new_request_id()}
        self._waiting.put((lambda: self._levels[error](context, event_type, dict(payload)), answer))
        await sent

    def _run(self) -> None:
        while True:
            send, answer = self._waiting.get()
            try:
                send()
            except Exception as problem:
                answer(problem)
            else:
                answer(None)


def _settle(future: asyncio.Future[None], problem: BaseException | None) -> None:
    if future.done():
        return
    if problem is None:
        future.set_result(None)
    else:
        future.set_exception(problem)
