"""Software configurations, stored by this service for agents in servers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue, EntityNotFound, Forbidden
from stoker.base.ids import new_id
from stoker.contract.software import CreateSoftwareConfig, DeleteSoftwareConfig, ListSoftwareConfigs, ShowSoftwareConfig
from stoker.contract.views import JSONObject
from stoker.engine.calls.configs import StoredConfigs
from stoker.engine.core import Engine
from stoker.engine.redaction.deployments import redacted
from stoker.store import deployments, queries
from stoker.store.records import SoftwareConfig


async def software_config_list(
    engine: Engine, context: RequestContext, request: ListSoftwareConfigs
) -> Sequence[JSONObject]:
    """Return a page of the project's configurations, newest first."""
    if request.global_tenant and not context.is_admin:
        raise Forbidden("Only administrators can list the configurations of all projects.")
    rows = await engine.database.read(queries.software_configs, None if request.global_tenant else context.project_id)
    if request.marker is not None:
        ids = [row.id for row in rows]
        rows = rows[ids.index(request.marker) + 1 :] if request.marker in ids else []
    return [_summary(row) for row in rows[: request.limit]]


def _summary(row: SoftwareConfig) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "group": row.group,
        "created_at": row.created_at,
        "project_id": row.project_id,
    }


async def software_config_create(engine: Engine, context: RequestContext, request: CreateSoftwareConfig) -> JSONObject:
    """Store a configuration. Raises RequestLimitExceeded."""
    identifier = new_id()
    await StoredConfigs(engine, context.project_id, engine.journal).create(identifier, vars(request))
    return await software_config_show(engine, context, ShowSoftwareConfig(config_id=identifier))


async def software_config_show(engine: Engine, context: RequestContext, request: ShowSoftwareConfig) -> JSONObject:
    """Return a configuration with its body, hidden values redacted. Raises EntityNotFound."""
    row = await _found(engine, context, request.config_id)
    body = engine.sealer.open(row.body)
    shown = {
        **_summary(row),
        "config": body.get("config"),
        "inputs": body.get("inputs") or [],
        "outputs": body.get("outputs") or [],
        "options": body.get("options") or {},
        "stacks": body.get("stacks") or [],
    }
    return (await redacted(engine, [shown]))[0]


async def software_config_delete(engine: Engine, context: RequestContext, request: DeleteSoftwareConfig) -> None:
    """Delete a configuration. Raises EntityNotFound, BadValue for one that a deployment uses."""
    row = await _found(engine, context, request.config_id)
    user = await engine.database.read(deployments.use_of_config, row)
    if user is not None:
        raise BadValue(f"The software config {request.config_id} is in use by the software deployment {user}.")
    await StoredConfigs(engine, row.project_id, engine.journal).delete(request.config_id)


async def _found(engine: Engine, context: RequestContext, config_id: str) -> SoftwareConfig:
    """Return a configuration of the caller's project; for an administrator, of any project."""
    row = await engine.database.read(queries.software_config, config_id)
    if row is None or (row.project_id != context.project_id and not context.is_admin):
        raise EntityNotFound(f"The Software config ({config_id}) could not be found.")
    return row
