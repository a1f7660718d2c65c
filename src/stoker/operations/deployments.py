"""Software deployments: what a user, and the agent in a server, may ask about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue, EntityNotFound, Forbidden
from stoker.base.ids import new_id
from stoker.engine.core import Engine
from stoker.engine.deployments import StoredDeployments, configs_for, deployment_data
from stoker.operations.configs import software_config_show
from stoker.store import deployments
from stoker.store.records import SoftwareDeployment

MAX_PROJECT_ID = 64


async def software_deployment_list(
    engine: Engine, context: RequestContext, server_id: str | None = None
) -> list[dict[str, Any]]:
    """The deployments that the caller's project may see, to one server or to any."""
    rows = await engine.database.read(deployments.visible, _seen_by(context), server_id)
    return [deployment_data(row, engine.sealer) for row in rows]


async def software_deployment_metadata(engine: Engine, context: RequestContext, server_id: str) -> list[dict[str, Any]]:
    """The configurations that a server is to apply, in the order of their names."""
    return await configs_for(engine, server_id, _seen_by(context))


async def software_deployment_create(
    engine: Engine,
    context: RequestContext,
    config_id: str,
    server_id: str,
    input_values: Mapping[str, Any] | None = None,
    action: str | None = None,
    status: str | None = None,
    status_reason: str | None = None,
    stack_user_project_id: str | None = None,
) -> dict[str, Any]:
    """Have a server apply a configuration of the project. Raises EntityNotFound without the configuration."""
    await software_config_show(engine, context, config_id)
    if stack_user_project_id is not None and len(stack_user_project_id) > MAX_PROJECT_ID:
        raise BadValue(f"stack_user_project_id is longer than {MAX_PROJECT_ID} characters.")
    identifier = new_id()
    body = {
        "config_id": config_id,
        "server_id": server_id,
        "input_values": input_values,
        "action": action,
        "status": status,
        "status_reason": status_reason,
        "stack_user_project_id": stack_user_project_id,
    }
    await StoredDeployments(engine, context.project_id).create(identifier, body)
    return await software_deployment_show(engine, context, identifier)


async def software_deployment_show(engine: Engine, context: RequestContext, deployment_id: str) -> dict[str, Any]:
    """A deployment in full. Raises EntityNotFound."""
    return deployment_data(await _found(engine, context, deployment_id), engine.sealer)


async def software_deployment_update(
    engine: Engine, context: RequestContext, deployment_id: str, values: Mapping[str, Any]
) -> dict[str, Any]:
    """Change what is given; a resource that waits for the deployment looks again at once. Raises EntityNotFound."""
    row = await _owned(engine, context, deployment_id)
    if values.get("config_id") is not None:
        await software_config_show(engine, context, values["config_id"])
    given = {name: value for name, value in values.items() if name != "config_id" or value is not None}
    await StoredDeployments(engine, row.project_id).update(deployment_id, given)
    return await software_deployment_show(engine, context, deployment_id)


async def software_deployment_delete(engine: Engine, context: RequestContext, deployment_id: str) -> None:
    """Forget a deployment. Raises EntityNotFound."""
    row = await _owned(engine, context, deployment_id)
    await StoredDeployments(engine, row.project_id).delete(deployment_id)


def _seen_by(context: RequestContext) -> str | None:
    return None if context.is_admin else context.project_id


async def _found(engine: Engine, context: RequestContext, deployment_id: str) -> SoftwareDeployment:
    row = await engine.database.read(deployments.by_id, deployment_id)
    projects: Sequence[str | None] = () if row is None else (row.project_id, row.stack_user_project_id)
    if row is None or (context.project_id not in projects and not context.is_admin):
        raise EntityNotFound(f"The Software deployment ({deployment_id}) could not be found.")
    return row


async def _owned(engine: Engine, context: RequestContext, deployment_id: str) -> SoftwareDeployment:
    """A deployment that the caller may change: a server's own user may only look."""
    row = await _found(engine, context, deployment_id)
    if context.project_id != row.project_id and not context.is_admin:
        raise Forbidden("Only the project of a software deployment may change it.")
    return row
