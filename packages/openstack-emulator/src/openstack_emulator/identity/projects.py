"""Domains and projects: hierarchy and tags."""

from __future__ import annotations

from openstack_emulator.core.cloud import Routes
from openstack_emulator.core.errors import bad_request, conflict, forbidden, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record, public
from openstack_emulator.identity.entity import Entity, fill_domain, options, whole_body
from openstack_emulator.identity.lists import links
from openstack_emulator.identity.policy import allowed
from openstack_emulator.identity.records import IdentityRecords, domain_taken
from openstack_emulator.identity.removal import end_tokens, remove_domain, remove_project
from openstack_emulator.identity.validation import (
    Field,
    boolean,
    checked,
    description,
    hex_identifier,
    identifier,
    nullable,
    short_name,
    tag,
    tags,
)

DEEPEST = 5
"""Levels of projects below a domain, Keystone's default."""
OPTIONS = Field(options(immutable=boolean), default={})


def create_domain(identity: IdentityRecords, values: Record) -> Record:
    key = values.pop("explicit_domain_id", None)
    if key is not None and key in identity.domains:
        raise conflict(f"Conflict occurred attempting to store domain - the id {key} is taken.")
    return identity.create_domain(values.pop("name"), **({"id": key} if key else {}), **values)


def change_domain(identity: IdentityRecords, domain: Record, changes: Record) -> None:
    wanted = str(changes.get("name", domain["name"]))
    if wanted != domain["name"] and identity.domains.first(name=wanted) is not None:
        raise domain_taken(wanted)
    if changes.get("enabled") is False:
        for user in identity.users.select(domain_id=domain["id"]):
            end_tokens(identity, user["id"])


DOMAINS = Entity(
    "domain",
    "domains",
    "domains",
    {
        "name": Field(short_name, required=True),
        "description": Field(description, default=""),
        "enabled": Field(boolean, default=True),
        "options": OPTIONS,
        "tags": Field(tags, default=[]),
        "explicit_domain_id": Field(hex_identifier),
    },
    create=create_domain,
    change=change_domain,
    remove=remove_domain,
    subject=lambda domain: {"domain_id": domain.get("id")},
    filters=("name", "enabled"),
    extra=True,
    fixed=frozenset({"explicit_domain_id"}),
)


def prepare_project(identity: IdentityRecords, given: Record, request: Request) -> None:
    """The parent decides the domain; without a parent it is the domain that is asked for, or the token's."""
    parent_id = given.get("parent_id")
    if given.get("domain_id") is None and isinstance(parent_id, str):
        parent = identity.projects.get(parent_id)
        given["domain_id"] = parent_id if parent is None else parent["domain_id"]
    fill_domain(identity, given, request)


def create_project(identity: IdentityRecords, values: Record) -> Record:
    domain_id = values.pop("domain_id")
    if domain_id not in identity.domains:
        raise bad_request(f"Could not find domain: {domain_id}.")
    values["parent_id"] = values["parent_id"] or domain_id
    if values["parent_id"] != domain_id:
        parent = identity.projects.get(values["parent_id"])
        if parent is None:
            raise bad_request(f"Could not find project: {values['parent_id']}.")
        if parent["domain_id"] != domain_id:
            raise bad_request("A project must be in the domain of its parent.")
        if not parent["enabled"]:
            raise forbidden(f"Cannot create a project in the disabled branch of {parent['id']}.")
        if len(ancestors(identity, parent)) + 1 >= DEEPEST:
            raise forbidden(f"Max hierarchy depth reached for {parent['id']} branch.")
    return identity.create_project(values.pop("name"), domain_id, **values)


def change_project(identity: IdentityRecords, project: Record, changes: Record) -> None:
    if changes.get("parent_id", project["parent_id"]) != project["parent_id"]:
        raise forbidden("Update of `parent_id` is not allowed.")
    identity.refuse_rename(identity.projects, "project", project, changes)
    enabled = changes.get("enabled", project["enabled"])
    if enabled and any(not above["enabled"] for above in ancestors(identity, project)):
        raise forbidden(f"Cannot enable project {project['id']} since it has disabled parents.")
    if not enabled and any(below["enabled"] for below in descendants(identity, project)):
        raise forbidden(f"Cannot disable project {project['id']} since its subtree contains enabled projects.")


def ancestors(identity: IdentityRecords, project: Record) -> list[Record]:
    """The projects above, nearest first; the domain is not among them."""
    above = (identity.projects.get(key) for key in identity.above(project["id"]))
    return [record for record in above if record is not None]


def descendants(identity: IdentityRecords, project: Record) -> list[Record]:
    """The projects below, each after its parent."""
    found = [project]
    for record in found:
        found.extend(identity.projects.select(parent_id=record["id"]))
    return found[1:]


COLUMNS = frozenset({
    "id", "name", "domain_id", "parent_id", "description", "enabled", "is_domain", "options", "tags",
})  # fmt: skip
"""The attributes of projects that Keystone stores in columns of their own."""

PROJECTS = Entity(
    "project",
    "projects",
    "projects",
    {
        "name": Field(short_name, required=True),
        "domain_id": Field(nullable(identifier)),
        "parent_id": Field(nullable(identifier), default=None),
        "description": Field(description, default=""),
        "enabled": Field(boolean, default=True),
        "is_domain": Field(boolean, default=False),
        "options": OPTIONS,
        "tags": Field(tags, default=[]),
    },
    prepare=prepare_project,
    create=create_project,
    change=change_project,
    remove=remove_project,
    subject=lambda project: {"domain_id": project.get("domain_id"), "project_id": project.get("id")},
    filters=("name", "domain_id", "parent_id", "enabled", "is_domain", "tags"),
    extra=True,
    columns=COLUMNS,
    fixed=frozenset({"domain_id", "is_domain"}),
)


def create_domain_project(identity: IdentityRecords, values: Record) -> Record:
    """A domain, by way of the project that acts as it."""
    if values.pop("domain_id") is not None or values.pop("parent_id") is not None:
        raise bad_request("A project that acts as a domain has neither a domain nor a parent.")
    del values["is_domain"]
    return create_domain(identity, values)


def view_domain_project(identity: IdentityRecords, domain: Record) -> Record:
    return {**public(domain), "domain_id": None, "parent_id": None, "is_domain": True}


DOMAIN_PROJECTS = Entity(
    "project",
    "projects",
    "domains",
    {**PROJECTS.fields, "domain_id": Field(nullable(identifier), default=None)},
    create=create_domain_project,
    change=change_domain,
    remove=remove_domain,
    subject=lambda domain: {"domain_id": domain.get("id"), "project_id": domain.get("id")},
    view=view_domain_project,
    filters=("name", "enabled", "tags"),
    extra=True,
    fixed=frozenset({"domain_id", "parent_id", "is_domain"}),
)
"""Domains as the projects that act as them: the same records seen from another side."""


def kind_of(identity: IdentityRecords, request: Request) -> Entity:
    """What the id in the path is the id of."""
    return DOMAIN_PROJECTS if request.vars["id"] in identity.domains else PROJECTS


def list_projects(identity: IdentityRecords, request: Request) -> Response:
    return (DOMAIN_PROJECTS if request.query.boolean("is_domain") else PROJECTS).handle_list(identity, request)


def make_project(identity: IdentityRecords, request: Request) -> Response:
    acts_as_domain = request.object("project").get("is_domain") is True
    return (DOMAIN_PROJECTS if acts_as_domain else PROJECTS).handle_create(identity, request)


def update_project(identity: IdentityRecords, request: Request) -> Response:
    return kind_of(identity, request).handle_update(identity, request)


def delete_project(identity: IdentityRecords, request: Request) -> Response:
    return kind_of(identity, request).handle_delete(identity, request)


def show_project(identity: IdentityRecords, request: Request) -> Response:
    """A project, with its parents or subtree in the form the query asks for."""
    kind = kind_of(identity, request)
    project = kind.required(identity, request, request.vars["id"], "get_project")
    shown = kind.shown(identity, request, project)
    if "parents_as_ids" in request.query:
        shown["parents"] = _parents_by_id(identity, project)
    if "subtree_as_ids" in request.query:
        shown["subtree"] = _subtree_by_id(identity, project["id"])
    if "parents_as_list" in request.query:
        shown["parents"] = _visible(request, ancestors(identity, project))
    if "subtree_as_list" in request.query:
        shown["subtree"] = _visible(request, descendants(identity, project))
    return Response({"project": shown})


def _visible(request: Request, projects: list[Record]) -> list[Record]:
    return [
        {"project": public(record)}
        for record in projects
        if allowed(request.context, "get_project", PROJECTS.subject(record))
    ]


def _parents_by_id(identity: IdentityRecords, project: Record) -> Record | None:
    nested: Record | None = None
    for key in reversed(identity.above(project["id"])):
        nested = {key: nested}
    return nested


def _subtree_by_id(identity: IdentityRecords, key: str) -> Record | None:
    below = identity.projects.select(parent_id=key)
    return {record["id"]: _subtree_by_id(identity, record["id"]) for record in below} or None


def list_tags(identity: IdentityRecords, request: Request) -> Response:
    project = PROJECTS.required(identity, request, request.vars["id"], "get_project_tag")
    return Response({"tags": project["tags"], "links": {"self": request.url}})


def replace_tags(identity: IdentityRecords, request: Request) -> Response:
    project = PROJECTS.required(identity, request, request.vars["id"], "write_project_tag")
    wanted = checked({"tags": Field(tags, required=True)}, whole_body(request))
    identity.projects.update(project, tags=wanted["tags"])
    return Response({"tags": project["tags"], "links": links(request)})


def delete_tags(identity: IdentityRecords, request: Request) -> Response:
    project = PROJECTS.required(identity, request, request.vars["id"], "write_project_tag")
    identity.projects.update(project, tags=[])
    return Response(status=204)


def check_tag(identity: IdentityRecords, request: Request) -> Response:
    project = PROJECTS.required(identity, request, request.vars["id"], "get_project_tag")
    _require_tag(project, request.vars["tag"])
    return Response(status=204)


def add_tag(identity: IdentityRecords, request: Request) -> Response:
    project = PROJECTS.required(identity, request, request.vars["id"], "write_project_tag")
    wanted = request.vars["tag"]
    both = project["tags"] if wanted in project["tags"] else [*project["tags"], wanted]
    checked({"tag": Field(tag), "tags": Field(tags)}, {"tag": wanted, "tags": both})
    identity.projects.update(project, tags=both)
    return Response(status=201, headers={"Location": request.url})


def delete_tag(identity: IdentityRecords, request: Request) -> Response:
    project = PROJECTS.required(identity, request, request.vars["id"], "write_project_tag")
    _require_tag(project, request.vars["tag"])
    identity.projects.update(project, tags=[have for have in project["tags"] if have != request.vars["tag"]])
    return Response(status=204)


def _require_tag(project: Record, wanted: str) -> None:
    if wanted not in project["tags"]:
        raise not_found(f"Could not find project tag: {wanted}.")


PROJECT_ROUTES: Routes = {
    **DOMAINS.routes(),
    "/projects": {"GET": list_projects, "POST": make_project},
    "/projects/{id}": {"GET": show_project, "PATCH": update_project, "DELETE": delete_project},
    "/projects/{id}/tags": {"GET": list_tags, "PUT": replace_tags, "DELETE": delete_tags},
    "/projects/{id}/tags/{tag}": {"GET": check_tag, "PUT": add_tag, "DELETE": delete_tag},
}
