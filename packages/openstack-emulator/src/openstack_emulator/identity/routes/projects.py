"""Projects: hierarchy and tags."""

from __future__ import annotations

from openstack_emulator.core.cloud import new_hex_id
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import T
from openstack_emulator.core.validation.fields import exact_boolean, optional
from openstack_emulator.identity.records import Project
from openstack_emulator.identity.routes.domains import DOMAIN_PROJECTS, OPTIONS
from openstack_emulator.identity.routes.entity import Entity, Values, fill_domain, whole_body
from openstack_emulator.identity.routes.lists import links
from openstack_emulator.identity.routes.validation import Field, checked, description, identifier, short_name, tag, tags
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.identity.rules.kept import draft
from openstack_emulator.identity.rules.policy import allowed
from openstack_emulator.identity.views import View, parents_by_id, record_view, subtree_by_id


def prepare(identity: Identity, values: Values, request: Request) -> None:
    """The parent decides the domain; without a parent it is the domain that is asked for, or the token's."""
    parent_id = values.get("parent_id")
    if values.get("domain_id") is None and isinstance(parent_id, str):
        parent = identity.projects.rows.get(parent_id)
        values |= {"domain_id": parent_id if parent is None else parent.domain_id}
    fill_domain(identity, values, request)


def create(entity: Entity[Project], identity: Identity, values: Values) -> Project:
    """A project, below its domain unless the request says otherwise."""
    parent_id = values.get("parent_id") or values.get("domain_id")
    return identity.projects.create(draft(Project, new_hex_id(), {**values, "parent_id": parent_id}))


PROJECTS = Entity(
    Project,
    lambda identity: identity.projects,
    "project",
    "projects",
    {
        "name": Field(short_name, required=True),
        "domain_id": Field(optional(identifier)),
        "parent_id": Field(optional(identifier), default=None),
        "description": Field(description, default=""),
        "enabled": Field(exact_boolean, default=True),
        "is_domain": Field(exact_boolean, default=False),
        "options": OPTIONS,
        "tags": Field(tags, default=[]),
    },
    prepare=prepare,
    create=create,
    subject={"domain_id": "domain_id", "project_id": "id"},
    filters=("name", "domain_id", "parent_id", "enabled", "is_domain", "tags"),
    extra=True,
    in_columns=True,
    fixed=frozenset({"domain_id", "is_domain"}),
)


def _is_domain(identity: Identity, request: Request) -> bool:
    """Whether the ID in the path is that of a domain."""
    return request.vars["id"] in identity.domains.rows


def index(identity: Identity, request: Request) -> Response:
    if request.query.boolean("is_domain"):
        return DOMAIN_PROJECTS.index(identity, request)
    return PROJECTS.index(identity, request)


def add(identity: Identity, request: Request) -> Response:
    if request.object("project").get("is_domain") is True:
        return DOMAIN_PROJECTS.add(identity, request)
    return PROJECTS.add(identity, request)


def update(identity: Identity, request: Request) -> Response:
    if _is_domain(identity, request):
        return DOMAIN_PROJECTS.update(identity, request)
    return PROJECTS.update(identity, request)


def delete(identity: Identity, request: Request) -> Response:
    if _is_domain(identity, request):
        return DOMAIN_PROJECTS.delete(identity, request)
    return PROJECTS.delete(identity, request)


def show(identity: Identity, request: Request) -> Response:
    if _is_domain(identity, request):
        return _show(DOMAIN_PROJECTS, identity, request)
    return _show(PROJECTS, identity, request)


def _show(entity: Entity[T], identity: Identity, request: Request) -> Response:
    """A project, with its parents or subtree in the form the query asks for."""
    record = entity.required(identity, request, "get_project")
    query, hierarchy = request.query, identity.projects.hierarchy
    shown = entity.shown(identity, request, record)
    if "parents_as_ids" in query:
        shown |= {"parents": parents_by_id(identity, record.id)}
    if "subtree_as_ids" in query:
        shown |= {"subtree": subtree_by_id(identity, record.id)}
    if "parents_as_list" in query:
        shown |= {"parents": _visible(request, hierarchy.ancestors(record.id))}
    if "subtree_as_list" in query:
        shown |= {"subtree": _visible(request, hierarchy.descendants(record.id))}
    return Response({"project": shown})


def _visible(request: Request, projects: list[Project]) -> list[View]:
    return [
        {"project": record_view(project)}
        for project in projects
        if allowed(request.context, "get_project", PROJECTS.subject_of(project))
    ]


def list_tags(identity: Identity, request: Request) -> Response:
    project = PROJECTS.required(identity, request, "get_project_tag")
    return Response({"tags": project.tags, "links": {"self": request.url}})


def replace_tags(identity: Identity, request: Request) -> Response:
    project = PROJECTS.required(identity, request, "write_project_tag")
    body = checked({"tags": Field(tags, required=True)}, whole_body(request))
    identity.projects.set_tags(project, body.pop("tags"))
    return Response({"tags": project.tags, "links": links(request)})


def delete_tags(identity: Identity, request: Request) -> Response:
    project = PROJECTS.required(identity, request, "write_project_tag")
    identity.projects.set_tags(project, [])
    return Response(status=204)


def check_tag(identity: Identity, request: Request) -> Response:
    project = PROJECTS.required(identity, request, "get_project_tag")
    identity.projects.require_tag(project, request.vars["tag"])
    return Response(status=204)


def add_tag(identity: Identity, request: Request) -> Response:
    project = PROJECTS.required(identity, request, "write_project_tag")
    new_tag = request.vars["tag"]
    both = project.tags if new_tag in project.tags else [*project.tags, new_tag]
    checked({"tag": Field(tag), "tags": Field(tags)}, {"tag": new_tag, "tags": both})
    identity.projects.set_tags(project, both)
    return Response(status=201, headers={"Location": request.url})


def delete_tag(identity: Identity, request: Request) -> Response:
    project = PROJECTS.required(identity, request, "write_project_tag")
    identity.projects.remove_tag(project, request.vars["tag"])
    return Response(status=204)
