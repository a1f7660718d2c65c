"""Which operations and change sets have plans that policies were asked about."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, and_, literal, or_, select, union_all

from stoker.store.tables import change_sets, operations, stacks


@dataclass(frozen=True, slots=True)
class EvaluatedPlan:
    """An operation on a stack, or a change set; `body` is its sealed plan, or all that the change set stores."""

    id: str
    created_at: float
    project_id: str
    stack_id: str
    stack_name: str
    action: str
    status: str
    change_set: str | None
    body: str


@dataclass(frozen=True, slots=True)
class NestedPlan:
    """The sealed plan of an operation on a nested stack, and the status of the operation."""

    status: str
    body: str


_OPERATIONS = (
    select(
        operations.c.id,
        operations.c.created_at,
        stacks.c.project_id,
        stacks.c.id.label("stack_id"),
        stacks.c.name.label("stack_name"),
        operations.c.action,
        operations.c.status,
        literal(None).label("change_set"),
        operations.c.plan.label("body"),
    )
    .join(stacks, stacks.c.id == operations.c.stack_id)
    .where(operations.c.policies_asked > 0, operations.c.plan.is_not(None))
)
_CHANGE_SETS = select(
    change_sets.c.id,
    change_sets.c.created_at,
    change_sets.c.project_id,
    change_sets.c.stack_id,
    change_sets.c.stack_name,
    change_sets.c.kind.label("action"),
    change_sets.c.status,
    change_sets.c.name.label("change_set"),
    change_sets.c.body,
)


def of_project(
    connection: Connection, project_id: str, stack_id: str | None, after: tuple[float, str] | None, limit: int
) -> list[EvaluatedPlan]:
    """Return plans of a project, or of one of its stacks, newest first; those after a time and an ID."""
    begun = _OPERATIONS.where(stacks.c.project_id == project_id)
    if stack_id is not None:
        found = begun.where(operations.c.stack_id == stack_id).subquery()
    else:
        found = union_all(begun, _CHANGE_SETS.where(change_sets.c.project_id == project_id)).subquery()
    query = select(found).order_by(found.c.created_at.desc(), found.c.id.desc()).limit(limit)
    if after is not None:
        time, identifier = after
        same = and_(found.c.created_at == time, found.c.id < identifier)
        query = query.where(or_(found.c.created_at < time, same))
    return [EvaluatedPlan(*row) for row in connection.execute(query)]


def of_operations(connection: Connection, ids: Collection[str]) -> dict[str, EvaluatedPlan]:
    """Return the plans of those operations that policies were asked about, by ID."""
    rows = connection.execute(_OPERATIONS.where(operations.c.id.in_(ids)))
    return {row.id: EvaluatedPlan(*row) for row in rows}


def with_ids_between(connection: Connection, project_id: str, first: str, last: str) -> list[EvaluatedPlan]:
    """Return the plans of operations and change sets of a project whose IDs are in a range."""
    of_operations = _OPERATIONS.where(stacks.c.project_id == project_id, operations.c.id.between(first, last))
    of_sets = _CHANGE_SETS.where(change_sets.c.project_id == project_id, change_sets.c.id.between(first, last))
    return [EvaluatedPlan(*row) for query in (of_operations, of_sets) for row in connection.execute(query)]


def nested_plans(connection: Connection, operation_id: str, paths: Collection[str]) -> dict[str, NestedPlan]:
    """Return the plans of the operations on the nested stacks of an operation that are on the way to these paths.

    The keys are what the paths in the nested stack begin with in the outermost one, such as `group.0.`. Of several
    operations on a nested stack, the latest counts.
    """
    found: dict[str, str] = {}
    level = {operation_id: ""}
    own, name = operations.c, stacks.c.parent_resource_name
    children = select(own.id, own.parent_operation, name).join(stacks, stacks.c.id == own.stack_id)
    while level:
        within = and_(own.parent_operation.in_(level), name.is_not(None))
        rows = connection.execute(children.where(within).order_by(own.created_at, own.id))
        places = {row.id: f"{level[row.parent_operation]}{row.parent_resource_name}." for row in rows}
        level = {key: place for key, place in places.items() if any(path.startswith(place) for path in paths)}
        found |= {place: key for key, place in level.items()}
    query = select(own.id, own.status, own.plan).where(own.id.in_(found.values()), own.plan.is_not(None))
    rows = connection.execute(query)
    plans = {row.id: NestedPlan(row.status, row.plan) for row in rows}
    return {place: plans[key] for place, key in found.items() if key in plans}
