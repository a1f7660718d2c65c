"""`GET /role_assignments`: who has which role where, as given or in effect."""

from __future__ import annotations

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Query, Request, Response
from openstack_emulator.identity.records import Target
from openstack_emulator.identity.routes.lists import links
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.identity.rules.grants import EffectiveRole
from openstack_emulator.identity.rules.policy import allowed, enforce
from openstack_emulator.identity.views import assignment_view

INHERITED = "scope.OS-INHERIT:inherited_to"
CONTRADICTIONS = (
    ({"user.id", "group.id"}, "Specify a user or group, not both"),
    ({"scope.project.id", "scope.domain.id"}, "Specify a domain or project, not both"),
    ({"scope.project.id", "scope.system"}, "Specify system or project, not both"),
    ({"scope.domain.id", "scope.system"}, "Specify system or domain, not both"),
)
EMPTY_WHEN_EFFECTIVE = {"group.id", INHERITED}


def index(identity: Identity, request: Request) -> Response:
    query, caller = request.query, request.context
    effective, subtree = bool(query.boolean("effective")), bool(query.boolean("include_subtree"))
    _check(query, effective, subtree)
    rule = "list_role_assignments_for_tree" if subtree else "list_role_assignments"
    enforce(caller, rule, {"domain_id": caller.domain_id})
    rows = identity.grants.effective() if effective else identity.grants.direct()
    projects = _projects(identity, query, subtree)
    found = [
        row
        for row in rows
        if _matches(row, query, projects) and allowed(caller, rule, {"domain_id": _domain(identity, row.target)})
    ]
    named = bool(query.boolean("include_names"))
    shown = [assignment_view(identity, request, row, named) for row in found]
    return Response({"role_assignments": shown, "links": links(request)})


def _check(query: Query, effective: bool, subtree: bool) -> None:
    named = {key for key, value in query.pairs if value}
    for pair, message in CONTRADICTIONS:
        if pair <= named:
            raise bad_request(message)
    if effective and (empty := EMPTY_WHEN_EFFECTIVE & named):
        raise bad_request(f"Combining effective and {min(empty)} will always result in an empty list.")
    if subtree and "scope.project.id" not in named:
        raise bad_request("scope.project.id must be specified if include_subtree is also specified")


def _projects(identity: Identity, query: Query, subtree: bool) -> set[str] | None:
    """The projects asked about; None when the query names none."""
    value = query.get("scope.project.id")
    if not value:
        return None
    if not subtree or value not in identity.projects.rows:
        return {value}
    return {value, *(project.id for project in identity.projects.hierarchy.descendants(value))}


def _matches(row: EffectiveRole, query: Query, projects: set[str] | None) -> bool:
    tests = (
        ("user.id", row.actor.id if row.actor.kind == "user" else None),
        ("group.id", row.actor.id if row.actor.kind == "group" else None),
        ("role.id", row.role_id),
        ("scope.domain.id", row.target.id if row.target.kind == "domain" else None),
        ("scope.system", row.target.id if row.target.kind == "system" else None),
        (INHERITED, "projects" if row.inherited else None),
    )
    if projects is not None and (row.target.kind != "project" or row.target.id not in projects):
        return False
    return all(have == requested for key, have in tests if (requested := _requested(query, key)))


def _requested(query: Query, key: str) -> str | None:
    """The value asked for; `scope.system` is a flag that stands for all of it."""
    value = query.get(key)
    return "all" if key == "scope.system" and value else value


def _domain(identity: Identity, target: Target) -> str | None:
    project = identity.projects.rows.get(target.id)
    return project.domain_id if project is not None else target.id if target.kind == "domain" else None
