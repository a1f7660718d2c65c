"""Outputs that a project's stacks export, and the stacks that import them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, and_, insert, select

from stoker.store import statements
from stoker.store.bulk import delete_rows
from stoker.store.tables import exports, imports, stacks


def exports_of_project(connection: Connection, project_id: str) -> dict[str, str]:
    """Return the sealed values of a project's exports by name."""
    where = exports.c.project_id == project_id
    return {row.name: row.value for row in connection.execute(select(exports.c.name, exports.c.value).where(where))}


def exporters(connection: Connection, project_id: str, names: Iterable[str]) -> dict[str, str]:
    """Return the IDs of the stacks that export these names."""
    where = and_(exports.c.project_id == project_id, exports.c.name.in_(list(names)))
    return {
        row.name: row.stack_id for row in connection.execute(select(exports.c.name, exports.c.stack_id).where(where))
    }


def exported_by(connection: Connection, stack_id: str) -> dict[str, str]:
    """Return the sealed values of a stack's exports by name."""
    rows = connection.execute(statements.where(exports, "stack_id"), {"stack_id": stack_id})
    return {row.name: row.value for row in rows}


def importers(connection: Connection, project_id: str, names: Iterable[str]) -> dict[str, list[str]]:
    """Return the names of the stacks that import it, in order, for each of the names that is in use."""
    query = (
        select(imports.c.name, stacks.c.name.label("stack"))
        .join(stacks, stacks.c.id == imports.c.stack_id)
        .where(and_(imports.c.project_id == project_id, imports.c.name.in_(list(names)), stacks.c.deleted_at.is_(None)))
    )
    found: dict[str, list[str]] = {}
    for row in connection.execute(query.order_by(stacks.c.name)):
        found.setdefault(row.name, []).append(row.stack)
    return found


def forget(connection: Connection, stack_ids: Sequence[str]) -> None:
    """Delete the exports and imports of removed stacks (a joint statement of the journal)."""
    for table in (exports, imports):
        delete_rows(connection, table, "stack_id", stack_ids)


def record(
    connection: Connection, project_id: str, stack_id: str, exported: Mapping[str, str], imported: Iterable[str]
) -> None:
    """Set a stack's exports (sealed values) and imports. Raises IntegrityError when another stack exports a name."""
    for table in (exports, imports):
        connection.execute(statements.without(table, "stack_id"), {"stack_id": stack_id})
    rows = [
        {"project_id": project_id, "name": name, "stack_id": stack_id, "value": value}
        for name, value in exported.items()
    ]
    if rows:
        connection.execute(insert(exports), rows)
    used = [{"project_id": project_id, "name": name, "stack_id": stack_id} for name in imported]
    if used:
        connection.execute(insert(imports), used)
