"""Queries about software deployments: which configurations are on their way to which server."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, delete, func, or_, select

from stoker.store.records import Resource, SoftwareConfig, SoftwareDeployment
from stoker.store.tables import resources, software_configs
from stoker.store.tables import software_deployments as table


def by_id(connection: Connection, identifier: str) -> SoftwareDeployment | None:
    """One deployment."""
    row = connection.execute(select(table).where(table.c.id == identifier)).one_or_none()
    return SoftwareDeployment.of(row) if row else None


def count_in(connection: Connection, project_id: str) -> int:
    """How many deployments a project has."""
    where = table.c.project_id == project_id
    return connection.execute(select(func.count()).select_from(table).where(where)).scalar_one()


def visible(connection: Connection, project_id: str | None, server_id: str | None) -> list[SoftwareDeployment]:
    """Deployments that a project may see (all of them when None), to one server or to any; oldest first."""
    query = select(table).order_by(table.c.created_at, table.c.id)
    if project_id is not None:
        query = query.where(_seen_by(project_id))
    if server_id is not None:
        query = query.where(table.c.server_id == server_id)
    return SoftwareDeployment.all_of(connection.execute(query))


def configs_for(connection: Connection, server_id: str, project_id: str | None) -> Sequence[SoftwareConfig]:
    """What a server is to apply, in the order of the names; with a project, only what that project may see."""
    query = (
        select(software_configs)
        .join(table, table.c.config_id == software_configs.c.id)
        .where(table.c.server_id == server_id)
        .order_by(software_configs.c.name, software_configs.c.created_at, software_configs.c.id)
    )
    if project_id is not None:
        query = query.where(_seen_by(project_id))
    return SoftwareConfig.all_of(connection.execute(query))


def _seen_by(project_id: str) -> ColumnElement[bool]:
    return or_(table.c.project_id == project_id, table.c.stack_user_project_id == project_id)


def use_of_config(connection: Connection, config_id: str) -> str | None:
    """A deployment that uses the configuration; None when there is none."""
    return connection.execute(select(table.c.id).where(table.c.config_id == config_id).limit(1)).scalar_one_or_none()


def remove(connection: Connection, identifier: str) -> None:
    """Forget a deployment."""
    connection.execute(delete(table).where(table.c.id == identifier))


def server_resources(connection: Connection, server_id: str) -> list[Resource]:
    """The resources whose object is this server."""
    query = select(resources).where(resources.c.physical_id == server_id)
    return Resource.all_of(connection.execute(query))
