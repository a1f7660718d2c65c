"""Queries about software deployments: which configurations are deployed to which server.

A deployment, its configuration and its server all belong to one project. Every query that delivers something takes
that project, so that rows that name a server or a configuration of another project have no effect.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, and_, delete, or_, select, update

from stoker.store import statements
from stoker.store.records import Resource, SoftwareConfig, SoftwareDeployment, Stack
from stoker.store.tables import resources, software_configs, stacks
from stoker.store.tables import software_deployments as table

_WAITING = and_(table.c.status == "IN_PROGRESS", table.c.delivered_at.is_(None))
"""Deployments whose configurations have not been delivered, as far as this service knows."""


def by_id(connection: Connection, identifier: str) -> SoftwareDeployment | None:
    """Return a deployment by ID."""
    row = connection.execute(select(table).where(table.c.id == identifier)).one_or_none()
    return SoftwareDeployment.of(row) if row else None


def count_in(connection: Connection, project_id: str, most: int) -> int:
    """Count the deployments of a project up to `most`."""
    counted = statements.count_of(select(table.c.id).where(table.c.project_id == project_id))
    return connection.execute(counted, {"most": most}).scalar_one()


def of_project(connection: Connection, project_id: str | None, server_id: str | None) -> list[SoftwareDeployment]:
    """Return a project's deployments (None: all projects), to one server or to any, oldest first."""
    query = select(table).order_by(table.c.created_at, table.c.id)
    if project_id is not None:
        query = query.where(table.c.project_id == project_id)
    if server_id is not None:
        query = query.where(table.c.server_id == server_id)
    return SoftwareDeployment.all_of(connection.execute(query))


def configs_for(connection: Connection, server_id: str, project_id: str) -> Sequence[SoftwareConfig]:
    """Return the configurations that a project deploys to a server, sorted by name."""
    query = (
        select(software_configs)
        .join(table, table.c.config_id == software_configs.c.id)
        .where(table.c.server_id == server_id)
        .where(table.c.project_id == project_id, software_configs.c.project_id == project_id)
        .order_by(software_configs.c.name, software_configs.c.created_at, software_configs.c.id)
    )
    return SoftwareConfig.all_of(connection.execute(query))


def undelivered(connection: Connection, server_id: str, project_id: str) -> list[str]:
    """Return the IDs of a project's deployments to a server that wait for it, and were not delivered yet."""
    query = select(table.c.id).where(table.c.server_id == server_id, table.c.project_id == project_id)
    return list(connection.execute(query.where(_WAITING)).scalars())


def set_delivered(connection: Connection, identifiers: Collection[str], now: float) -> None:
    """Record that the agent on a server has received the configurations of deployments."""
    query = update(table).where(table.c.id.in_(identifiers), _WAITING)
    connection.execute(query.values(delivered_at=now))


def use_of_config(connection: Connection, config: SoftwareConfig) -> str | None:
    """Return a deployment of the configuration's own project that uses it; None when there is none."""
    where = and_(table.c.config_id == config.id, table.c.project_id == config.project_id)
    return connection.execute(select(table.c.id).where(where).limit(1)).scalar_one_or_none()


def remove(connection: Connection, identifier: str) -> None:
    """Delete a deployment."""
    connection.execute(delete(table).where(table.c.id == identifier))


# -- the stacks behind servers, configurations and deployments ---------------------------------------------------


def server_resources(connection: Connection, server_id: str, project_id: str) -> list[Resource]:
    """Return the resources of the project's stacks whose physical ID is this server."""
    query = (
        select(resources)
        .join(stacks, stacks.c.id == resources.c.stack_id)
        .where(resources.c.physical_id == server_id)
        .where(stacks.c.project_id == project_id, stacks.c.deleted_at.is_(None))
    )
    return Resource.all_of(connection.execute(query))


def stacks_of_server(connection: Connection, server_id: str, user_project_id: str) -> list[Stack]:
    """Return the stacks that contain the server and whose stack users are in the project `user_project_id`."""
    query = (
        select(stacks)
        .join(resources, stacks.c.id == resources.c.stack_id)
        .where(resources.c.physical_id == server_id)
        .where(stacks.c.user_project_id == user_project_id, stacks.c.deleted_at.is_(None))
        .distinct()
    )
    return Stack.all_of(connection.execute(query))


def has_users(connection: Connection, project_id: str, user_project_id: str) -> bool:
    """Return whether a stack of the project has its stack users in the project `user_project_id`."""
    where = and_(stacks.c.user_project_id == user_project_id, stacks.c.project_id == project_id)
    return connection.execute(select(stacks.c.id).where(where).limit(1)).first() is not None


def creating_stacks(connection: Connection, identifiers: Collection[str]) -> dict[str, set[str]]:
    """Return the IDs of the stacks whose resources created these configurations and deployments, by the latter's IDs.

    A configuration that was derived for a deployment belongs to the stack of that deployment, whose ID is the UUID of
    its resource.
    """
    found: dict[str, set[str]] = {}
    for page in statements.pages(identifiers):
        created = select(resources.c.uuid, resources.c.physical_id, resources.c.stack_id)
        created = created.where(or_(resources.c.uuid.in_(page), resources.c.physical_id.in_(page)))
        for uuid, physical_id, stack_id in connection.execute(created):
            for identifier in {uuid, physical_id}.intersection(page):
                found.setdefault(identifier, set()).add(stack_id)
        derived = select(table.c.config_id, resources.c.stack_id).join(resources, resources.c.uuid == table.c.id)
        for identifier, stack_id in connection.execute(derived.where(table.c.config_id.in_(page))):
            found.setdefault(identifier, set()).add(stack_id)
    return found
