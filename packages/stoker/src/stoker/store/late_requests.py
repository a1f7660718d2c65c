"""Creations whose request a service may still execute.

A search has not found the object of an interrupted creation, so that another request was sent. If the service executes
the first one nevertheless, there are two objects. So the search is repeated some times later, and when the resource is
deleted. The same applies to the creations of an operation that was cancelled, if the engine that ran it has died: an
object that is found is that of the resource then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, delete, select, update

from stoker.store.bulk import delete_rows, insert_rows
from stoker.store.tables import late_requests

_OF_STACK = select(late_requests.c.resource_uuid).where(late_requests.c.stack_id == bindparam("stack_id"))

LOOKS = (60.0, 300.0, 1800.0)
"""When the search is repeated, in seconds after the one before."""


@dataclass(frozen=True, slots=True)
class LateRequest:
    """A row: `looks` is how often the search was repeated, `due_at` when it is repeated next."""

    resource_uuid: str
    stack_id: str
    looks: int
    due_at: float


def expect(connection: Connection, resource_uuid: str, stack_id: str, now: float) -> None:
    """Record that a request for a resource may be executed late; the looks begin again if that is known already."""
    expect_all(connection, [resource_uuid], stack_id, now)


def expect_all(connection: Connection, resource_uuids: Sequence[str], stack_id: str, now: float) -> None:
    """Do what `expect` does for resources of one stack."""
    if not resource_uuids:
        return
    delete_rows(connection, late_requests, "resource_uuid", resource_uuids)
    rows = [(uuid, stack_id, 0, now + LOOKS[0]) for uuid in resource_uuids]
    insert_rows(connection, late_requests, ("resource_uuid", "stack_id", "looks", "due_at"), rows)


def expected(connection: Connection, stack_id: str) -> set[str]:
    """Return the resources of a stack for which a request may be, or was, executed late."""
    return set(connection.execute(_OF_STACK, {"stack_id": stack_id}).scalars())


def due(connection: Connection, now: float, most: int = 100) -> list[LateRequest]:
    """Return the requests that must be looked for now, the oldest first."""
    query = select(late_requests).where(late_requests.c.due_at <= now).order_by(late_requests.c.due_at).limit(most)
    return [LateRequest(**row) for row in connection.execute(query).mappings()]


def record_search(connection: Connection, request: LateRequest, now: float) -> None:
    """Record that a search was repeated; after the last time, the request is forgotten."""
    where = late_requests.c.resource_uuid == request.resource_uuid
    number = request.looks + 1
    if number >= len(LOOKS):
        connection.execute(delete(late_requests).where(where))
    else:
        connection.execute(update(late_requests).where(where).values(looks=number, due_at=now + LOOKS[number]))


def postpone(connection: Connection, request: LateRequest, due_at: float) -> None:
    """Look at another time, because the resource is being changed or its service is unavailable."""
    where = late_requests.c.resource_uuid == request.resource_uuid
    connection.execute(update(late_requests).where(where).values(due_at=due_at))


def forget(connection: Connection, request: LateRequest) -> None:
    """Look no more, because the resource does not exist any more."""
    connection.execute(delete(late_requests).where(late_requests.c.resource_uuid == request.resource_uuid))
