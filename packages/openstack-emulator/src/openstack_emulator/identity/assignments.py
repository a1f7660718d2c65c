"""`GET /role_assignments`: who has which role where, as given or in effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from openstack_emulator.core.cloud import Routes
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Query, Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.identity.lists import links
from openstack_emulator.identity.policy import allowed, enforce
from openstack_emulator.identity.projects import descendants
from openstack_emulator.identity.records import Assignment, IdentityRecords, Target

INHERITED = "scope.OS-INHERIT:inherited_to"
CONTRADICTIONS = (
    ({"user.id", "group.id"}, "Specify a user or group, not both"),
    ({"scope.project.id", "scope.domain.id"}, "Specify a domain or project, not both"),
    ({"scope.project.id", "scope.system"}, "Specify system or project, not both"),
    ({"scope.domain.id", "scope.system"}, "Specify system or domain, not both"),
)
EMPTY_WHEN_EFFECTIVE = {"group.id", INHERITED}


@dataclass(frozen=True)
class Held:
    """One line of the answer: what it says, the assignment it rests on, and the group or role it comes through."""

    actor: str
    actor_id: str
    target: Target
    role_id: str
    inherited: bool
    given: Assignment
    group_id: str | None = None
    prior_id: str | None = None

    def same(self) -> tuple[str, Target, str]:
        return self.actor_id, self.target, self.role_id


def list_assignments(identity: IdentityRecords, request: Request) -> Response:
    query = request.query
    effective, subtree = bool(query.boolean("effective")), bool(query.boolean("include_subtree"))
    _check(query, effective, subtree)
    caller = request.context
    rule = "list_role_assignments_for_tree" if subtree else "list_role_assignments"
    enforce(caller, rule, {"domain_id": caller.domain_id})
    rows: Iterable[Held] = (_direct(row) for row in identity.assignments)
    if effective:
        rows = {row.same(): row for row in _effective(identity, rows)}.values()
    projects = _projects(identity, query, subtree)
    found = [
        row
        for row in rows
        if _matches(row, query, projects) and allowed(caller, rule, {"domain_id": _domain(identity, row.target)})
    ]
    named = bool(query.boolean("include_names"))
    shown = [_shown(identity, request, row, named) for row in found]
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


def _direct(row: Assignment) -> Held:
    return Held(row.actor, row.actor_id, row.place, row.role_id, row.inherited, row)


def _effective(identity: IdentityRecords, rows: Iterable[Held]) -> Iterator[Held]:
    """Groups as their members, inherited roles on the projects they reach, with every role that is implied."""
    for given in rows:
        for actor in _members(identity, given):
            for place in _reached(identity, actor):
                yield from _implied(identity, place)


def _members(identity: IdentityRecords, row: Held) -> Iterator[Held]:
    if row.actor == "user":
        yield row
        return
    for member in identity.memberships.select(group_id=row.actor_id):
        yield replace(row, actor="user", actor_id=member.user_id, group_id=row.actor_id)


def _reached(identity: IdentityRecords, row: Held) -> Iterator[Held]:
    if not row.inherited:
        yield row
        return
    if row.target.kind == "domain":
        below = identity.projects.select(domain_id=row.target.id)
    else:
        below = descendants(identity, identity.projects.require(row.target.id))
    for project in below:
        yield replace(row, target=Target("project", project["id"]), inherited=False)


def _implied(identity: IdentityRecords, row: Held) -> Iterator[Held]:
    """The role and all it implies; a role of a domain is not in effect itself."""
    for role_id in identity.with_implied({row.role_id}):
        if identity.roles.require(role_id)["domain_id"] is None:
            yield replace(row, role_id=role_id, prior_id=None if role_id == row.role_id else row.role_id)


def _projects(identity: IdentityRecords, query: Query, subtree: bool) -> set[str] | None:
    """The projects asked about; None when the query names none."""
    wanted = query.get("scope.project.id")
    if not wanted:
        return None
    project = identity.projects.get(wanted)
    if not subtree or project is None:
        return {wanted}
    return {wanted, *(record["id"] for record in descendants(identity, project))}


def _matches(row: Held, query: Query, projects: set[str] | None) -> bool:
    tests = (
        ("user.id", row.actor_id if row.actor == "user" else None),
        ("group.id", row.actor_id if row.actor == "group" else None),
        ("role.id", row.role_id),
        ("scope.domain.id", row.target.id if row.target.kind == "domain" else None),
        ("scope.system", row.target.id if row.target.kind == "system" else None),
        (INHERITED, "projects" if row.inherited else None),
    )
    if projects is not None and (row.target.kind != "project" or row.target.id not in projects):
        return False
    return all(have == wanted for key, have in tests if (wanted := _wanted(query, key)))


def _wanted(query: Query, key: str) -> str | None:
    """The value asked for; `scope.system` is a flag that stands for all of it."""
    value = query.get(key)
    return "all" if key == "scope.system" and value else value


def _domain(identity: IdentityRecords, target: Target) -> str | None:
    project = identity.projects.get(target.id)
    return project["domain_id"] if project is not None else target.id if target.kind == "domain" else None


def _shown(identity: IdentityRecords, request: Request, row: Held, named: bool) -> Record:
    describe = _named if named else lambda identity, kind, key: {"id": key}
    place: Record = {"all": True} if row.target.kind == "system" else describe(identity, row.target.kind, row.target.id)
    shown = {
        "role": describe(identity, "role", row.role_id),
        row.actor: describe(identity, row.actor, row.actor_id),
        "scope": {row.target.kind: place},
        "links": _links(request, row),
    }
    if row.inherited:
        shown["scope"]["OS-INHERIT:inherited_to"] = "projects"
    return shown


def _named(identity: IdentityRecords, kind: str, key: str) -> Record:
    """An object with its name, and its domain when it is in one."""
    collections = {
        "role": identity.roles,
        "user": identity.users,
        "group": identity.groups,
        "project": identity.projects,
        "domain": identity.domains,
    }
    record = collections[kind].require(key)
    shown: Record = {"id": key, "name": record["name"]}
    if record.get("domain_id") is not None:
        domain = identity.domains.require(record["domain_id"])
        shown["domain"] = {"id": domain["id"], "name": domain["name"]}
    return shown


def _links(request: Request, row: Held) -> Record:
    """Where the assignment was made, the membership and the role it follows from."""
    given = row.given
    place = "system" if given.target == "system" else f"{given.target}s/{given.target_id}"
    path = f"{place}/{given.actor}s/{given.actor_id}/roles/{given.role_id}"
    if given.inherited:
        path = f"OS-INHERIT/{path}/inherited_to_projects"
    links = {"assignment": f"{request.base}/v3/{path}"}
    if row.group_id is not None:
        links["membership"] = f"{request.base}/v3/groups/{row.group_id}/users/{row.actor_id}"
    if row.prior_id is not None:
        links["prior_role"] = f"{request.base}/v3/prior_role/{row.prior_id}/implies/{row.role_id}"
    return links


ASSIGNMENT_ROUTES: Routes = {"/role_assignments": {"GET": list_assignments}}
