"""Who has which role where: as given, and in effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import forbidden, not_found
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.identity.records import ApplicationCredential, Assignment, Membership, Role, Target
from openstack_emulator.identity.rules.hierarchy import Hierarchy
from openstack_emulator.identity.rules.kept import remove_all
from openstack_emulator.identity.rules.roles import Roles


@dataclass(frozen=True)
class Actor:
    """Who has roles: `kind` is user or group."""

    kind: str
    id: str


@dataclass(frozen=True)
class EffectiveRole:
    """A role that somebody has: the assignment that it rests on, and the group or role that it comes through."""

    actor: Actor
    target: Target
    role_id: str
    inherited: bool
    assignment: Assignment
    group_id: str | None = None
    prior_id: str | None = None

    def same(self) -> tuple[str, Target, str]:
        """What is equal of two that say the same."""
        return self.actor.id, self.target, self.role_id


class Grants(Rules):
    """Roles given to users and groups on projects, domains and the system."""

    def __init__(
        self,
        records: Records,
        rows: Table[Assignment],
        memberships: Table[Membership],
        roles: Roles,
        hierarchy: Hierarchy,
        application_credentials: Table[ApplicationCredential],
    ) -> None:
        super().__init__(records)
        self.rows = rows
        self.memberships = memberships
        self.roles = roles
        self._hierarchy = hierarchy
        self._application_credentials = application_credentials

    def assign(self, actor: Actor, target: Target, role: Role, inherited: bool = False) -> None:
        """Give a role; does nothing when it is there. Raises ApiError 403 for a role of another domain."""
        self._check_domain(role, target)
        key = ":".join((actor.kind, actor.id, target.kind, target.id, role.id, str(int(inherited))))
        if key not in self.rows:
            self.rows.add(
                Assignment(
                    id=key,
                    actor=actor.kind,
                    actor_id=actor.id,
                    target=target.kind,
                    target_id=target.id,
                    role_id=role.id,
                    inherited=inherited,
                )
            )

    def _check_domain(self, role: Role, target: Target) -> None:
        """A role of a domain is given within that domain only."""
        if role.domain_id is None:
            return
        project = self._hierarchy.projects.get(target.id)
        if role.domain_id != (target.id if project is None else project.domain_id):
            raise forbidden(f"Role {role.id} belongs to domain {role.domain_id}, {target.kind} {target.id} does not.")

    def direct_assignments(self, actor_id: str, target: Target, inherited: bool) -> list[Assignment]:
        """What was given to a user or group on just this target."""
        return self.rows.select(actor_id=actor_id, target=target.kind, target_id=target.id, inherited=inherited)

    def require(self, actor_id: str, target: Target, role: Role, inherited: bool) -> Assignment:
        """An assignment. Raises ApiError 404."""
        found = self.rows.first(
            actor_id=actor_id, role_id=role.id, target=target.kind, target_id=target.id, inherited=inherited
        )
        if found is None:
            raise not_found(
                f"Could not find role assignment with role: {role.id}, user or group: {actor_id}, "
                f"project, domain, or system: {target.id}."
            )
        return found

    def revoke(self, assignment: Assignment) -> None:
        """Take a role away, and the application credentials that depend on it."""
        self.rows.remove(assignment)
        if assignment.target == "project" and assignment.actor == "user":
            owned = self._application_credentials.select(user_id=assignment.actor_id, project_id=assignment.target_id)
            remove_all(
                self._application_credentials,
                [row for row in owned if any(role.id == assignment.role_id for role in row.roles)],
            )

    def remove_of(self, actor_id: str) -> None:
        """Take all roles of a user or group away, who is to be removed."""
        remove_all(self.rows, self.rows.select(actor_id=actor_id))

    def remove_on(self, target: Target) -> None:
        """Take all roles on a project or domain away, which is to be removed."""
        remove_all(self.rows, self.rows.select(target=target.kind, target_id=target.id))

    def roles_of(self, user_id: str, target: Target) -> list[Role]:
        """The roles a user has on a target: given directly, through groups, and implied by those.

        A role of a domain counts only for the global roles it implies.
        """
        held = {row.role_id for actor_id in self._actors(user_id) for row in self._held(actor_id, target)}
        roles = (self.roles.rows.get(role_id) for role_id in self.roles.with_implied(held))
        return [role for role in roles if role is not None and role.domain_id is None]

    def targets_of(self, user_id: str) -> set[Target]:
        """Where the user has any role."""
        rows = [row for actor_id in self._actors(user_id) for row in self.rows.select(actor_id=actor_id)]
        direct = {row.place for row in rows if not row.inherited}
        above = {row.target_id for row in rows if row.inherited}
        if not above:
            return direct
        hierarchy = self._hierarchy
        return direct | {
            Target("project", p.id) for p in hierarchy.projects if above.intersection(hierarchy.above(p.id))
        }

    def _actors(self, user_id: str) -> list[str]:
        """The user and the groups that the user is in."""
        return [user_id, *(row.group_id for row in self.memberships.select(user_id=user_id))]

    def _held(self, actor_id: str, target: Target) -> list[Assignment]:
        higher = self._hierarchy.above(target.id) if target.kind == "project" else ()
        return [
            row
            for row in self.rows.select(actor_id=actor_id)
            if (row.target_id in higher if row.inherited else row.target_id == target.id)
        ]

    def direct(self) -> list[EffectiveRole]:
        """All assignments, as they were given."""
        return [
            EffectiveRole(Actor(row.actor, row.actor_id), row.place, row.role_id, row.inherited, row)
            for row in self.rows
        ]

    def effective(self) -> list[EffectiveRole]:
        """Groups as their members, inherited roles on the projects they reach, with every role that is implied."""
        found = (
            held
            for assignment in self.direct()
            for member in self._members(assignment)
            for place in self._reached(member)
            for held in self._implied(place)
        )
        return list({held.same(): held for held in found}.values())

    def _members(self, held: EffectiveRole) -> Iterator[EffectiveRole]:
        if held.actor.kind == "user":
            yield held
            return
        for member in self.memberships.select(group_id=held.actor.id):
            yield replace(held, actor=Actor("user", member.user_id), group_id=held.actor.id)

    def _reached(self, held: EffectiveRole) -> Iterable[EffectiveRole]:
        if not held.inherited:
            return [held]
        hierarchy = self._hierarchy
        if held.target.kind == "domain":
            below = hierarchy.projects.select(domain_id=held.target.id)
        else:
            below = hierarchy.descendants(held.target.id)
        return [replace(held, target=Target("project", project.id), inherited=False) for project in below]

    def _implied(self, held: EffectiveRole) -> Iterator[EffectiveRole]:
        """The role and all it implies; a role of a domain is not in effect itself."""
        for role_id in self.roles.with_implied({held.role_id}):
            if self.roles.rows.require(role_id).domain_id is None:
                yield replace(held, role_id=role_id, prior_id=None if role_id == held.role_id else held.role_id)
