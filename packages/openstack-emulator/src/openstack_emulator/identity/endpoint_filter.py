"""`OS-EP-FILTER`: which endpoints the catalog of a project has, chosen singly or by groups."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.cloud import Routes, new_hex_id
from openstack_emulator.core.errors import not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.identity.catalog import endpoints_for, members
from openstack_emulator.identity.entity import Entity
from openstack_emulator.identity.lists import answer
from openstack_emulator.identity.places import ENDPOINTS
from openstack_emulator.identity.policy import enforce
from openstack_emulator.identity.projects import PROJECTS
from openstack_emulator.identity.records import IdentityRecords
from openstack_emulator.identity.validation import Field, description, mapping, name

PLACE = "/OS-EP-FILTER"
FILTERS = frozenset({"service_id", "region_id", "interface"})


def filters(value: Any) -> str | None:
    """What the endpoints of a group have in common."""
    if (complaint := mapping(value)) is not None:
        return complaint
    unknown = sorted(set(value) - FILTERS)
    return f"{unknown[0]!r} is not one of {sorted(FILTERS)}" if unknown else None


def remove_group(identity: IdentityRecords, group: Record) -> None:
    """A group, also from the choices of projects."""
    for row in identity.endpoint_filters.select(endpoint_group_id=group["id"]):
        identity.endpoint_filters.remove(row)
    identity.endpoint_groups.remove(group)


ENDPOINT_GROUPS = Entity(
    "endpoint_group",
    "endpoint_groups",
    "endpoint_groups",
    {
        "name": Field(name, required=True),
        "description": Field(description, default=None),
        "filters": Field(filters, required=True),
    },
    place=PLACE,
    create=lambda identity, values: identity.endpoint_groups.add({"id": new_hex_id(), **values}),
    remove=remove_group,
    subject=lambda group: {},
    filters=("name",),
)


def _choice(identity: IdentityRecords, request: Request, rule: str) -> Record:
    """The record of a choice as it is or would be; 404 when the project or what is chosen does not exist."""
    enforce(request.context, rule)
    project = identity.projects.require(request.vars["project_id"])
    chosen = "endpoint_id" if "endpoint_id" in request.vars else "endpoint_group_id"
    held = identity.endpoints if chosen == "endpoint_id" else identity.endpoint_groups
    key = held.require(request.vars[chosen])["id"]
    return {"id": f"{project['id']}:{key}", "project_id": project["id"], chosen: key}


def choose(identity: IdentityRecords, request: Request) -> Response:
    choice = _choice(identity, request, "write_endpoint_filter")
    if choice["id"] not in identity.endpoint_filters:
        identity.endpoint_filters.add(choice)
    return Response(status=204)


def _chosen(identity: IdentityRecords, request: Request, rule: str) -> Record:
    choice = identity.endpoint_filters.get(_choice(identity, request, rule)["id"])
    if choice is None:
        raise not_found("The project and the endpoint or group are not associated.")
    return choice


def check(identity: IdentityRecords, request: Request) -> Response:
    _chosen(identity, request, "get_endpoint_filter")
    return Response(status=204)


def show_group_of_project(identity: IdentityRecords, request: Request) -> Response:
    choice = _chosen(identity, request, "get_endpoint_filter")
    group = identity.endpoint_groups.require(choice["endpoint_group_id"])
    return Response({"endpoint_group": ENDPOINT_GROUPS.shown(identity, request, group)})


def unchoose(identity: IdentityRecords, request: Request) -> Response:
    identity.endpoint_filters.remove(_chosen(identity, request, "write_endpoint_filter"))
    return Response(status=204)


def list_projects(identity: IdentityRecords, request: Request) -> Response:
    """The projects for which an endpoint, or a group, was chosen."""
    enforce(request.context, "get_endpoint_filter")
    chosen = "endpoint_id" if "endpoint_id" in request.vars else "endpoint_group_id"
    held = identity.endpoints if chosen == "endpoint_id" else identity.endpoint_groups
    key = held.require(request.vars[chosen])["id"]
    rows = identity.endpoint_filters.select(**{chosen: key})
    projects = [identity.projects.require(row["project_id"]) for row in rows]
    return answer(request, "projects", [PROJECTS.shown(identity, request, project) for project in projects])


def list_endpoints_of_project(identity: IdentityRecords, request: Request) -> Response:
    """What was chosen for a project, singly and by groups."""
    enforce(request.context, "get_endpoint_filter")
    project = identity.projects.require(request.vars["project_id"])
    chosen = endpoints_for(identity, project["id"]) or set()
    rows = [ENDPOINTS.shown(identity, request, row) for row in identity.endpoints if row["id"] in chosen]
    return answer(request, "endpoints", rows)


def list_groups_of_project(identity: IdentityRecords, request: Request) -> Response:
    enforce(request.context, "get_endpoint_filter")
    project = identity.projects.require(request.vars["project_id"])
    keys = {row.get("endpoint_group_id") for row in identity.endpoint_filters.select(project_id=project["id"])}
    rows = [ENDPOINT_GROUPS.shown(identity, request, row) for row in identity.endpoint_groups if row["id"] in keys]
    return answer(request, "endpoint_groups", rows)


def list_members(identity: IdentityRecords, request: Request) -> Response:
    enforce(request.context, "get_endpoint_filter")
    group = identity.endpoint_groups.require(request.vars["endpoint_group_id"])
    return answer(request, "endpoints", [ENDPOINTS.shown(identity, request, row) for row in members(identity, group)])


ONE_ENDPOINT = PLACE + "/projects/{project_id}/endpoints/{endpoint_id}"
ONE_GROUP = PLACE + "/endpoint_groups/{endpoint_group_id}/projects/{project_id}"
ENDPOINT_FILTER_ROUTES: Routes = {
    **ENDPOINT_GROUPS.routes(),
    ONE_ENDPOINT: {"PUT": choose, "GET": check, "DELETE": unchoose},
    ONE_GROUP: {"PUT": choose, "GET": show_group_of_project, "DELETE": unchoose},
    PLACE + "/projects/{project_id}/endpoints": {"GET": list_endpoints_of_project},
    PLACE + "/projects/{project_id}/endpoint_groups": {"GET": list_groups_of_project},
    PLACE + "/endpoints/{endpoint_id}/projects": {"GET": list_projects},
    PLACE + "/endpoint_groups/{endpoint_group_id}/projects": {"GET": list_projects},
    PLACE + "/endpoint_groups/{endpoint_group_id}/endpoints": {"GET": list_members},
}
