"""Generated templates: queries. They are written through the journal."""

from __future__ import annotations

from sqlalchemy import Connection, and_, delete, func, or_, select, update

from stoker.store.survey_records import GeneratedTemplate
from stoker.store.tables import generated_templates as table


def find(connection: Connection, project_id: str, name_or_id: str) -> GeneratedTemplate | None:
    """Return a generated template of a project by its ID, or by its name."""
    named = or_(table.c.id == name_or_id, table.c.name == name_or_id)
    found = connection.execute(select(table).where(table.c.project_id == project_id, named)).all()
    rows = sorted(map(GeneratedTemplate.of, found), key=lambda each: each.id != name_or_id)
    return rows[0] if rows else None


def of_project(connection: Connection, project_id: str) -> list[GeneratedTemplate]:
    """Return the generated templates of a project without their bodies, by name."""
    columns = [column for column in table.columns if column is not table.c.body]
    query = select(*columns).where(table.c.project_id == project_id).order_by(table.c.name)
    return [GeneratedTemplate(**row._mapping, body="") for row in connection.execute(query)]


def count(connection: Connection, project_id: str) -> int:
    """Return how many generated templates a project has."""
    query = select(func.count()).select_from(table).where(table.c.project_id == project_id)
    return int(connection.execute(query).scalar_one())


def replace_read(connection: Connection, row: GeneratedTemplate, read: str) -> bool:
    """Write a generated template whose body was `read` before; return whether it still was that (a journal step)."""
    where = and_(table.c.id == row.id, table.c.body == read)
    return connection.execute(update(table).where(where).values(**row.values())).rowcount == 1


def remove_read(connection: Connection, row: GeneratedTemplate) -> bool:
    """Delete a generated template unless it was changed since it was read; return whether it is (a journal step)."""
    where = and_(table.c.id == row.id, table.c.body == row.body)
    return connection.execute(delete(table).where(where)).rowcount == 1
