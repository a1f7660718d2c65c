"""Notifications about stacks: on the operator's message bus, and to the event sinks of environments.

Notifications are recorded in the transaction of the change that they are about, sent in the background after it has
been committed, and removed when they have been sent. So none is lost and nothing waits for them; if an engine dies,
another one sends the rest, and may repeat one that was sent already.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import orjson
from sqlalchemy import Connection

from stoker.base.errors import StokerError
from stoker.base.ids import new_id
from stoker.engine.notifications.bus import drift_notification, notification_of, payload_of, scaling_notification
from stoker.engine.notifications.sinks import send_events
from stoker.engine.records.services import RecordingServices
from stoker.plugins.resource import ScalingNotice
from stoker.store import announcements, claims, queries
from stoker.store.database import outside_request
from stoker.store.journal import Batch, Writer
from stoker.store.records import EVENT_SINK, LATER_NOTICE, NOTICE, NOTIFICATION, Announcement, Event, Record, Stack
from stoker_foundation.clock import Timer

LOG = logging.getLogger(__name__)

AT_ONCE = 200
"""Number of notifications of one kind that are sent before the next ones are read."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds until a failed notification is retried: the first and the longest delay."""
GRACE_SECONDS = 2.0
"""Seconds for which a stopping engine continues to send; the next engine sends the rest."""

Sinks = Sequence[Mapping[str, Any]]


class Bus(Protocol):
    """The operator's message bus."""

    async def send(self, event_type: str, payload: Mapping[str, object], *, error: bool) -> None:
        """Return when the notification has been accepted; `error` states that it is about a failure."""


class Announcer:
    """Sends notifications as the module's docstring describes. Used on one event loop; `bus` is optional."""

    def __init__(self, services: RecordingServices, bus: Bus | None) -> None:
        self.services = services
        self._bus = bus
        self._last_notice: dict[str, float] = {}
        self._lanes = {
            NOTIFICATION: _Sender(services, NOTIFICATION, self._notify),
            EVENT_SINK: _Sender(services, EVENT_SINK, partial(send_events, services)),
            NOTICE: _Sender(services, NOTICE, partial(_notices, services)),
            LATER_NOTICE: _Sender(services, LATER_NOTICE, partial(_due_notices, services)),
        }

    # -- recording -----------------------------------------------------------------------------------------------

    def stack_event(self, stack: Stack, action: str, status: str, reason: str, cause: str | None = None) -> Event:
        """Return an event of the stack itself; `cause` as in events."""
        return Event.of_stack(stack, action, status, reason, self.services.clock.now(), cause)

    async def sinks_of(self, stack: Stack) -> Sinks:
        """Return the event sinks in the stack's environment; none if it cannot be read any more."""
        try:
            return (await self.services.loader.load(stack.inputs)).environment.event_sinks
        except StokerError as error:
            LOG.warning("cannot read the environment of stack %s: %s", stack.name, error.message)
            return ()

    async def commit(self, writer: Writer, batch: Batch, sinks: Sinks) -> None:
        """Commit a batch with the notifications about its events. Raises the errors of `Journal.commit`."""
        rows = self.about([row for row in batch.added if isinstance(row, Event)], sinks)
        await writer.commit(batch.add(*rows))
        self.send(batch.added)

    def about(self, events: Iterable[Event], sinks: Sinks) -> list[Announcement]:
        """Return the notifications about events; `sinks` are those of their stack's environment."""
        rows: list[Announcement] = []
        for event in events:
            if self._bus is not None and (notification := notification_of(event)) is not None:
                rows.append(self._row(event.stack_id, NOTIFICATION, notification))
            if sinks:
                rows.append(self._row(event.stack_id, EVENT_SINK, {"sinks": list(sinks), "event": event.values()}))
        return rows

    def about_scaling(self, stack: Stack, notices: Iterable[ScalingNotice]) -> list[Announcement]:
        """Return the notifications about scaling groups in a stack."""
        if self._bus is None:
            return []
        return [self._row(stack.id, NOTIFICATION, scaling_notification(stack, notice)) for notice in notices]

    def about_drift(self, stack: Stack, status: str, drifted: Sequence[str]) -> list[Announcement]:
        """Return the notification that a stack has drifted, or does not differ any more."""
        if self._bus is None:
            return []
        return [self._row(stack.id, NOTIFICATION, drift_notification(stack, status, drifted))]

    def last_notification(self, stack: Stack) -> Announcement:
        """Return the last notification of a deleted stack, after which its credential is given up."""
        return self._row(stack.id, EVENT_SINK, {"release": True})

    def _row(self, stack_id: str, kind: str, body: Mapping[str, object]) -> Announcement:
        services = self.services
        return Announcement(new_id(), stack_id, services.id, kind, orjson.dumps(body).decode(), services.clock.now())

    def may_notify(self, root_id: str, silent_seconds: float) -> bool:
        """Return whether this engine has sent no notice of a tree for some time, and record that it sends one now."""
        now = self.services.clock.now()
        self._last_notice = {key: time for key, time in self._last_notice.items() if now < time + silent_seconds}
        if root_id in self._last_notice:
            return False
        self._last_notice[root_id] = now
        return True

    # -- sending ---------------------------------------------------------------------------------------------------

    def send(self, recorded: Iterable[Record]) -> None:
        """Start to send the notifications among rows that have been recorded."""
        for kind in {row.kind for row in recorded if isinstance(row, Announcement)}:
            self._lanes[kind].wake()

    async def send_orphaned(self) -> None:
        """Send the notifications of dead engines."""
        services = self.services
        others = await services.database.read(announcements.engines_with_pending) - {services.id}
        gone = others - await services.database.read(claims.living, services.clock.now()) if others else others
        if gone:
            step = partial(announcements.reassign, engine_id=services.id, others=gone)
            await services.journal.commit(Batch().then(step))
            for lane in self._lanes.values():
                lane.wake()

    async def stop(self) -> None:
        """Send what can be sent immediately, then stop."""
        await asyncio.gather(*(lane.stop() for lane in self._lanes.values()))

    async def _notify(self, rows: Sequence[Announcement]) -> set[str]:
        """Send notifications one after the other, so that they arrive in order.

        Notifications that an engine with a bus has left to one without are dropped.
        """
        bus, database = self._bus, self.services.database
        found = await database.read(_stacks_with_tags, {row.stack_id for row in rows}) if bus is not None else {}
        for row in rows:
            if bus is not None and row.stack_id in found:
                body = orjson.loads(row.body)
                payload = payload_of(*found[row.stack_id], body)
                await bus.send(body["event_type"], payload, error=body["error"])
        return {row.id for row in rows}


async def _notices(services: RecordingServices, rows: Sequence[Announcement]) -> set[str]:
    from stoker.engine.notifications.notices import send_notices  # only where somebody is notified

    return await send_notices(services, rows)


async def _due_notices(services: RecordingServices, rows: Sequence[Announcement]) -> set[str]:
    from stoker.engine.notifications.notices import send_due_notices

    return await send_due_notices(services, rows)


def _stacks_with_tags(connection: Connection, identifiers: Collection[str]) -> dict[str, tuple[Stack, list[str]]]:
    stacks = queries.stacks_by_id(connection, identifiers)
    tags = queries.tags_of(connection, identifiers)
    return {identifier: (stack, tags.get(identifier, [])) for identifier, stack in stacks.items()}


class _Sender:
    """Sends one kind of notification, in the order of the changes, in the background.

    `send` returns the ids of notifications that need not be sent again; the rest is retried after a delay.
    """

    def __init__(
        self, services: RecordingServices, kind: str, send: Callable[[Sequence[Announcement]], Awaitable[set[str]]]
    ) -> None:
        self._services = services
        self._kind = kind
        self._send = send
        self._task: asyncio.Task[None] | None = None
        self._timer: Timer | None = None
        self._pause = FIRST_PAUSE
        self._more = False
        self._stopped = False

    def wake(self) -> None:
        """Start to send new notifications, unless sending is in progress or delayed."""
        self._more = True
        if self._task is None and self._timer is None and not self._stopped:
            with outside_request():
                self._task = asyncio.ensure_future(self._run())

    async def stop(self) -> None:
        """Continue for a moment, then leave the rest."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            done, _ = await asyncio.wait([self._task], timeout=GRACE_SECONDS)
            if not done:
                self._task.cancel()

    async def _run(self) -> None:
        complete = True
        try:
            while self._more and complete:
                self._more = False
                complete = await self._round()
        except Exception:
            LOG.exception("cannot send %s, will retry", self._kind)
            complete = False
        finally:
            self._task = None
        if not complete and not self._stopped:
            self._timer = self._services.clock.call_later(self._pause, self._retry)
            self._pause = min(self._pause * 2, LONGEST_PAUSE)

    async def _round(self) -> bool:
        """Send the waiting notifications; return False if not all of them could be sent."""
        services = self._services
        rows = await services.database.read(announcements.waiting, services.id, self._kind, AT_ONCE)
        if not rows:
            return True
        sent = await self._send(rows)
        if sent:
            await services.journal.commit(Batch().then(partial(announcements.remove, identifiers=sent)))
            self._pause = FIRST_PAUSE
        self._more = True
        return len(sent) == len(rows)

    def _retry(self) -> None:
        self._timer = None
        self.wake()
