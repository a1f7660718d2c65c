"""What Keystone keeps, and who has which role where."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from openstack_emulator.core.cloud import Cloud, Records, new_hex_id
from openstack_emulator.core.errors import ApiError, conflict, not_found
from openstack_emulator.core.store import Collection, Record, T, Table
from openstack_emulator.core.typed import TypedRecord
from openstack_emulator.identity.passwords import hash_password

DEFAULT_DOMAIN = "default"


@dataclass(frozen=True)
class Target:
    """Where a role is held: `kind` is project, domain or system (whose id is `all`)."""

    kind: str
    id: str


SYSTEM = Target("system", "all")


@dataclass(slots=True, kw_only=True, eq=False)
class Assignment(TypedRecord):
    """A role that a user or a group, the `actor`, has on a target; `inherited` if what is below the target has it."""

    actor: str
    actor_id: str
    target: str
    target_id: str
    role_id: str
    inherited: bool

    @property
    def place(self) -> Target:
        """Where the role is held."""
        return Target(self.target, self.target_id)


@dataclass(slots=True, kw_only=True, eq=False)
class Membership(TypedRecord):
    """A user in a group."""

    group_id: str
    user_id: str


@dataclass(slots=True, kw_only=True, eq=False)
class ImpliedRole(TypedRecord):
    """A role that those have too who have the prior one."""

    prior_id: str
    implied_id: str


@dataclass(slots=True, kw_only=True, eq=False)
class Token(TypedRecord):
    """A token; its `id` is the digest of its text. Times are in seconds since the epoch.

    target: kind and ID of its scope. trust_id, application_credential_id: what the user acts through.
    """

    user_id: str
    methods: list[str]
    issued_at: float
    expires_at: float
    audit_ids: list[str]
    target: list[str] | None
    trust_id: str | None
    application_credential_id: str | None


class IdentityRecords(Records):
    """Domains, projects, users, groups, roles, assignments, delegations, credentials, tokens and the catalog."""

    service = "keystone"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.domains = self._named("domains", "domain")
        self.projects = self._named("projects", "project", ("name", "domain_id", "parent_id"))
        self.users = self._named("users", "user", ("name", "domain_id"))
        self.groups = self._named("groups", "group", ("name", "domain_id"))
        self.roles = self._named("roles", "role", ("name",))
        self.assignments = self._typed("assignments", Assignment, "role assignment", "actor_id", "target_id", "role_id")
        self.memberships = self._typed("memberships", Membership, "membership", "user_id", "group_id")
        self.implied_roles = self._typed("implied_roles", ImpliedRole, "implied role", "prior_id")
        self.regions = self._named("regions", "region")
        self.services = self._named("services", "service", ("type",))
        self.endpoints = self._named("endpoints", "endpoint", ("service_id",))
        self.trusts = self._named("trusts", "trust", ("trustor_user_id", "trustee_user_id", "redelegated_trust_id"))
        self.credentials = self._named("credentials", "credential", ("user_id",))
        self.application_credentials = self._named("application_credentials", "Application Credential", ("user_id",))
        self.access_rules = self._named("access_rules", "Access Rule", ("user_id",))
        self.policies = self._named("policies", "policy")
        self.consumers = self._named("consumers", "consumer")
        self.endpoint_groups = self._named("endpoint_groups", "endpoint group")
        self.endpoint_filters = self._named("endpoint_filters", "endpoint filter", ("project_id",))
        self.registered_limits = self._named("registered_limits", "registered limit", ("service_id",))
        self.limits = self._named("limits", "limit", ("project_id", "domain_id"))
        self.tokens = self.typed("tokens", Token, "user_id", missing=_missing("token"), internal=True)

    def _named(self, name: str, label: str, indexes: Iterable[str] = ()) -> Collection:
        return self.collection(name, indexes, _missing(label))

    def _typed(self, name: str, kind: type[T], label: str, *indexes: str) -> Table[T]:
        return self.typed(name, kind, *indexes, missing=_missing(label))

    def create_role(self, name: str, domain_id: str | None = None, **fields: object) -> Record:
        """A new role, global or of one domain; 409 when there is one of this name."""
        self.refuse_duplicate(self.roles, "role", name, domain_id)
        return self.roles.add(
            {
                "id": new_hex_id(),
                "name": name,
                "domain_id": domain_id,
                "description": None,
                "options": {},
                **fields,
            }
        )

    def imply_role(self, prior_id: str, implied_id: str) -> None:
        """A user with the first role has the second one too."""
        key = f"{prior_id}:{implied_id}"
        if key not in self.implied_roles:
            self.implied_roles.add(ImpliedRole(id=key, prior_id=prior_id, implied_id=implied_id))

    def create_domain(self, name: str, **fields: object) -> Record:
        """A new domain; 409 when there is one of this name."""
        if self.domains.first(name=name) is not None:
            raise domain_taken(name)
        return self.domains.add(
            {
                "id": new_hex_id(),
                "name": name,
                "description": "",
                "enabled": True,
                "options": {},
                "tags": [],
                **fields,
            }
        )

    def create_user(self, name: str, domain_id: str, password: str | None, **fields: object) -> Record:
        """A new user; 409 when the domain has one of this name."""
        self.refuse_duplicate(self.users, "user", name, domain_id)
        return self.users.add(
            {
                "id": new_hex_id(),
                "name": name,
                "domain_id": domain_id,
                "enabled": True,
                "options": {},
                "password_expires_at": None,
                **fields,
                "_password": None if password is None else hash_password(password),
            }
        )

    def create_project(self, name: str, domain_id: str, **fields: object) -> Record:
        """A new project; 409 when the domain has one of this name."""
        self.refuse_duplicate(self.projects, "project", name, domain_id)
        return self.projects.add(
            {
                "id": new_hex_id(),
                "name": name,
                "domain_id": domain_id,
                "parent_id": domain_id,
                "description": "",
                "enabled": True,
                "is_domain": False,
                "options": {},
                "tags": [],
                **fields,
            }
        )

    def refuse_duplicate(self, collection: Collection, label: str, name: str, domain_id: str | None) -> None:
        """409 when the domain has one of this name already."""
        if collection.first(name=name, domain_id=domain_id) is not None:
            place = f" at domain ID {domain_id}" if domain_id else ""
            message = f"Duplicate entry found with name {name}{place}."
            if label == "project":
                # The ID is the one that the new project would have had.
                message = (
                    "it is not permitted to have two projects with either the same name or same id in the same domain: "
                    f"name is {name}, project id {new_hex_id()}."
                )
            raise conflict(f"Conflict occurred attempting to store {label} - {message}")

    def refuse_rename(self, collection: Collection, label: str, record: Record, changes: Record) -> None:
        """409 when a change gives a record a name that another one of its domain has."""
        if "name" in changes and changes["name"] != record["name"]:
            self.refuse_duplicate(collection, label, changes["name"], record["domain_id"])

    def grant(self, actor: str, actor_id: str, target: Target, role_id: str, inherited: bool = False) -> None:
        """Give a role to a `user` or `group`; does nothing when it is there."""
        key = ":".join((actor, actor_id, target.kind, target.id, role_id, str(int(inherited))))
        if key not in self.assignments:
            self.assignments.add(
                Assignment(
                    id=key,
                    actor=actor,
                    actor_id=actor_id,
                    target=target.kind,
                    target_id=target.id,
                    role_id=role_id,
                    inherited=inherited,
                )
            )

    def roles_of(self, user_id: str, target: Target) -> list[Record]:
        """The roles a user has on a target: given directly, through groups, and implied by those.

        A role of a domain counts only for the global roles it implies.
        """
        actors = [user_id, *(m.group_id for m in self.memberships.select(user_id=user_id))]
        held = {a.role_id for actor in actors for a in self._held(actor, target)}
        roles = (self.roles.get(role_id) for role_id in self.with_implied(held))
        return [role for role in roles if role is not None and role["domain_id"] is None]

    def targets_of(self, user_id: str) -> set[Target]:
        """Where the user has any role."""
        actors = [user_id, *(m.group_id for m in self.memberships.select(user_id=user_id))]
        rows = [row for actor in actors for row in self.assignments.select(actor_id=actor)]
        direct = {row.place for row in rows if not row.inherited}
        above = {row.target_id for row in rows if row.inherited}
        if not above:
            return direct
        return direct | {Target("project", p["id"]) for p in self.projects if above.intersection(self.above(p["id"]))}

    def _held(self, actor_id: str, target: Target) -> list[Assignment]:
        higher = self.above(target.id) if target.kind == "project" else ()
        return [
            row
            for row in self.assignments.select(actor_id=actor_id)
            if (row.target_id in higher if row.inherited else row.target_id == target.id)
        ]

    def above(self, project_id: str) -> list[str]:
        """The ids of the projects and the domain above a project, nearest first."""
        found: list[str] = []
        project = self.projects.get(project_id)
        while project is not None:
            found.append(project["parent_id"])
            project = self.projects.get(project["parent_id"])
        return found

    def with_implied(self, role_ids: set[str]) -> list[str]:
        """Role ids with all that they imply, in a stable order."""
        todo, seen = sorted(role_ids), []
        while todo:
            role_id = todo.pop()
            if role_id not in seen:
                seen.append(role_id)
                todo.extend(row.implied_id for row in self.implied_roles.select(prior_id=role_id))
        return seen


def _missing(label: str) -> Callable[[str], ApiError]:
    return lambda key: not_found(f"Could not find {label}: {key}.")


def domain_taken(name: str) -> ApiError:
    """409 for a domain with the name of another."""
    return conflict(
        "Conflict occurred attempting to store project - it is not permitted to have two projects acting as domains "
        f"with the same name: {name}."
    )
