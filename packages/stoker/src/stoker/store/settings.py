"""Settings of stacks: termination protection, policies, notification topics; what changes of them need, and policies on
plans.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, TypeAlias

import orjson
from sqlalchemy import (
    Connection,
    Row,
    Select,
    Table,
    and_,
    bindparam,
    delete,
    insert,
    literal_column,
    or_,
    select,
    union_all,
)

from stoker.store import statements
from stoker.store.approval_tables import change_controls, plan_policies
from stoker.store.records import StackSettings
from stoker.store.tables import stack_settings

Rules: TypeAlias = tuple[dict[str, Any], dict[str, str]]
"""What `controls_of` and `plan_policies_of` return."""

_CONTROLS = select(change_controls).where(
    change_controls.c.project_id == bindparam("project_id"),
    change_controls.c.stack_id.in_(bindparam("stack_ids", expanding=True)),
)


def _of_project_and_stack(table: Table) -> Select[tuple[str, str]]:
    """Select what a table has of a project, and of the stack `stack_id` of it."""
    of_one = or_(table.c.stack_id == "", table.c.stack_id == bindparam("stack_id"))
    return select(table.c.stack_id, table.c.body).where(table.c.project_id == bindparam("project_id"), of_one)


_PLAN_POLICIES = _of_project_and_stack(plan_policies)
RULES = union_all(
    _of_project_and_stack(change_controls).add_columns(literal_column("1").label("is_control")),
    _of_project_and_stack(plan_policies).add_columns(literal_column("0").label("is_control")),
)
"""What changes of a stack need, and the policies on its plans, those of its project among them (`separated`)."""


def of_stack(connection: Connection, root_id: str) -> StackSettings:
    """Return the settings of a tree of stacks, or the defaults."""
    row = connection.execute(statements.where(stack_settings, "stack_id"), {"stack_id": root_id}).one_or_none()
    return StackSettings.of(row) if row else StackSettings(root_id)


def save(connection: Connection, settings: StackSettings) -> None:
    """Write all settings (a journal step)."""
    forget(connection, settings.stack_id)
    connection.execute(insert(stack_settings).values(**settings.values()))


def forget(connection: Connection, root_id: str) -> None:
    """Delete the settings of a tree of stacks."""
    connection.execute(delete(stack_settings).where(stack_settings.c.stack_id == root_id))


def controls_of(connection: Connection, project_id: str, root_ids: Collection[str]) -> dict[str, Any]:
    """Return what changes need, as data, by the ID of the stack; that of the project has the ID ""."""
    values = {"project_id": project_id, "stack_ids": sorted({"", *root_ids})}
    return {row.stack_id: orjson.loads(row.body) for row in connection.execute(_CONTROLS, values)}


def save_control(
    connection: Connection, project_id: str, stack_id: str, body: object, user_id: str | None, now: float
) -> None:
    """Record what changes need; None for nothing (a journal step)."""
    text = orjson.dumps(body).decode() if body is not None else None
    _replace(connection, change_controls, project_id, stack_id, text, user_id, now)


def plan_policies_of(connection: Connection, project_id: str, root_id: str | None) -> dict[str, str]:
    """Return the policies on plans, as YAML, by the ID of the stack; those of the project have the ID ""."""
    values = {"project_id": project_id, "stack_id": root_id or ""}
    return {row.stack_id: row.body for row in connection.execute(_PLAN_POLICIES, values)}


def rules_of(connection: Connection, project_id: str, root_id: str) -> Rules:
    """Return what `controls_of` and `plan_policies_of` return for one tree of stacks, in one statement."""
    return separated(connection.execute(RULES, {"project_id": project_id, "stack_id": root_id}).all())


def separated(rows: Sequence[Row[tuple[object, ...]]]) -> Rules:
    """Return what rows of `RULES` contain, as `rules_of` returns it."""
    controls = {row.stack_id: orjson.loads(row.body) for row in rows if row.is_control}
    return controls, {row.stack_id: row.body for row in rows if not row.is_control}


def save_plan_policies(
    connection: Connection, project_id: str, stack_id: str, body: str | None, user_id: str | None, now: float
) -> None:
    """Record policies on plans as YAML; None for nothing (a journal step)."""
    _replace(connection, plan_policies, project_id, stack_id, body, user_id, now)


def _replace(
    connection: Connection,
    table: Table,
    project_id: str,
    stack_id: str,
    body: str | None,
    user_id: str | None,
    now: float,
) -> None:
    """Write the body that a user has set for a stack or, without its ID, a project; None deletes it."""
    c = table.c
    connection.execute(delete(table).where(and_(c.project_id == project_id, c.stack_id == stack_id)))
    if body is not None:
        values = {"project_id": project_id, "stack_id": stack_id, "user_id": user_id, "updated_at": now}
        connection.execute(insert(table).values(body=body, **values))
