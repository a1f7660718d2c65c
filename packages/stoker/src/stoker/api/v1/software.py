"""Software configs and their deployments to servers."""

from __future__ import annotations

from typing import Any

from stoker.api.requests import Body, Query
from stoker.api.v1 import views
from stoker.api.v1.call import RestCall
from stoker.api.values import BOOLEAN, INTEGER, MAP, MAP_OR_STRING, STRING, Field, ListOf, String
from stoker.contract.software import (
    CreateSoftwareConfig,
    CreateSoftwareDeployment,
    DeleteSoftwareConfig,
    DeleteSoftwareDeployment,
    ListSoftwareConfigs,
    ListSoftwareDeployments,
    ShowServerMetadata,
    ShowSoftwareConfig,
    ShowSoftwareDeployment,
    UpdateSoftwareDeployment,
)

CONFIGS_QUERY = Query(
    {
        "limit": Field(INTEGER),
        "marker": Field(STRING),
        "global_tenant": Field(BOOLEAN, default=False),
    }
)

CONFIG_BODY = Body(
    {
        "name": Field(STRING),
        "group": Field(STRING),
        "config": Field(MAP_OR_STRING),
        "inputs": Field(ListOf(MAP), default=[]),
        "outputs": Field(ListOf(MAP), default=[]),
        "options": Field(MAP, default={}),
    }
)

DEPLOYMENTS_QUERY = Query({"server_id": Field(STRING)})

CREATE_DEPLOYMENT_BODY = Body(
    {
        "config_id": Field(STRING, required=True),
        "server_id": Field(STRING, required=True),
        "input_values": Field(MAP),
        "action": Field(STRING),
        "status": Field(STRING),
        "status_reason": Field(STRING),
        "stack_user_project_id": Field(String(longest=64)),
    }
)

UPDATE_DEPLOYMENT_BODY = Body(
    {
        "config_id": Field(STRING),
        "input_values": Field(MAP),
        "output_values": Field(MAP),
        "action": Field(STRING),
        "status": Field(STRING),
        "status_reason": Field(STRING),
    }
)


def list_configs(call: RestCall) -> dict[str, object]:
    """List the project's configs; for an administrator, with the project of each."""
    if call.query["global_tenant"]:
        call.require("software_configs:global_index")
    with_project = call.context.is_admin
    answer = call.execute(ListSoftwareConfigs(**call.query))
    return {"software_configs": [views.software_config_summary(view, with_project=with_project) for view in answer]}


def create_config(call: RestCall) -> dict[str, Any]:
    """Create a config."""
    return {"software_config": views.software_config(call.execute(CreateSoftwareConfig(**call.body)))}


def show_config(call: RestCall) -> dict[str, object]:
    """Show a config in full."""
    view = call.execute(ShowSoftwareConfig(config_id=call.path["config_id"]))
    return {"software_config": views.software_config(view)}


def delete_config(call: RestCall) -> None:
    """Delete a config."""
    call.execute(DeleteSoftwareConfig(config_id=call.path["config_id"]))


def list_deployments(call: RestCall) -> dict[str, object]:
    """List the project's deployments, or those of one server."""
    answer = call.execute(ListSoftwareDeployments(**call.query))
    return {"software_deployments": [views.software_deployment(view) for view in answer]}


def create_deployment(call: RestCall) -> dict[str, object]:
    """Deploy a config to a server."""
    return {"software_deployment": views.software_deployment(call.execute(CreateSoftwareDeployment(**call.body)))}


def show_deployment(call: RestCall) -> dict[str, object]:
    """Show a deployment in full."""
    view = call.execute(ShowSoftwareDeployment(deployment_id=call.path["deployment_id"]))
    return {"software_deployment": views.software_deployment(view)}


def update_deployment(call: RestCall) -> dict[str, object]:
    """Change the fields in the body."""
    values = {name: value for name, value in call.body.items() if name in (call.sent or {})}
    view = call.execute(UpdateSoftwareDeployment(deployment_id=call.path["deployment_id"], values=values))
    return {"software_deployment": views.software_deployment(view)}


def delete_deployment(call: RestCall) -> None:
    """Delete a deployment."""
    call.execute(DeleteSoftwareDeployment(deployment_id=call.path["deployment_id"]))


def deployment_metadata(call: RestCall) -> dict[str, object]:
    """Show the configs that a server must apply, sorted by name."""
    answer = call.execute(ShowServerMetadata(server_id=call.path["server_id"]))
    return {"metadata": [views.software_config(view) for view in answer]}
