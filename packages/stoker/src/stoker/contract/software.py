"""Requests about software configurations and their deployments to servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stoker.contract.request import Request
from stoker.contract.views import JSONObject


@dataclass(frozen=True, kw_only=True)
class ListSoftwareConfigs(Request[Sequence[JSONObject]]):
    """List the project's configurations, newest first."""

    method = "software_config_list"
    limit: int | None = None
    marker: str | None = None
    global_tenant: bool = False


@dataclass(frozen=True, kw_only=True)
class CreateSoftwareConfig(Request[JSONObject]):
    """Create a configuration."""

    method = "software_config_create"
    name: str | None = None
    group: str | None = None
    config: Mapping[str, Any] | str | None = None
    inputs: Sequence[Mapping[str, Any]] | None = None
    outputs: Sequence[Mapping[str, Any]] | None = None
    options: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class ShowSoftwareConfig(Request[JSONObject]):
    """Show a configuration in full."""

    method = "software_config_show"
    config_id: str


@dataclass(frozen=True, kw_only=True)
class DeleteSoftwareConfig(Request[None]):
    """Delete a configuration that no deployment uses."""

    method = "software_config_delete"
    config_id: str


@dataclass(frozen=True, kw_only=True)
class ListSoftwareDeployments(Request[Sequence[JSONObject]]):
    """List the deployments of the project, to one server or to any."""

    method = "software_deployment_list"
    server_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class ShowServerMetadata(Request[Sequence[JSONObject]]):
    """List the configurations that are deployed to a server, ordered by name."""

    method = "software_deployment_metadata"
    server_id: str


@dataclass(frozen=True, kw_only=True)
class CreateSoftwareDeployment(Request[JSONObject]):
    """Deploy a configuration to a server."""

    method = "software_deployment_create"
    config_id: str
    server_id: str
    input_values: Mapping[str, Any] | None = None
    action: str | None = None
    status: str | None = None
    status_reason: str | None = None
    stack_user_project_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class ShowSoftwareDeployment(Request[JSONObject]):
    """Show a deployment in full."""

    method = "software_deployment_show"
    deployment_id: str


@dataclass(frozen=True, kw_only=True)
class UpdateSoftwareDeployment(Request[JSONObject]):
    """Change the given `values` of a deployment, by name."""

    method = "software_deployment_update"
    deployment_id: str
    values: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class DeleteSoftwareDeployment(Request[None]):
    """Delete a deployment."""

    method = "software_deployment_delete"
    deployment_id: str
