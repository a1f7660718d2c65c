"""Actions of resources that nobody continues: the engine that ran them has died, and their operation was cancelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from stoker.base.ids import new_id
from stoker.store import late_requests, queries
from stoker.store.bulk import insert_records, update_rows
from stoker.store.records import FAILED, IN_PROGRESS, Announcement, Event, Resource
from stoker.store.tables import announcements, events, resources


@dataclass(frozen=True, slots=True)
class InterruptedAction:
    """A resource whose action fails; `failure` as it is recorded with a resource."""

    resource: Resource
    reason: str
    failure: str

    def event(self, now: float, cause: str | None) -> Event:
        """Return the event about the failure; `cause` as in events."""
        row = self.resource
        return Event(
            new_id(), row.stack_id, row.name, row.type, row.physical_id, row.action, FAILED, self.reason,
            row.properties, now, cause,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Interruption:
    """The actions that a cancelled operation has left in progress, with the events and notifications about them."""

    operation: str
    stack_id: str
    actions: Sequence[InterruptedAction]
    events: Sequence[Event]
    notifications: Sequence[Announcement]


def resources_in_progress(connection: Connection, stack_id: str) -> list[Resource]:
    """Return the resources of a stack whose last action has not ended."""
    query = select(resources).where(resources.c.stack_id == stack_id, resources.c.status == IN_PROGRESS)
    return Resource.all_of(connection.execute(query.order_by(resources.c.position)))


def fail(connection: Connection, interruption: Interruption, now: float) -> None:
    """Record that the actions have failed, unless a newer operation decides about the resources.

    The service may still execute the requests of creations: their objects are searched for later.
    """
    stack = queries.lock_stack(connection, interruption.stack_id)
    if stack is None or stack.operation != interruption.operation:
        return
    columns = ("status", "reason", "failure", "updated_at")
    rows = [(action.resource.uuid, FAILED, action.reason, action.failure, now) for action in interruption.actions]
    update_rows(connection, resources, ("uuid",), columns, rows)
    insert_records(connection, events, interruption.events)
    insert_records(connection, announcements, interruption.notifications)
    creations = [
        action.resource.uuid
        for action in interruption.actions
        if action.resource.action == "CREATE" and action.resource.physical_id is None
    ]
    late_requests.expect_all(connection, creations, interruption.stack_id, now)
