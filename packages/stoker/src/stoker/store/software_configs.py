"""Software configs of projects."""

from __future__ import annotations

from sqlalchemy import (
    Connection,
    bindparam,
    delete,
    false,
    select,
    true,
)

from stoker.store import statements, tables
from stoker.store.records import (
    SoftwareConfig,
)

_COUNT_CONFIGS = statements.count_of(
    select(tables.software_configs.c.id).where(tables.software_configs.c.project_id == bindparam("project_id"))
)


def software_config(connection: Connection, identifier: str) -> SoftwareConfig | None:
    """Return a configuration by ID."""
    where = tables.software_configs.c.id == identifier
    row = connection.execute(select(tables.software_configs).where(where)).one_or_none()
    return SoftwareConfig.of(row) if row else None


def count_software_configs(connection: Connection, project_id: str, most: int) -> int:
    """Count the configurations of a project up to `most`."""
    return connection.execute(_COUNT_CONFIGS, {"project_id": project_id, "most": most}).scalar_one()


def software_configs(
    connection: Connection, project_id: str | None, limit: int | None, marker: str | None
) -> list[SoftwareConfig]:
    """Return a page of a project's configurations (None: all projects), newest first; none after an unknown marker."""
    columns = tables.software_configs.c
    keys = (columns.created_at, columns.id)
    mine = true() if project_id is None else columns.project_id == project_id
    query = select(tables.software_configs).where(mine).order_by(*(key.desc() for key in keys)).limit(limit)
    if marker is not None:
        last = connection.execute(select(*keys).where(mine, columns.id == marker)).one_or_none()
        query = query.where(false() if last is None else statements.after_marker(keys, tuple(last), descending=True))
    return SoftwareConfig.all_of(connection.execute(query))


def delete_software_config(connection: Connection, identifier: str) -> None:
    """Delete a configuration."""
    connection.execute(delete(tables.software_configs).where(tables.software_configs.c.id == identifier))
