"""`OS-EP-FILTER`: which endpoints the catalog of a project has, chosen singly or by groups."""

from __future__ import annotations

from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation.fields import values
from openstack_emulator.core.validation.problems import Problem, Reason
from openstack_emulator.identity.records import EndpointChoice, EndpointGroup
from openstack_emulator.identity.routes.catalog import ENDPOINTS
from openstack_emulator.identity.routes.entity import Entity
from openstack_emulator.identity.routes.lists import list_response
from openstack_emulator.identity.routes.projects import PROJECTS
from openstack_emulator.identity.routes.validation import Field, description, name, text
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.identity.rules.policy import enforce

FILTERS = frozenset({"service_id", "region_id", "interface"})
_FILTERS = values(text())


def filters(value: object) -> Problem | None:
    """What the endpoints of a group have in common."""
    if isinstance(value, dict) and (unknown := sorted(value.keys() - FILTERS)):
        return Problem(Reason.CHOICE, unknown[0], sorted(FILTERS))
    return _FILTERS(value)


ENDPOINT_GROUPS = Entity(
    EndpointGroup,
    lambda identity: identity.catalog.endpoint_groups,
    "endpoint_group",
    "endpoint_groups",
    {
        "name": Field(name, required=True),
        "description": Field(description, default=None),
        "filters": Field(filters, required=True),
    },
    path="OS-EP-FILTER/endpoint_groups",
    filters=("name",),
)


def add_endpoint(identity: Identity, request: Request) -> Response:
    identity.catalog.choices.choose(_endpoint(identity, request, "write_endpoint_filter"))
    return Response(status=204)


def check_endpoint(identity: Identity, request: Request) -> Response:
    identity.catalog.choices.require(_endpoint(identity, request, "get_endpoint_filter"))
    return Response(status=204)


def remove_endpoint(identity: Identity, request: Request) -> Response:
    choice = identity.catalog.choices.require(_endpoint(identity, request, "write_endpoint_filter"))
    identity.catalog.choices.rows.remove(choice)
    return Response(status=204)


def add_group(identity: Identity, request: Request) -> Response:
    identity.catalog.choices.choose(_group(identity, request, "write_endpoint_filter"))
    return Response(status=204)


def show_group(identity: Identity, request: Request) -> Response:
    choice = identity.catalog.choices.require(_group(identity, request, "get_endpoint_filter"))
    group = identity.catalog.endpoint_groups.rows.require(choice.endpoint_group_id or "")
    return Response({"endpoint_group": ENDPOINT_GROUPS.shown(identity, request, group)})


def remove_group(identity: Identity, request: Request) -> Response:
    choice = identity.catalog.choices.require(_group(identity, request, "write_endpoint_filter"))
    identity.catalog.choices.rows.remove(choice)
    return Response(status=204)


def _endpoint(identity: Identity, request: Request, rule: str) -> EndpointChoice:
    """The choice as it is or would be; 404 when the project or the endpoint does not exist."""
    project_id = _project(identity, request, rule)
    endpoint = identity.catalog.endpoints.rows.require(request.vars["endpoint_id"])
    return EndpointChoice(id=f"{project_id}:{endpoint.id}", project_id=project_id, endpoint_id=endpoint.id)


def _group(identity: Identity, request: Request, rule: str) -> EndpointChoice:
    """The choice as it is or would be; 404 when the project or the group does not exist."""
    project_id = _project(identity, request, rule)
    group = identity.catalog.endpoint_groups.rows.require(request.vars["id"])
    return EndpointChoice(id=f"{project_id}:{group.id}", project_id=project_id, endpoint_group_id=group.id)


def _project(identity: Identity, request: Request, rule: str) -> str:
    """The ID of the project in the path, when the caller may."""
    enforce(request.context, rule)
    return identity.projects.rows.require(request.vars["project_id"]).id


def list_projects_of_endpoint(identity: Identity, request: Request) -> Response:
    """The projects for which an endpoint was chosen."""
    enforce(request.context, "get_endpoint_filter")
    endpoint = identity.catalog.endpoints.rows.require(request.vars["endpoint_id"])
    return _projects(identity, request, identity.catalog.choices.rows.select(endpoint_id=endpoint.id))


def list_projects_of_group(identity: Identity, request: Request) -> Response:
    """The projects for which a group was chosen."""
    enforce(request.context, "get_endpoint_filter")
    group = identity.catalog.endpoint_groups.rows.require(request.vars["id"])
    return _projects(identity, request, identity.catalog.choices.rows.select(endpoint_group_id=group.id))


def _projects(identity: Identity, request: Request, choices: list[EndpointChoice]) -> Response:
    projects = (identity.projects.rows.require(choice.project_id) for choice in choices)
    return list_response(request, "projects", [PROJECTS.shown(identity, request, project) for project in projects])


def list_endpoints_of_project(identity: Identity, request: Request) -> Response:
    """What was chosen for a project, singly and by groups."""
    chosen = identity.catalog.choices.endpoints_for(_project(identity, request, "get_endpoint_filter")) or set()
    found = [endpoint for endpoint in identity.catalog.endpoints.rows if endpoint.id in chosen]
    return list_response(request, "endpoints", [ENDPOINTS.shown(identity, request, endpoint) for endpoint in found])


def list_groups_of_project(identity: Identity, request: Request) -> Response:
    found = identity.catalog.choices.groups_for(_project(identity, request, "get_endpoint_filter"))
    return list_response(
        request, "endpoint_groups", [ENDPOINT_GROUPS.shown(identity, request, group) for group in found]
    )


def list_members(identity: Identity, request: Request) -> Response:
    """The endpoints of a group."""
    enforce(request.context, "get_endpoint_filter")
    found = identity.catalog.endpoint_groups.members(identity.catalog.endpoint_groups.rows.require(request.vars["id"]))
    return list_response(request, "endpoints", [ENDPOINTS.shown(identity, request, endpoint) for endpoint in found])
