"""The objects of all stacks, as they are recorded."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, select

from stoker.store.tables import resources, stacks


@dataclass(frozen=True, slots=True)
class RecordedObject:
    """A resource with its object, `physical_id`, None while there is none; `stack` is the ID of its stack."""

    uuid: str
    stack: str
    name: str
    type: str
    action: str
    status: str
    physical_id: str | None


@dataclass(frozen=True, slots=True)
class Owner:
    """A stack that has objects: the name and ID of the root of its tree, its project, and its credential."""

    root: str
    root_id: str
    project_id: str
    credential: str | None


@dataclass(frozen=True, slots=True)
class RecordedObjects:
    """All resources, also those of snapshots, and the live stacks by ID."""

    objects: tuple[RecordedObject, ...]
    owners: dict[str, Owner]


def owners(connection: Connection) -> dict[str, Owner]:
    """Return the live stacks by ID."""
    root = stacks.alias()
    query = (
        select(stacks.c.id, root.c.name, root.c.id.label("root_id"), stacks.c.project_id, stacks.c.credential)
        .join(root, root.c.id == stacks.c.root_id)
        .where(stacks.c.deleted_at.is_(None))
        .order_by(stacks.c.id)
    )
    return {row.id: Owner(row.name, row.root_id, row.project_id, row.credential) for row in connection.execute(query)}


def everything(connection: Connection) -> RecordedObjects:
    """Return what is recorded now."""
    c = resources.c
    query = select(c.uuid, c.stack_id, c.name, c.type, c.action, c.status, c.physical_id).order_by(
        c.stack_id, c.position
    )
    return RecordedObjects(tuple(RecordedObject(*row) for row in connection.execute(query)), owners(connection))
