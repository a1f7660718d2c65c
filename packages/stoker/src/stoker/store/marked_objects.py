"""What is recorded of a project whose objects are looked for by the names that Stoker chooses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, select

from stoker.store import statements
from stoker.store.records import IN_PROGRESS
from stoker.store.tables import events, resources, stacks


@dataclass(frozen=True, slots=True)
class MarkedResource:
    """A resource of a live stack: its uuid, from which the name of its object is made, and the object's ID.

    `busy` tells whether an operation is in progress on its stack; `stack` is the name of that stack.
    """

    uuid: str
    name: str
    physical_id: str | None
    stack: str
    busy: bool


@dataclass(frozen=True, slots=True)
class NamingEvent:
    """An event that names an object: of which resource, of which stack, and whether that is deleted."""

    resource: str
    type: str
    stack: str
    stack_id: str
    deleted: bool


def resources_of(connection: Connection, project_id: str) -> list[MarkedResource]:
    """Return the resources of the project's live stacks."""
    r, s = resources.c, stacks.c
    query = (
        select(r.uuid, r.name, r.physical_id, s.name.label("stack"), s.status)
        .join(stacks, s.id == r.stack_id)
        .where(s.project_id == project_id, s.deleted_at.is_(None))
    )
    return [
        MarkedResource(row.uuid, row.name, row.physical_id, row.stack, row.status == IN_PROGRESS)
        for row in connection.execute(query)
    ]


def recorded_ids(connection: Connection, identifiers: Iterable[str]) -> set[str]:
    """Return those of the IDs that a resource has, in any project, or a copy in a snapshot."""
    column = resources.c.physical_id
    return {
        str(found)
        for page in statements.pages(sorted(set(identifiers)))
        for found in connection.execute(select(column).where(column.in_(page))).scalars()
    }


def naming_events(connection: Connection, project_id: str, texts: Iterable[str]) -> dict[str, NamingEvent]:
    """Return the last event of the project's stacks, also deleted ones, that names each ID or physical name."""
    e, s = events.c, stacks.c
    found: dict[str, NamingEvent] = {}
    for page in statements.pages(sorted(set(texts))):
        query = (
            select(e.physical_id, e.resource_name, e.resource_type, s.name, s.id, s.deleted_at)
            .join(stacks, s.id == e.stack_id)
            .where(s.project_id == project_id, e.physical_id.in_(page))
            .order_by(e.sequence)
        )
        for row in connection.execute(query):
            event = NamingEvent(row.resource_name, row.resource_type, row.name, row.id, row.deleted_at is not None)
            found[str(row.physical_id)] = event
    return found
