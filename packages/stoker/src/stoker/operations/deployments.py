"""Software deployments: requests of users, and of the agents in servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue, EntityNotFound
from stoker.base.ids import new_id
from stoker.contract.software import (
    CreateSoftwareDeployment,
    DeleteSoftwareDeployment,
    ListSoftwareDeployments,
    ShowServerMetadata,
    ShowSoftwareDeployment,
    UpdateSoftwareDeployment,
)
from stoker.contract.views import JSONObject
from stoker.engine.calls.configs import StoredConfigs
from stoker.engine.calls.deployments import StoredDeployments, configs_for, deployment_data, note_delivery, wake
from stoker.engine.core import Engine
from stoker.engine.redaction.deployments import redacted, refuse_redacted
from stoker.operations.lookup import is_stack_user, may_use
from stoker.store import deployments
from stoker.store.records import SoftwareDeployment


async def software_deployment_list(
    engine: Engine, context: RequestContext, request: ListSoftwareDeployments
) -> Sequence[JSONObject]:
    """Return the deployments of the caller's project (for an administrator: of all), to one server or to all."""
    project_id = None if context.is_admin else context.project_id
    rows = await engine.database.read(deployments.of_project, project_id, request.server_id)
    return await redacted(engine, [deployment_data(row, engine.sealer) for row in rows])


async def software_deployment_metadata(
    engine: Engine, context: RequestContext, request: ShowServerMetadata
) -> Sequence[JSONObject]:
    """Return the configurations that the caller's project deploys to a server, sorted by name.

    The server's own agent receives those of its stack's project, without redaction.
    """
    project_id = await _project_of_agent(engine, context, request.server_id)
    if project_id is not None:
        await note_delivery(engine, engine.journal, request.server_id, project_id)
        return await configs_for(engine, request.server_id, project_id)
    return await redacted(engine, await configs_for(engine, request.server_id, context.project_id))


async def software_deployment_create(
    engine: Engine, context: RequestContext, request: CreateSoftwareDeployment
) -> JSONObject:
    """Create a deployment of a configuration of the project to a server.

    The id of another project's server is accepted like any other id, but nothing is delivered to it. Raises
    EntityNotFound without the configuration, BadValue if `stack_user_project_id` belongs to no stack of the project, or
    if a value is redacted.
    """
    config = await _config(engine, request.config_id, context.project_id)
    await refuse_redacted(engine, request.input_values or {}, [config])
    if request.stack_user_project_id is not None and not await engine.database.read(
        deployments.has_users, context.project_id, request.stack_user_project_id
    ):
        raise BadValue("stack_user_project_id: no stack of this project has its stack users in that project.")
    identifier = new_id()
    await StoredDeployments(engine, context.project_id, engine.journal).create(identifier, vars(request))
    return await software_deployment_show(engine, context, ShowSoftwareDeployment(deployment_id=identifier))


async def software_deployment_show(
    engine: Engine, context: RequestContext, request: ShowSoftwareDeployment
) -> JSONObject:
    """Return a deployment in full. Raises EntityNotFound."""
    row = await engine.database.read(deployments.by_id, request.deployment_id)
    if row is not None and await _project_of_agent(engine, context, row.server_id) == row.project_id:
        return deployment_data(row, engine.sealer)
    found = await redacted(
        engine, [deployment_data(await _owned(engine, context, request.deployment_id), engine.sealer)]
    )
    return found[0]


async def software_deployment_update(
    engine: Engine, context: RequestContext, request: UpdateSoftwareDeployment
) -> JSONObject:
    """Change the given fields; a resource that waits for the deployment is polled immediately.

    Raises EntityNotFound, and BadValue if an input value is redacted.
    """
    row = await _owned(engine, context, request.deployment_id)
    known: list[Mapping[str, Any]] = [deployment_data(row, engine.sealer)]
    if request.values.get("config_id") is not None:
        known.append(await _config(engine, request.values["config_id"], row.project_id))
    await refuse_redacted(engine, request.values.get("input_values") or {}, known)
    given = {name: value for name, value in request.values.items() if name != "config_id" or value is not None}
    stored = StoredDeployments(engine, row.project_id, engine.journal, partial(wake, engine))
    await stored.update(request.deployment_id, given)
    return await software_deployment_show(engine, context, ShowSoftwareDeployment(deployment_id=request.deployment_id))


async def software_deployment_delete(
    engine: Engine, context: RequestContext, request: DeleteSoftwareDeployment
) -> None:
    """Delete a deployment. Raises EntityNotFound."""
    row = await _owned(engine, context, request.deployment_id)
    await StoredDeployments(engine, row.project_id, engine.journal).delete(request.deployment_id)


async def _config(engine: Engine, config_id: str, project_id: str) -> Mapping[str, Any]:
    """Return a configuration of the deployment's own project, for any caller. Raises EntityNotFound."""
    found = await StoredConfigs(engine, project_id, engine.journal).get(config_id)
    if found is None:
        raise EntityNotFound(f"The Software config ({config_id}) could not be found.")
    return found


async def _owned(engine: Engine, context: RequestContext, deployment_id: str) -> SoftwareDeployment:
    """Return a deployment of the caller's project; for an administrator, of any project."""
    row = await engine.database.read(deployments.by_id, deployment_id)
    if row is None or (context.project_id != row.project_id and not context.is_admin):
        raise EntityNotFound(f"The Software deployment ({deployment_id}) could not be found.")
    return row


async def _project_of_agent(engine: Engine, context: RequestContext, server_id: str) -> str | None:
    """Return the project of the stack whose user the caller is, if that user can use the server; otherwise None."""
    for stack in await engine.database.read(deployments.stacks_of_server, server_id, context.project_id):
        current = (await engine.reader.view(stack)).current
        servers = [state for state in current.values() if state.row.physical_id == server_id]
        if is_stack_user(context, stack) and any(may_use(context, stack, each, current) for each in servers):
            return stack.project_id
    return None
