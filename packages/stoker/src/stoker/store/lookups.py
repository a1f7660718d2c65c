"""Look-ups by physical ID and by the names of exports."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, and_, select

from stoker.store.tables import exports, imports, resources, stacks


def stacks_with_object(connection: Connection, project_id: str, physical_id: str) -> list[str]:
    """Return the IDs of the project's stacks that have a resource with this physical ID, without deleted ones."""
    query = (
        select(stacks.c.id)
        .distinct()
        .join(resources, resources.c.stack_id == stacks.c.id)
        .where(
            and_(
                resources.c.physical_id == physical_id,
                resources.c.replaced_by.is_(None),
                stacks.c.project_id == project_id,
                stacks.c.deleted_at.is_(None),
            )
        )
    )
    return list(connection.execute(query).scalars())


def exports_with_stacks(connection: Connection, project_id: str) -> list[tuple[str, str, str, str]]:
    """Return the exports of a project's stacks, sorted by name: name, sealed value, the stack's name and ID."""
    query = (
        select(exports.c.name, exports.c.value, stacks.c.name.label("stack"), stacks.c.id)
        .join(stacks, stacks.c.id == exports.c.stack_id)
        .where(exports.c.project_id == project_id)
        .order_by(exports.c.name)
    )
    return [(row.name, row.value, row.stack, row.id) for row in connection.execute(query)]


def importers_by_export(
    connection: Connection, project_id: str, names: Collection[str] | None = None
) -> dict[str, list[str]]:
    """Return the sorted names of the stacks that import an export, by its name; of `names` only, if they are given."""
    where = [imports.c.project_id == project_id, stacks.c.deleted_at.is_(None)]
    if names is not None:
        where.append(imports.c.name.in_(list(names)))
    query = (
        select(imports.c.name, stacks.c.name.label("stack"))
        .join(stacks, stacks.c.id == imports.c.stack_id)
        .where(and_(*where))
        .order_by(stacks.c.name)
    )
    found: dict[str, list[str]] = {}
    for row in connection.execute(query):
        found.setdefault(row.name, []).append(row.stack)
    return found


def importing_stacks(connection: Connection, project_id: str, name: str) -> list[str]:
    """Return the names of the stacks that import this name, sorted, without deleted ones."""
    query = (
        select(stacks.c.name)
        .join(imports, imports.c.stack_id == stacks.c.id)
        .where(and_(imports.c.project_id == project_id, imports.c.name == name, stacks.c.deleted_at.is_(None)))
        .order_by(stacks.c.name)
    )
    return list(connection.execute(query).scalars())
