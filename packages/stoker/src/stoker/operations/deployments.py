"""Software deployments: requests of users, and of the agents in servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

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
from stoker.engine.calls.context import RecordingComponents
from stoker.engine.calls.deployments import (
    StoredConfigs,
    StoredDeployments,
    configs_for,
    deployment_data,
    note_delivery,
    wake,
)
from stoker.engine.inspection.stack_reader import Reader
from stoker.engine.records.services import EngineServices, RecordingServices
from stoker.engine.redaction.deployments import redacted, refuse_redacted
from stoker.operations.lookup import is_stack_user, may_use
from stoker.store import deployments
from stoker.store.records import SoftwareDeployment


async def software_deployment_list(
    services: EngineServices, context: RequestContext, request: ListSoftwareDeployments
) -> Sequence[JSONObject]:
    """Return the deployments of the caller's project (for an administrator: of all), to one server or to all."""
    project_id = None if context.is_admin else context.project_id
    rows = await services.database.read(deployments.of_project, project_id, request.server_id)
    return await redacted(services, [deployment_data(row, services.sealer) for row in rows])


async def software_deployment_metadata(
    components: RecordingComponents, context: RequestContext, request: ShowServerMetadata
) -> Sequence[JSONObject]:
    """Return the configurations that the caller's project deploys to a server, sorted by name.

    The server's own agent receives those of its stack's project, without redaction.
    """
    services = components.services
    project_id = await _project_of_agent(services, context, request.server_id)
    if project_id is not None:
        await note_delivery(components, request.server_id, project_id)
        return await configs_for(services, request.server_id, project_id)
    return await redacted(services, await configs_for(services, request.server_id, context.project_id))


async def software_deployment_create(
    services: RecordingServices, context: RequestContext, request: CreateSoftwareDeployment
) -> JSONObject:
    """Create a deployment of a configuration of the project to a server.

    The id of another project's server is accepted like any other id, but nothing is delivered to it. Raises
    EntityNotFound without the configuration, BadValue if `stack_user_project_id` belongs to no stack of the project, or
    if a value is redacted.
    """
    config = await _config(services, request.config_id, context.project_id)
    await refuse_redacted(services, request.input_values or {}, [config])
    if request.stack_user_project_id is not None and not await services.database.read(
        deployments.has_users, context.project_id, request.stack_user_project_id
    ):
        raise BadValue("stack_user_project_id: no stack of this project has its stack users in that project.")
    identifier = new_id()
    await StoredDeployments(services, context.project_id, services.journal).create(identifier, vars(request))
    return await software_deployment_show(services, context, ShowSoftwareDeployment(deployment_id=identifier))


async def software_deployment_show(
    services: EngineServices, context: RequestContext, request: ShowSoftwareDeployment
) -> JSONObject:
    """Return a deployment in full. Raises EntityNotFound."""
    row = await services.database.read(deployments.by_id, request.deployment_id)
    if row is not None and await _project_of_agent(services, context, row.server_id) == row.project_id:
        return deployment_data(row, services.sealer)
    found = await redacted(
        services, [deployment_data(await _owned(services, context, request.deployment_id), services.sealer)]
    )
    return found[0]


async def software_deployment_update(
    components: RecordingComponents, context: RequestContext, request: UpdateSoftwareDeployment
) -> JSONObject:
    """Change the given fields; a resource that waits for the deployment is polled immediately.

    Raises EntityNotFound, and BadValue if an input value is redacted.
    """
    services = components.services
    row = await _owned(services, context, request.deployment_id)
    known: list[Mapping[str, object]] = [deployment_data(row, services.sealer)]
    if request.values.get("config_id") is not None:
        known.append(await _config(services, request.values["config_id"], row.project_id))
    await refuse_redacted(services, request.values.get("input_values") or {}, known)
    changes = {name: value for name, value in request.values.items() if name != "config_id" or value is not None}
    stored = StoredDeployments(services, row.project_id, services.journal, partial(wake, components.runs))
    await stored.update(request.deployment_id, changes)
    return await software_deployment_show(
        services, context, ShowSoftwareDeployment(deployment_id=request.deployment_id)
    )


async def software_deployment_delete(
    services: RecordingServices, context: RequestContext, request: DeleteSoftwareDeployment
) -> None:
    """Delete a deployment. Raises EntityNotFound."""
    row = await _owned(services, context, request.deployment_id)
    await StoredDeployments(services, row.project_id, services.journal).delete(request.deployment_id)


async def _config(services: RecordingServices, config_id: str, project_id: str) -> Mapping[str, object]:
    """Return a configuration of the deployment's own project, for any caller. Raises EntityNotFound."""
    found = await StoredConfigs(services, project_id, services.journal).get(config_id)
    if found is None:
        raise EntityNotFound(f"The Software config ({config_id}) could not be found.")
    return found


async def _owned(services: EngineServices, context: RequestContext, deployment_id: str) -> SoftwareDeployment:
    """Return a deployment of the caller's project; for an administrator, of any project."""
    row = await services.database.read(deployments.by_id, deployment_id)
    if row is None or (context.project_id != row.project_id and not context.is_admin):
        raise EntityNotFound(f"The Software deployment ({deployment_id}) could not be found.")
    return row


async def _project_of_agent(services: EngineServices, context: RequestContext, server_id: str) -> str | None:
    """Return the project of the stack whose user the caller is, if that user can use the server; otherwise None."""
    for stack in await services.database.read(deployments.stacks_of_server, server_id, context.project_id):
        current = (await Reader(services).view(stack)).current
        servers = [state for state in current.values() if state.row.physical_id == server_id]
        if is_stack_user(context, stack) and any(may_use(context, stack, each, current) for each in servers):
            return stack.project_id
    return None
