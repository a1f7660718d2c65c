"""Roles given to users and groups on projects, domains and the system; `OS-INHERIT`."""

from __future__ import annotations

from dataclasses import dataclass

from openstack_emulator.core.http import Request, Response
from openstack_emulator.identity.records import SYSTEM, Group, Project, Role, Target, User
from openstack_emulator.identity.routes.lists import list_response
from openstack_emulator.identity.routes.roles import ROLES
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.identity.rules.grants import Actor
from openstack_emulator.identity.rules.policy import enforce


@dataclass(frozen=True)
class GrantRoutes:
    """The calls about roles on one kind of target that one kind of actor has.

    inherited: whether the projects below have the roles.
    """

    target: str
    actor: str
    inherited: bool = False

    def index(self, identity: Identity, request: Request) -> Response:
        actor, target = self._place(identity, request, "list_grants")
        rows = identity.grants.direct_assignments(actor.id, target, self.inherited)
        roles = (identity.roles.rows.require(row.role_id) for row in rows)
        return list_response(request, "roles", [ROLES.shown(identity, request, role) for role in roles])

    def check(self, identity: Identity, request: Request) -> Response:
        actor, target = self._place(identity, request, "check_grant")
        identity.grants.require(actor.id, target, _role(identity, request), self.inherited)
        return Response(status=204)

    def assign(self, identity: Identity, request: Request) -> Response:
        actor, target = self._place(identity, request, "write_grant", "create")
        identity.grants.assign(actor, target, _role(identity, request), self.inherited)
        return Response(status=204)

    def revoke(self, identity: Identity, request: Request) -> Response:
        actor, target = self._place(identity, request, "write_grant", "revoke")
        found = identity.grants.require(actor.id, target, _role(identity, request), self.inherited)
        identity.grants.revoke(found)
        return Response(status=204)

    def _place(self, identity: Identity, request: Request, rule: str, verb: str = "") -> tuple[Actor, Target]:
        """The actor and the target, both known to exist, when the caller may."""
        actors = identity.users.rows if self.actor == "user" else identity.groups.rows
        actor_id, target_id = request.vars["actor_id"], request.vars.get("target_id", "")
        role = identity.roles.rows.get(request.vars.get("role_id", ""))
        subject = {
            "domain_id": self._shared_domain(identity, target_id, actors.get(actor_id)),
            "role_name": None if role is None else role.name,
        }
        enforce(request.context, rule, subject, verb)
        actors.require(actor_id)
        if self.target == "project":
            identity.projects.rows.require(target_id)
        elif self.target == "domain":
            identity.domains.rows.require(target_id)
        return Actor(self.actor, actor_id), SYSTEM if self.target == "system" else Target(self.target, target_id)

    def _shared_domain(self, identity: Identity, target_id: str, actor: User | Group | None) -> str | None:
        """The domain that both the actor and the target are in."""
        project: Project | None = identity.projects.rows.get(target_id) if self.target == "project" else None
        domain_id = target_id if self.target == "domain" else None if project is None else project.domain_id
        return domain_id if actor is not None and actor.domain_id == domain_id else None


def _role(identity: Identity, request: Request) -> Role:
    return identity.roles.rows.require(request.vars["role_id"])


USER_ON_SYSTEM = GrantRoutes("system", "user")
GROUP_ON_SYSTEM = GrantRoutes("system", "group")
USER_ON_PROJECT = GrantRoutes("project", "user")
GROUP_ON_PROJECT = GrantRoutes("project", "group")
USER_ON_DOMAIN = GrantRoutes("domain", "user")
GROUP_ON_DOMAIN = GrantRoutes("domain", "group")
USER_BELOW_PROJECT = GrantRoutes("project", "user", inherited=True)
GROUP_BELOW_PROJECT = GrantRoutes("project", "group", inherited=True)
USER_BELOW_DOMAIN = GrantRoutes("domain", "user", inherited=True)
GROUP_BELOW_DOMAIN = GrantRoutes("domain", "group", inherited=True)
