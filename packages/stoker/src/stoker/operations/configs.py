"""Software configurations, stored by this service for agents in servers."""

from __future__ import annotations

from collections.abc import Sequence

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue, EntityNotFound, Forbidden
from stoker.base.ids import new_id
from stoker.contract.software import CreateSoftwareConfig, DeleteSoftwareConfig, ListSoftwareConfigs, ShowSoftwareConfig
from stoker.contract.views import JSONObject
from stoker.engine.calls.deployments import StoredConfigs
from stoker.engine.records.services import EngineServices, RecordingServices
from stoker.engine.redaction.deployments import redacted
from stoker.store import deployments, software_configs
from stoker.store.records import SoftwareConfig


async def software_config_list(
    services: EngineServices, context: RequestContext, request: ListSoftwareConfigs
) -> Sequence[JSONObject]:
    """Return a page of the project's configurations, newest first."""
    if request.global_tenant and not context.is_admin:
        raise Forbidden("Only administrators can list the configurations of all projects.")
    project_id = None if request.global_tenant else context.project_id
    rows = await services.database.read(software_configs.software_configs, project_id, request.limit, request.marker)
    return [_summary(row) for row in rows]


def _summary(row: SoftwareConfig) -> dict[str, object]:
    return {
        "id": row.id,
        "name": row.name,
        "group": row.group,
        "created_at": row.created_at,
        "project_id": row.project_id,
    }


async def software_config_create(
    services: RecordingServices, context: RequestContext, request: CreateSoftwareConfig
) -> JSONObject:
    """Store a configuration. Raises RequestLimitExceeded."""
    identifier = new_id()
    await StoredConfigs(services, context.project_id, services.journal).create(identifier, vars(request))
    return await software_config_show(services, context, ShowSoftwareConfig(config_id=identifier))


async def software_config_show(
    services: EngineServices, context: RequestContext, request: ShowSoftwareConfig
) -> JSONObject:
    """Return a configuration with its body, hidden values redacted. Raises EntityNotFound."""
    row = await _found(services, context, request.config_id)
    body = services.sealer.open(row.body)
    shown = {
        **_summary(row),
        "config": body.get("config"),
        "inputs": body.get("inputs") or [],
        "outputs": body.get("outputs") or [],
        "options": body.get("options") or {},
        "stacks": body.get("stacks") or [],
    }
    return (await redacted(services, [shown]))[0]


async def software_config_delete(
    services: RecordingServices, context: RequestContext, request: DeleteSoftwareConfig
) -> None:
    """Delete a configuration. Raises EntityNotFound, BadValue for one that a deployment uses."""
    row = await _found(services, context, request.config_id)
    user = await services.database.read(deployments.use_of_config, row)
    if user is not None:
        raise BadValue(f"The software config {request.config_id} is in use by the software deployment {user}.")
    await StoredConfigs(services, row.project_id, services.journal).delete(request.config_id)


async def _found(services: EngineServices, context: RequestContext, config_id: str) -> SoftwareConfig:
    """Return a configuration of the caller's project; for an administrator, of any project."""
    row = await services.database.read(software_configs.software_config, config_id)
    if row is None or (row.project_id != context.project_id and not context.is_admin):
        raise EntityNotFound(f"The Software config ({config_id}) could not be found.")
    return row
