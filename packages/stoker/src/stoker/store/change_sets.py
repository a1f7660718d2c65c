"""Change sets: queries and deletion. They are written through the journal."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache

from sqlalchemy import Connection, Row, Select, and_, bindparam, delete, exists, or_, select, update

from stoker.store import statements
from stoker.store.records import Stack
from stoker.store.survey_records import ChangeSet
from stoker.store.tables import change_sets, operations, stacks

IMPORT = "IMPORT"
"""The kind of change sets that import objects, and do nothing else."""
_CHANGES = ("CREATE", "UPDATE")

_OF_STACKS_TO_BE = (
    statements.where(change_sets, "project_id")
    .where(~exists().where(stacks.c.id == change_sets.c.stack_id))
    .order_by(change_sets.c.created_at, change_sets.c.id)
)
_OF_STACK_TO_BE = _OF_STACKS_TO_BE.where(
    or_(change_sets.c.stack_name == bindparam("name_or_id"), change_sets.c.stack_id == bindparam("name_or_id"))
)

ROOM = select(
    exists()
    .where(stacks.c.project_id == bindparam("project_id"), stacks.c.live_name == bindparam("name"))
    .label("is_taken"),
    exists()
    .where(change_sets.c.project_id == bindparam("project_id"), change_sets.c.stack_name == bindparam("name"))
    .where(change_sets.c.stack_id != bindparam("id"), ~exists().where(stacks.c.id == change_sets.c.stack_id))
    .label("is_promised"),
    statements.count_of(
        select(stacks.c.id)
        .where(stacks.c.project_id == bindparam("project_id"))
        .where(stacks.c.deleted_at.is_(None), stacks.c.parent_id.is_(None))
    )
    .scalar_subquery()
    .label("stacks"),
)
"""The columns of a `Room`, for the parameters of `room_parameters`."""


@dataclass(frozen=True, slots=True)
class Room:
    """Whether the name of a new stack is that of another one, or of one that a change set would create; and how many
    root stacks its project has, up to a limit.
    """

    is_taken: bool
    is_promised: bool
    stacks: int

    @classmethod
    def of(cls, row: Row[tuple[object, ...]]) -> Room:
        """Return the room that a row of `ROOM` describes."""
        return cls(bool(row.is_taken), bool(row.is_promised), row.stacks)


def room_parameters(stack: Stack, limit: int) -> dict[str, object]:
    """Return the parameters with which `ROOM` is that for a new stack; nothing is counted for a negative limit."""
    return {"project_id": stack.project_id, "name": stack.name, "id": stack.id, "most": max(limit, 0)}


def room_for(connection: Connection, stack: Stack, limit: int) -> Room:
    """Return what prevents a new stack; nothing is counted for a negative limit."""
    return Room.of(connection.execute(ROOM, room_parameters(stack, limit)).one())


def by_id(connection: Connection, identifier: str) -> ChangeSet | None:
    """Return a change set by ID."""
    row = connection.execute(select(change_sets).where(change_sets.c.id == identifier)).one_or_none()
    return ChangeSet.of(row) if row else None


def by_name(connection: Connection, stack_id: str, name: str) -> ChangeSet | None:
    """Return the stack's change set with this name."""
    where = and_(change_sets.c.stack_id == stack_id, change_sets.c.name == name)
    row = connection.execute(select(change_sets).where(where)).one_or_none()
    return ChangeSet.of(row) if row else None


def of_stack(connection: Connection, stack_id: str) -> list[ChangeSet]:
    """Return a stack's change sets, oldest first."""
    query = select(change_sets).where(change_sets.c.stack_id == stack_id)
    ordered = query.order_by(change_sets.c.created_at, change_sets.c.id)
    return ChangeSet.all_of(connection.execute(ordered))


def of_stacks_to_be(connection: Connection, project_id: str, name_or_id: str | None = None) -> list[ChangeSet]:
    """Return the change sets of stacks that do not exist yet, oldest first: all of a project, or those of one stack."""
    if name_or_id is None:
        return ChangeSet.all_of(connection.execute(_OF_STACKS_TO_BE, {"project_id": project_id}))
    values = {"project_id": project_id, "name_or_id": name_or_id}
    return ChangeSet.all_of(connection.execute(_OF_STACK_TO_BE, values))


def progress(connection: Connection, rows: Collection[ChangeSet]) -> tuple[Mapping[str, str], Mapping[str, str | None]]:
    """Return the status of each operation that carries one of the change sets out, and the newest operation of each of
    their stacks, by the IDs of operations and stacks.
    """
    begun = {row.operation for row in rows if row.operation is not None}
    statuses = select(operations.c.id, operations.c.status).where(operations.c.id.in_(begun))
    newest = select(stacks.c.id, stacks.c.operation).where(stacks.c.id.in_({row.stack_id for row in rows}))
    return (
        {row.id: row.status for row in connection.execute(statuses)},
        {row.id: row.operation for row in connection.execute(newest)},
    )


@cache
def _importing() -> Select[str]:
    begun, later = operations.alias("begun"), operations.alias("later")
    changed_since = exists().where(
        later.c.stack_id == begun.c.stack_id, later.c.action.in_(_CHANGES), later.c.created_at > begun.c.created_at
    )
    among = change_sets.c.stack_id.in_(bindparam("stack_ids", expanding=True))
    return (
        select(change_sets.c.stack_id)
        .join(begun, begun.c.id == change_sets.c.operation)
        .where(among, change_sets.c.kind == IMPORT, ~changed_since)
    )


def importing(connection: Connection, stack_ids: Collection[str]) -> list[str]:
    """Return those of the stacks whose last creation or update carried out a change set of the kind IMPORT."""
    return list(connection.execute(_importing(), {"stack_ids": list(stack_ids)}).scalars())


def note_operation(connection: Connection, identifier: str, stack_id: str) -> None:
    """Note the operation on a stack that has just begun as the execution of a change set."""
    begun = select(stacks.c.operation).where(stacks.c.id == stack_id).scalar_subquery()
    connection.execute(update(change_sets).where(change_sets.c.id == identifier).values(operation=begun))


def forget_of_stack(connection: Connection, stack_id: str) -> None:
    """Delete all change sets of a stack."""
    connection.execute(delete(change_sets).where(change_sets.c.stack_id == stack_id))
