"""Refactorings of stacks: queries, and the moves of records from one stack to another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from sqlalchemy import Connection, and_, delete, insert, or_, select, update

from stoker.base.errors import ActionInProgress, Conflict
from stoker.store import queries
from stoker.store import settings as stack_settings
from stoker.store.locks import refuse_locked
from stoker.store.records import FAILED, IN_PROGRESS, Stack
from stoker.store.survey_records import StackRefactor
from stoker.store.tables import (
    events,
    former_locations,
    late_requests,
    property_sets,
    resources,
    snapshots,
    stack_refactors,
    stacks,
)


class CrossStackMove(Protocol):
    """An entry that moves a resource from one root stack to another: both places, each with the name of the stack."""

    @property
    def places(self) -> Sequence[tuple[str, str]]: ...


Entry = TypeVar("Entry", bound=CrossStackMove)


@dataclass(frozen=True, slots=True)
class MovedRecord:
    """A resource that gets from one stack to another one: the `names` that it had there, its `name` here, and its
    property sets (IDs).
    """

    uuid: str
    source: str
    target: str
    names: Sequence[str]
    name: str
    property_sets: Sequence[str]


def by_id(connection: Connection, identifier: str) -> StackRefactor | None:
    """Return a refactoring by ID."""
    row = connection.execute(select(stack_refactors).where(stack_refactors.c.id == identifier)).one_or_none()
    return StackRefactor.of(row) if row else None


def of_project(connection: Connection, project_id: str) -> list[StackRefactor]:
    """Return a project's refactorings, the latest first."""
    c = stack_refactors.c
    query = select(stack_refactors).where(c.project_id == project_id).order_by(c.created_at.desc(), c.id)
    return StackRefactor.all_of(connection.execute(query))


def note_executed(connection: Connection, identifier: str, now: float) -> bool:
    """Note that a refactoring has been carried out; return whether that is new."""
    where = and_(stack_refactors.c.id == identifier, stack_refactors.c.executed_at.is_(None))
    return connection.execute(update(stack_refactors).where(where).values(executed_at=now)).rowcount == 1


def has_snapshots(connection: Connection, stack_id: str) -> bool:
    """Return whether a stack has snapshots."""
    return (
        connection.execute(select(snapshots.c.id).where(snapshots.c.stack_id == stack_id).limit(1)).first() is not None
    )


def recorded(connection: Connection, project_id: str, places: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return which of these resources, each with the name of its stack, root stacks of a project have.

    A resource of a nested stack is given by its path. Replaced ones do not count.
    """
    distinct_places = set(places)
    c, r = stacks.c, resources.c
    query = (
        select(c.name, r.name)
        .join(resources, r.stack_id == c.id)
        .where(c.project_id == project_id, c.deleted_at.is_(None), c.parent_id.is_(None), r.replaced_by.is_(None))
        .where(c.name.in_({stack for stack, _ in distinct_places}), r.name.in_({name for _, name in distinct_places}))
    )
    found = {(row[0], row[1]) for row in connection.execute(query)} if distinct_places else set()
    found |= {
        place for place in distinct_places - found if "." in place[1] and _is_below(connection, project_id, place)
    }
    return found & distinct_places


def pending(connection: Connection, project_id: str, entries: Iterable[Entry]) -> list[Entry]:
    """Return those of entries that move resources between root stacks of a project which are not carried out yet: whose
    resource is still in the former stack, and not in the other one.
    """
    waiting = list(entries)
    if not waiting:
        return []
    present = recorded(connection, project_id, [place for each in waiting for place in each.places])
    return [each for each in waiting if each.places[0] in present and each.places[1] not in present]


def _is_below(connection: Connection, project_id: str, place: tuple[str, str]) -> bool:
    """Return whether a stack nested in a root stack has the resource at a path."""
    c = stacks.c
    roots = select(c.id).where(
        c.project_id == project_id, c.name == place[0], c.deleted_at.is_(None), c.parent_id.is_(None)
    )
    return any(_has(connection, stack_id, place[1]) for stack_id in connection.execute(roots).scalars())


def _has(connection: Connection, stack_id: str, path: str) -> bool:
    parts, r, c = path.split("."), resources.c, stacks.c
    heads = {".".join(parts[:end]): ".".join(parts[end:]) for end in range(1, len(parts) + 1)}
    query = (
        select(r.name, c.id)
        .select_from(resources.outerjoin(stacks, and_(c.parent_resource == r.uuid, c.deleted_at.is_(None))))
        .where(r.stack_id == stack_id, r.replaced_by.is_(None), r.name.in_(heads))
    )
    return any(
        not heads[name] or (below is not None and _has(connection, below, heads[name]))
        for name, below in connection.execute(query).all()
    )


def refuse_unfit(connection: Connection, stack: Stack, record: Sequence[Sequence[object]]) -> None:
    """Refuse a stack that is locked or protected, or not as it was defined."""
    refuse_locked(connection, stack)
    if stack_settings.of_stack(connection, stack.id).protected:
        raise Conflict(
            f"Stack {stack.name} has termination protection, so that no resource gets into it or out of it: disable it "
            "first (stoker stack unprotect, or UpdateTerminationProtection)."
        )
    if any(row[2] == IN_PROGRESS for row in record):
        raise ActionInProgress(
            f"Stack {stack.name} has an action in progress; repeat the request when that has finished."
        )
    if stack.status == FAILED:
        raise Conflict(f"Stack {stack.name} is {stack.action}_{stack.status}: deploy it, or roll it back first.")


def move(connection: Connection, moved: MovedRecord) -> None:
    """Move what is recorded of a resource besides its row: events, property sets, late requests; and remember where it
    was.
    """
    mine = and_(events.c.stack_id == moved.source, events.c.resource_name.in_(moved.names))
    sets = [each for each in connection.execute(select(events.c.properties).where(mine).distinct()).scalars() if each]
    set_ids = sorted({*sets, *moved.property_sets})
    for start in range(0, len(set_ids), 500):
        among = property_sets.c.id.in_(set_ids[start : start + 500])
        connection.execute(update(property_sets).where(among).values(stack_id=moved.target))
    connection.execute(update(events).where(mine).values(stack_id=moved.target, resource_name=moved.name))
    late = late_requests.c.resource_uuid == moved.uuid
    connection.execute(update(late_requests).where(late).values(stack_id=moved.target))
    names = former_locations.c.resource_name.in_(moved.names)
    connection.execute(delete(former_locations).where(former_locations.c.stack_id == moved.source, names))
    rows = [{"stack_id": moved.source, "resource_name": name, "resource_uuid": moved.uuid} for name in moved.names]
    connection.execute(insert(former_locations), rows)


def take_below(connection: Connection, uuid: str, stack_id: str) -> None:
    """Make the stacks nested in a resource part of the tree of the stack that it has got into."""
    stack, child = queries.stack_by_id(connection, stack_id), queries.stack_by_parent_resource(connection, uuid)
    if stack is None or child is None:
        return
    for depth, level in enumerate(queries.levels_of(connection, child), stack.depth + 1):
        values = {"root_id": stack.root_id, "credential": stack.credential, "depth": depth}
        _settle(connection, [each.id for each in level], values)
    _settle(connection, [child.id], {"parent_id": stack.id})


def _settle(connection: Connection, ids: Sequence[str], values: Mapping[str, object]) -> None:
    for start in range(0, len(ids), 500):
        connection.execute(update(stacks).where(stacks.c.id.in_(ids[start : start + 500])).values(**values))


def present_place(
    connection: Connection, project_id: str, stack: tuple[str | None, str | None], name: str
) -> tuple[str, str] | None:
    """Return the ID of the stack and the name that a resource has now which was moved away from a stack.

    The `stack` is given by name or ID; its project, or that of its users, is `project_id`.
    """
    former = stacks.alias("former")
    mine = or_(former.c.project_id == project_id, former.c.user_project_id == project_id)
    named = [former.c.name == each for each in stack[:1] if each and not stack[1]]
    query = (
        select(resources.c.stack_id, resources.c.name)
        .join(former_locations, former_locations.c.resource_uuid == resources.c.uuid)
        .join(former, former.c.id == former_locations.c.stack_id)
        .where(mine, or_(former.c.id.in_([each for each in stack if each]), *named))
        .where(former_locations.c.resource_name == name)
        .order_by(former.c.created_at.desc())
        .limit(1)
    )
    row = connection.execute(query).first()
    return (row.stack_id, row.name) if row is not None else None
