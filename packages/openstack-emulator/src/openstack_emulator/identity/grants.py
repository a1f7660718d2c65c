"""Roles given to users and groups on projects, domains and the system; `OS-INHERIT`."""

from __future__ import annotations

from collections.abc import Callable

from openstack_emulator.core.cloud import Handler, Routes
from openstack_emulator.core.errors import forbidden, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.identity.lists import answer
from openstack_emulator.identity.policy import enforce
from openstack_emulator.identity.records import SYSTEM, Assignment, IdentityRecords, Target
from openstack_emulator.identity.removal import revoke_grant
from openstack_emulator.identity.roles import ROLES

Place = tuple[str, str, bool]
"""Kind of target, kind of actor, and whether the role is inherited by the projects below."""


def _list(place: Place) -> Handler:
    def handle(identity: IdentityRecords, request: Request) -> Response:
        target, actor_id = _where(identity, request, place, "list_grants")
        rows = identity.assignments.select(
            actor_id=actor_id, target=target.kind, target_id=target.id, inherited=place[2]
        )
        roles = [ROLES.shown(identity, request, identity.roles.require(row.role_id)) for row in rows]
        return answer(request, "roles", roles)

    return handle


def _check(place: Place) -> Handler:
    def handle(identity: IdentityRecords, request: Request) -> Response:
        target, actor_id = _where(identity, request, place, "check_grant")
        _assignment(identity, request, target, actor_id, place)
        return Response(status=204)

    return handle


def _give(place: Place) -> Handler:
    def handle(identity: IdentityRecords, request: Request) -> Response:
        target, actor_id = _where(identity, request, place, "write_grant", "create")
        role = identity.roles.require(request.vars["role_id"])
        _check_domain(identity, role, target)
        identity.grant(place[1], actor_id, target, role["id"], place[2])
        return Response(status=204)

    return handle


def _take(place: Place) -> Handler:
    def handle(identity: IdentityRecords, request: Request) -> Response:
        target, actor_id = _where(identity, request, place, "write_grant", "revoke")
        revoke_grant(identity, _assignment(identity, request, target, actor_id, place))
        return Response(status=204)

    return handle


def _where(identity: IdentityRecords, request: Request, place: Place, rule: str, verb: str = "") -> tuple[Target, str]:
    """The target and the actor's id, both known to exist, when the caller may."""
    kind, actor, _ = place
    actors = identity.users if actor == "user" else identity.groups
    found = actors.get(request.vars["actor_id"])
    role = identity.roles.get(request.vars.get("role_id", ""))
    enforce(
        request.context,
        rule,
        {
            "domain_id": _shared_domain(identity, request, kind, found),
            "role_name": None if role is None else role["name"],
        },
        verb,
    )
    actors.require(request.vars["actor_id"])
    if kind == "system":
        return SYSTEM, request.vars["actor_id"]
    targets = identity.projects if kind == "project" else identity.domains
    return Target(kind, targets.require(request.vars["target_id"])["id"]), request.vars["actor_id"]


def _shared_domain(identity: IdentityRecords, request: Request, kind: str, actor: Record | None) -> str | None:
    """The domain that both the actor and the target are in."""
    target_id = request.vars.get("target_id", "")
    project = identity.projects.get(target_id) if kind == "project" else None
    domain_id = target_id if kind == "domain" else None if project is None else project["domain_id"]
    return domain_id if actor is not None and actor["domain_id"] == domain_id else None


def _check_domain(identity: IdentityRecords, role: Record, target: Target) -> None:
    """A role of a domain is given within that domain only."""
    if role["domain_id"] is None:
        return
    project = identity.projects.get(target.id)
    if role["domain_id"] != (target.id if project is None else project["domain_id"]):
        raise forbidden(f"Role {role['id']} belongs to domain {role['domain_id']}, {target.kind} {target.id} does not.")


def _assignment(identity: IdentityRecords, request: Request, target: Target, actor_id: str, place: Place) -> Assignment:
    role = identity.roles.require(request.vars["role_id"])
    found = identity.assignments.first(
        actor_id=actor_id, role_id=role["id"], target=target.kind, target_id=target.id, inherited=place[2]
    )
    if found is None:
        raise not_found(
            f"Could not find role assignment with role: {role['id']}, user or group: {actor_id}, "
            f"project, domain, or system: {target.id}."
        )
    return found


def _routes(prefix: str, suffix: str, place: Place) -> Routes:
    base = f"{prefix}/{place[1]}s/{{actor_id}}/roles"
    one: dict[str, Callable[[Place], Handler]] = {"GET": _check, "PUT": _give, "DELETE": _take}
    return {
        f"{base}{suffix}": {"GET": _list(place)},
        f"{base}/{{role_id}}{suffix}": {method: make(place) for method, make in one.items()},
    }


GRANT_ROUTES: Routes = {
    pattern: methods
    for actor in ("user", "group")
    for prefix, suffix, place in (
        ("/system", "", ("system", actor, False)),
        ("/projects/{target_id}", "", ("project", actor, False)),
        ("/domains/{target_id}", "", ("domain", actor, False)),
        ("/OS-INHERIT/projects/{target_id}", "/inherited_to_projects", ("project", actor, True)),
        ("/OS-INHERIT/domains/{target_id}", "/inherited_to_projects", ("domain", actor, True)),
    )
    for pattern, methods in _routes(prefix, suffix, place).items()
}
