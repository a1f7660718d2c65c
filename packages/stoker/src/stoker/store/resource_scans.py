"""Scans of the objects of projects: queries, and what is forgotten. They are written through the journal."""

from __future__ import annotations

from sqlalchemy import Connection, delete, select, update

from stoker.store.survey_records import ResourceScan
from stoker.store.tables import resource_scans as table

_KEPT = 10
"""How many scans are kept for a project."""


def by_id(connection: Connection, project_id: str, identifier: str) -> ResourceScan | None:
    """Return a scan of a project by ID."""
    where = (table.c.id == identifier, table.c.project_id == project_id)
    row = connection.execute(select(table).where(*where)).one_or_none()
    return ResourceScan.of(row) if row else None


def of_project(connection: Connection, project_id: str) -> list[ResourceScan]:
    """Return the scans of a project without what they found, newest first."""
    columns = [column for column in table.columns if column is not table.c.body]
    query = select(*columns).where(table.c.project_id == project_id).order_by(table.c.created_at.desc(), table.c.id)
    return [ResourceScan(**row._mapping, body=None) for row in connection.execute(query.limit(_KEPT))]


def in_progress(connection: Connection, project_id: str) -> ResourceScan | None:
    """Return the scan of a project that has not ended."""
    row = connection.execute(select(table).where(table.c.scanning == project_id)).one_or_none()
    return ResourceScan.of(row) if row else None


def forget_older(connection: Connection, project_id: str, oldest: float) -> None:
    """Delete all scans of a project except the latest ones, and what any found before `oldest` (a journal step)."""
    query = select(table.c.id).where(table.c.project_id == project_id).order_by(table.c.created_at.desc())
    older = list(connection.execute(query.offset(_KEPT).limit(1000)).scalars())
    if older:
        connection.execute(delete(table).where(table.c.id.in_(older)))
    expired = update(table).where(table.c.created_at < oldest, table.c.body.is_not(None))
    connection.execute(expired.values(body=None))
