"""Queries on and changes to rows of stacks, resources, events, operations and engines.

The first argument of each function is an open connection, so that `Database.read` or a journal step can run it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson
from sqlalchemy import (
    Connection,
    and_,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)

from stoker.store import statements, tables
from stoker.store.bulk import Cells, update_rows
from stoker.store.records import (
    FAILED,
    IN_PROGRESS,
    UNFINISHED,
    Event,
    Inputs,
    Operation,
    Resource,
    ResourceSummary,
    Stack,
)

_STREAMED = {"stream_results": True, "max_row_buffer": 16}

_PROPERTY_SETS = statements.where_among(tables.property_sets, "id").with_only_columns(
    tables.property_sets.c.id, tables.property_sets.c.body
)
_RESOURCES_OF = statements.where(tables.resources, "stack_id").order_by(tables.resources.c.position)
_RESOURCES_AMONG = statements.where_among(tables.resources, "stack_id").order_by(
    tables.resources.c.stack_id, tables.resources.c.position
)
_WITH_FAILED = (
    select(tables.resources.c.stack_id)
    .where(tables.resources.c.stack_id.in_(bindparam("values", expanding=True)))
    .where(tables.resources.c.status == bindparam("status"))
    .distinct()
)
_NAMED = (
    statements.where(tables.resources, "stack_id")
    .where(tables.resources.c.name.in_(bindparam("names", expanding=True)))
    .order_by(tables.resources.c.position)
)
_REQUIRING = (
    select(tables.resources.c.name, tables.resources.c.requires)
    .where(tables.resources.c.stack_id == bindparam("stack_id"), tables.resources.c.replaced_by.is_(None))
    .where(tables.resources.c.action != "DELETE")
    .where(tables.resources.c.requires.contains(bindparam("name"), escape="/"))
    .order_by(tables.resources.c.position)
)
_summary = partial(tuple.__new__, ResourceSummary)
"""Return a row of `_SUMMARIES_OF` as a summary; `_make` would call a function of Python for each."""
_SUMMARIES_OF = (
    select(*(tables.resources.c[name] for name in ResourceSummary._fields))
    .where(tables.resources.c.stack_id.in_(bindparam("values", expanding=True)))
    .order_by(tables.resources.c.position)
)
_TAGS_OF = statements.where_among(tables.stack_tags, "stack_id").order_by(tables.stack_tags.c.position)
_CHILDREN_OF = statements.where_among(tables.stacks, "parent_id").where(tables.stacks.c.deleted_at.is_(None))
_CHILD_BEHIND = statements.where(tables.stacks, "parent_resource").where(tables.stacks.c.deleted_at.is_(None))
_LOCKED_STACK = statements.where(tables.stacks, "id").with_for_update()
_UNFINISHED_OF = (
    statements.where(tables.operations, "stack_id")
    .where(tables.operations.c.status.in_(UNFINISHED))
    .order_by(tables.operations.c.created_at)
)
_COUNT_EVENTS = (
    select(tables.events.c.stack_id, func.count().label("events"))
    .where(tables.events.c.stack_id.in_(bindparam("values", expanding=True)))
    .group_by(tables.events.c.stack_id)
)


# -- stacks --------------------------------------------------------------------------------------------------


def stack_by_id(connection: Connection, stack_id: str) -> Stack | None:
    """Return the stack, deleted or not."""
    return stack_with(connection, id=stack_id)


def stack_with(connection: Connection, **values: str) -> Stack | None:
    """Return the stack with these values of columns, of which there is at most one."""
    row = connection.execute(statements.where(tables.stacks, *values), values).one_or_none()
    return Stack.of(row) if row else None


def stacks_by_id(connection: Connection, stack_ids: Iterable[str]) -> dict[str, Stack]:
    """Return stacks by ID, deleted or not, without those that do not exist."""
    found: dict[str, Stack] = {}
    for page in statements.pages(stack_ids):
        rows = connection.execute(statements.where_among(tables.stacks, "id"), {"values": page})
        found |= {row.id: Stack.of(row) for row in rows}
    return found


def stack_by_name(connection: Connection, project_id: str, name: str) -> Stack | None:
    """Return the project's stack with this name that is not deleted."""
    return stack_with(connection, project_id=project_id, live_name=name)


def stack_by_users(connection: Connection, user_project_id: str, name: str) -> Stack | None:
    """Return the stack with this name, not deleted, whose stack users are in the project `user_project_id`."""
    query = statements.where(tables.stacks, "user_project_id", "live_name")
    row = connection.execute(query, {"user_project_id": user_project_id, "live_name": name}).one_or_none()
    return Stack.of(row) if row else None


def rename_holders(connection: Connection, names: Mapping[str, str]) -> None:
    """Record the new names of resources with nested stacks, by UUID, with these stacks."""
    for uuid, name in names.items():
        behind = tables.stacks.c.parent_resource == uuid
        connection.execute(update(tables.stacks).where(behind).values(parent_resource_name=name))


def stack_by_parent_resource(connection: Connection, resource_uuid: str) -> Stack | None:
    """Return the nested stack of a resource, unless it is deleted."""
    row = connection.execute(_CHILD_BEHIND, {"parent_resource": resource_uuid}).one_or_none()
    return Stack.of(row) if row else None


def child_stacks(connection: Connection, stack_ids: Iterable[str]) -> list[Stack]:
    """Return the stacks directly below these, without deleted ones."""
    found: list[Stack] = []
    for page in statements.pages(stack_ids):
        found += Stack.all_of(connection.execute(_CHILDREN_OF, {"values": page}))
    return found


def levels_of(connection: Connection, top: Stack, depth: int | None = None) -> Iterator[list[Stack]]:
    """Return a stack, and the stacks nested in it down to `depth` (None: all), level by level, without deleted ones."""
    level, below = [top], 0
    while level:
        yield level
        level = child_stacks(connection, [stack.id for stack in level]) if depth is None or below < depth else []
        below += 1


def lock_stack(connection: Connection, stack_id: str) -> Stack | None:
    """Return the stack, locked until the transaction ends."""
    row = connection.execute(_LOCKED_STACK, {"id": stack_id}).one_or_none()
    return Stack.of(row) if row else None


def set_stack(connection: Connection, stack_id: str, values: Mapping[str, Any]) -> None:
    """Set columns of a stack."""
    set_stacks(connection, [({"id": stack_id}, values)])


def set_resource(connection: Connection, uuid: str, values: Mapping[str, Any]) -> None:
    """Set columns of a resource."""
    change = statements.change(tables.resources, ("uuid",), tuple(values))
    connection.execute(change, statements.assigned({"uuid": uuid}, values))


def set_stacks(connection: Connection, changes: Iterable[tuple[Mapping[str, object], Mapping[str, object]]]) -> int:
    """Set columns of stacks; each change has what identifies a stack, and the values. Return how many were found."""
    alike: dict[tuple[tuple[str, ...], tuple[str, ...]], list[Cells]] = {}
    for keys, values in changes:
        alike.setdefault((tuple(keys), tuple(values)), []).append((*keys.values(), *values.values()))
    return sum(update_rows(connection, tables.stacks, *names, rows) for names, rows in alike.items())


def note_direct_change(connection: Connection, stack: Stack) -> None:
    """Mark a nested stack as changed directly, so that the next update of the stacks above it examines it.

    The mark is on the nested stacks' own rows, which an engine that works on a stack above never writes as a whole.
    """
    nested: Stack | None = stack
    while nested is not None and nested.parent_id is not None:
        set_stack(connection, nested.id, {"changed_directly": True})
        nested = stack_by_id(connection, nested.parent_id)


def changed_directly_below(connection: Connection, stack_id: str) -> set[str]:
    """Return the UUIDs of the stack's resources whose nested stacks were changed directly, not by the stack above."""
    stacks = tables.stacks.c
    where = and_(stacks.parent_id == stack_id, stacks.changed_directly.is_(True), stacks.deleted_at.is_(None))
    return set(connection.execute(select(stacks.parent_resource).where(where)).scalars())


def with_failed_resources(connection: Connection, stack_ids: Iterable[str]) -> set[str]:
    """Return the stacks among these that have a resource whose last action has failed."""
    found: set[str] = set()
    for page in statements.pages(stack_ids):
        found.update(connection.execute(_WITH_FAILED, {"values": page, "status": FAILED}).scalars())
    return found


def add_events(connection: Connection, events: Sequence[Event]) -> None:
    """Record events."""
    connection.execute(statements.into(tables.events), [event.values() for event in events])


def set_user_project(connection: Connection, root_id: str, project_id: str) -> None:
    """Record the project of the stack users on all stacks of a tree."""
    where = tables.stacks.c.root_id == root_id
    connection.execute(update(tables.stacks).where(where).values(user_project_id=project_id))


def set_tags(connection: Connection, stack_id: str, tags: Sequence[str]) -> None:
    """Replace the stack's tags."""
    connection.execute(delete(tables.stack_tags).where(tables.stack_tags.c.stack_id == stack_id))
    if tags:
        rows = [{"stack_id": stack_id, "position": index, "tag": tag} for index, tag in enumerate(tags)]
        connection.execute(insert(tables.stack_tags), rows)


def tags_of(connection: Connection, stack_ids: Iterable[str]) -> dict[str, list[str]]:
    """Return tags by stack ID."""
    found: dict[str, list[str]] = {}
    for page in statements.pages(stack_ids):
        for row in connection.execute(_TAGS_OF, {"values": page}):
            found.setdefault(row.stack_id, []).append(row.tag)
    return found


def user_project_in_use(connection: Connection, project_id: str, except_stack: str) -> bool:
    """Return whether another existing stack has its users in the project, such as a nested one that was retained."""
    where = and_(
        tables.stacks.c.user_project_id == project_id,
        tables.stacks.c.deleted_at.is_(None),
        tables.stacks.c.id != except_stack,
    )
    return connection.execute(select(tables.stacks.c.id).where(where).limit(1)).first() is not None


# -- inputs --------------------------------------------------------------------------------------------------


def inputs_by_id(connection: Connection, inputs_id: str) -> Inputs | None:
    """Return the inputs of an operation."""
    row = connection.execute(statements.where(tables.inputs, "id"), {"id": inputs_id}).one_or_none()
    return Inputs.of(row) if row else None


def inputs_among(connection: Connection, inputs_ids: Iterable[str]) -> dict[str, Inputs]:
    """Return the inputs of several operations, by ID."""
    found: dict[str, Inputs] = {}
    for page in statements.pages(inputs_ids):
        rows = connection.execute(statements.where_among(tables.inputs, "id"), {"values": page})
        found.update((row.id, row) for row in Inputs.all_of(rows))
    return found


# -- resources -----------------------------------------------------------------------------------------------


def resources_of(connection: Connection, stack_id: str) -> list[Resource]:
    """Return all resources of a stack, including replaced ones, in creation order."""
    return list(each_resource_of(connection, stack_id))


def moved_resources(connection: Connection, stack_id: str) -> list[Resource]:
    """Return the resources of a stack that had other names before."""
    c = tables.resources.c
    query = select(tables.resources).where(c.stack_id == stack_id, c.former_names.is_not(None))
    return Resource.all_of(connection.execute(query))


def has_moved_below(connection: Connection, stack: Stack) -> bool:
    """Return whether resources of stacks nested in a stack, or in those around it, had other names or stacks before."""
    c, nested = tables.resources.c, tables.stacks.c
    query = (
        select(c.uuid)
        .join(tables.stacks, nested.id == c.stack_id)
        .where(nested.root_id == stack.root_id, nested.id != stack.id, nested.deleted_at.is_(None))
        .where(c.former_names.is_not(None))
    )
    return connection.execute(query.limit(1)).first() is not None


def sealed_state_of(connection: Connection, uuid: str) -> str | None:
    """Return the sealed state of a resource, locked until the transaction ends."""
    query = select(tables.resources.c.state).where(tables.resources.c.uuid == uuid).with_for_update()
    found: str | None = connection.execute(query).scalar()
    return found


def each_resource_of(connection: Connection, stack_id: str) -> Iterator[Resource]:
    """Like `resources_of`, one after another: together, their sealed states may be large."""
    return Resource.each_of(connection.execute(_RESOURCES_OF, {"stack_id": stack_id}, execution_options=_STREAMED))


def each_resource_among(connection: Connection, stack_ids: Iterable[str]) -> Iterator[Resource]:
    """Yield the resources of several stacks, each stack's in creation order."""
    for page in statements.pages(stack_ids):
        yield from Resource.each_of(connection.execute(_RESOURCES_AMONG, {"values": page}, execution_options=_STREAMED))


def resources_named(connection: Connection, stack_id: str, names: Iterable[str]) -> list[Resource]:
    """Return the resources of a stack with these names, also those that are being removed, in creation order."""
    sorted_names, found = sorted(names), list[Resource]()
    for page in statements.pages(sorted_names):
        found += Resource.all_of(connection.execute(_NAMED, {"stack_id": stack_id, "names": page}))
    return found


def dependents(connection: Connection, stack_id: str, name: str) -> list[str]:
    """Return the names of a stack's current resources that depend directly on the one with this name."""
    rows = connection.execute(_REQUIRING, {"stack_id": stack_id, "name": orjson.dumps(name).decode()})
    return [row.name for row in rows if name in orjson.loads(row.requires)]


def resource_summaries(connection: Connection, stack_ids: Iterable[str]) -> dict[str, list[ResourceSummary]]:
    """Return the resources of several stacks by stack ID, without columns that only a running operation needs."""
    found: dict[str, list[ResourceSummary]] = {}
    for page in statements.pages(stack_ids):
        for resource in map(_summary, connection.execute(_SUMMARIES_OF, {"values": page}).all()):
            found.setdefault(resource.stack_id, []).append(resource)
    return found


def count_resources(connection: Connection, stack_ids: Iterable[str]) -> int:
    """Return the number of resources of stacks."""
    where = tables.resources.c.stack_id.in_(list(stack_ids))
    return connection.execute(select(func.count()).select_from(tables.resources).where(where)).scalar_one()


def resource_by_uuid(connection: Connection, uuid: str) -> Resource | None:
    """Return a resource by UUID."""
    row = connection.execute(statements.where(tables.resources, "uuid"), {"uuid": uuid}).one_or_none()
    return Resource.of(row) if row else None


def recorded_ids(connection: Connection, physical_ids: Iterable[str], whole: str | None) -> set[str]:
    """Return the physical IDs that some resource has, except those of type `whole` (see `ResourceType.part_of`)."""
    recorded = tables.resources.c
    query = select(recorded.physical_id).where(recorded.physical_id.in_(list(physical_ids)))
    return set(connection.execute(query if whole is None else query.where(recorded.type != whole)).scalars())


def awaits_object(connection: Connection, type_: str, besides: str) -> bool:
    """Return whether another resource of a type waits for the ID of its object, which may exist already.

    `besides` is the uuid of the resource that the object was searched for.
    """
    c = tables.resources.c
    waiting = (c.type == type_, c.physical_id.is_(None), c.status == IN_PROGRESS, c.uuid != besides)
    return connection.execute(select(c.uuid).where(*waiting).limit(1)).first() is not None


def resources_behind(
    connection: Connection, physical_ids: Iterable[str], project_id: str
) -> dict[str, tuple[str, str]]:
    """Return the names of the stack and resource of a project that have these objects, by physical ID."""
    resources, stacks = tables.resources.c, tables.stacks.c
    query = (
        select(resources.physical_id, stacks.name, resources.name.label("resource"))
        .join_from(tables.resources, tables.stacks, stacks.id == resources.stack_id)
        .where(resources.physical_id.in_(list(physical_ids)), stacks.project_id == project_id)
    )
    return {row.physical_id: (row.name, row.resource) for row in connection.execute(query)}


def each_property_set(connection: Connection, identifiers: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the IDs of sealed property values and the values, one after another: together, they may be large."""
    for row in statements.rows_among(connection, _PROPERTY_SETS, identifiers, _STREAMED):
        yield row.id, row.body


# -- events --------------------------------------------------------------------------------------------------


# -- operations ----------------------------------------------------------------------------------------------


def first_change(connection: Connection, stack_id: str) -> float | None:
    """Return when the stack's first update or restore was requested; None without one."""
    columns = tables.operations.c
    condition = and_(columns.stack_id == stack_id, columns.action.in_(("UPDATE", "RESTORE")))
    first: float | None = connection.execute(select(func.min(columns.created_at)).where(condition)).scalar_one()
    return first


def operation_by_id(connection: Connection, operation_id: str) -> Operation | None:
    """Return an operation by ID."""
    row = connection.execute(statements.where(tables.operations, "id"), {"id": operation_id}).one_or_none()
    return Operation.of(row) if row else None


def operations_of(
    connection: Connection, stack_id: str, limit: int | None = None, after: Operation | None = None
) -> list[Operation]:
    """Return a stack's operations, newest first; with `after` those that follow it in this order."""
    columns = tables.operations.c
    keys = (columns.created_at, columns.id)
    query = select(tables.operations).where(columns.stack_id == stack_id).order_by(*(key.desc() for key in keys))
    if after is not None:
        query = query.where(statements.after_marker(keys, (after.created_at, after.id), descending=True))
    if limit is not None:
        query = query.limit(limit)
    return Operation.all_of(connection.execute(query))


def inputs_of_operations(connection: Connection, stack_ids: Iterable[str]) -> dict[str, set[str]]:
    """Return the IDs of all current and former inputs of stacks' operations, by stack."""
    columns = tables.operations.c
    query = select(columns.stack_id, columns.inputs, columns.former_inputs).where(columns.stack_id.in_(list(stack_ids)))
    found: dict[str, set[str]] = {}
    for stack_id, *inputs in connection.execute(query.distinct()):
        found.setdefault(stack_id, set()).update(each for each in inputs if each)
    return found


def child_operation(
    connection: Connection, parent_operation: str, parent_resource: str, number: int, action: str
) -> Operation | None:
    """Return the operation that a step of a parent operation started."""
    values = {"parent_operation": parent_operation, "parent_resource": parent_resource, "round": number}
    query = statements.where(tables.operations, *values, "action")
    row = connection.execute(query, {**values, "action": action}).first()
    return Operation.of(row) if row else None


def unfinished_of(connection: Connection, stack_id: str) -> list[Operation]:
    """Return a stack's unfinished operations, oldest first."""
    return Operation.all_of(connection.execute(_UNFINISHED_OF, {"stack_id": stack_id}))


# -- software configurations ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EventLimit:
    """How many events a stack keeps. The oldest are removed in multiples of `batch`, so that a stack at its limit is
    not purged for every event. A batch larger than `keep` is reduced, since it would leave no events.
    """

    stack_id: str
    keep: int
    batch: int


def purge_events(connection: Connection, limits: Sequence[EventLimit]) -> None:
    """Reduce the events of stacks to their limits (a joint statement of the journal)."""
    of_stacks = {limit.stack_id: limit for limit in limits}
    for page in statements.pages(of_stacks):
        for row in connection.execute(_COUNT_EVENTS, {"values": page}).all():
            if row.events > of_stacks[row.stack_id].keep:
                _purge_events(connection, of_stacks[row.stack_id], row.events)


def _purge_events(connection: Connection, limit: EventLimit, count: int) -> None:
    of_stack = tables.events.c.stack_id == limit.stack_id
    batch = min(limit.batch, limit.keep)
    batches = -(-(count - limit.keep) // batch)
    oldest = select(tables.events.c.sequence).where(of_stack).order_by(tables.events.c.sequence)
    last = connection.execute(oldest.limit(1).offset(batches * batch - 1)).scalar_one()
    connection.execute(delete(tables.events).where(and_(of_stack, tables.events.c.sequence <= last)))
