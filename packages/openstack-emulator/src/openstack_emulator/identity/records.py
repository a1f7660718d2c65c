"""What the identity service keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from openstack_emulator.core.typed import Part, TypedRecord, named

DEFAULT_DOMAIN = "default"


@dataclass(frozen=True)
class Target:
    """Where a role is held: `kind` is project, domain or system (whose id is `all`)."""

    kind: str
    id: str


SYSTEM = Target("system", "all")


@dataclass(slots=True, kw_only=True, eq=False)
class Extensible(TypedRecord):
    """A record of which requests may give further attributes, which are kept and shown: `extra`."""

    extra: dict[str, object] = field(default_factory=dict, metadata=named("_extra"))

    def get(self, name: str) -> Any:
        """The value of a field, or else of a further attribute; None for an unknown name."""
        return self.extra[name] if name in self.extra else TypedRecord.get(self, name)


@dataclass(slots=True, kw_only=True, eq=False)
class Domain(Extensible):
    """A domain; `config` is the configuration of its own that it has, by group and option."""

    name: str
    description: str | None = ""
    enabled: bool = True
    options: dict[str, Any] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    config: dict[str, dict[str, Any]] = field(default_factory=dict, metadata=named("_config"))


@dataclass(slots=True, kw_only=True, eq=False)
class Project(Extensible):
    """A project; the parent of one that has no other is its domain."""

    name: str
    domain_id: str
    parent_id: str
    description: str | None = ""
    enabled: bool = True
    is_domain: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)


@dataclass(slots=True, kw_only=True, eq=False)
class User(Extensible):
    """A user; `password` is a hash of it, of users who have one."""

    name: str
    domain_id: str
    enabled: bool = True
    default_project_id: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    password_expires_at: str | None = None
    password: str | None = field(default=None, metadata=named("_password"))


@dataclass(slots=True, kw_only=True, eq=False)
class Group(Extensible):
    """A group of users."""

    name: str
    domain_id: str
    description: str | None = ""


@dataclass(slots=True, kw_only=True, eq=False)
class Membership(TypedRecord):
    """A user in a group."""

    group_id: str
    user_id: str


@dataclass(slots=True, kw_only=True, eq=False)
class Role(Extensible):
    """A role, of the cloud or of a domain."""

    name: str
    domain_id: str | None = None
    description: str | None = None
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True, eq=False)
class ImpliedRole(TypedRecord):
    """A role that those have too who have the prior one."""

    prior_id: str
    implied_id: str


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
class Region(Extensible):
    """A region of the cloud, which may be a part of another one."""

    description: str | None = ""
    parent_region_id: str | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class CatalogService(Extensible):
    """A service in the catalog."""

    type: str
    name: str = ""
    description: str | None = ""
    enabled: bool = True


@dataclass(slots=True, kw_only=True, eq=False)
class Endpoint(Extensible):
    """Where a service is. `url` may name this cloud, the project and the user by variables; `region` is the region's
    ID too."""

    service_id: str
    interface: str
    url: str
    region: str | None = None
    region_id: str | None = None
    enabled: bool = True


@dataclass(slots=True, kw_only=True, eq=False)
class EndpointGroup(TypedRecord):
    """Endpoints that have the fields of `filters` in common."""

    name: str
    description: str | None
    filters: dict[str, str]


@dataclass(slots=True, kw_only=True, eq=False)
class EndpointChoice(TypedRecord):
    """An endpoint, or a group of them, that was chosen for the catalog of a project."""

    project_id: str
    endpoint_id: str | None = None
    endpoint_group_id: str | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class Policy(Extensible):
    """A policy, which is stored and shown only."""

    blob: str
    type: str


@dataclass(slots=True, kw_only=True, eq=False)
class Consumer(Extensible):
    """A program that may ask users for access by OAuth 1."""

    description: str | None
    secret: str = field(metadata=named("_secret"))


@dataclass(slots=True, kw_only=True, eq=False)
class RegisteredLimit(TypedRecord):
    """How much of a resource everybody may have."""

    service_id: str
    region_id: str | None
    resource_name: str
    description: str | None
    default_limit: int


@dataclass(slots=True, kw_only=True, eq=False)
class Limit(TypedRecord):
    """How much of a resource a project or a domain may have."""

    service_id: str
    region_id: str | None
    resource_name: str
    description: str | None
    resource_limit: int
    project_id: str | None
    domain_id: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class Credential(Extensible):
    """A credential, such as of EC2, whose `blob` is a JSON object with the keys."""

    type: str
    blob: str
    user_id: str
    project_id: str | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class Trust(Extensible):
    """What a user, the trustor, lets another one do: act with some roles, given by their IDs, on a project.

    expires_at: in seconds since the epoch. redelegation_count: how often the trust may be handed on.
    """

    trustor_user_id: str
    trustee_user_id: str
    impersonation: bool
    project_id: str | None
    roles: list[str]
    expires_at: float | None
    remaining_uses: int | None
    redelegation_count: int
    redelegated_trust_id: str | None
    deleted_at: None = None


@dataclass(slots=True, kw_only=True, eq=False)
class RoleOfCredential(Part):
    """A role that an application credential has."""

    id: str
    name: str
    domain_id: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class ApplicationCredential(TypedRecord):
    """A credential of a user that is good for some of the roles on a project; `secret` is a hash.

    expires_at: in seconds since the epoch. access_rules: IDs of the rules, if not every request is allowed.
    """

    name: str
    description: str | None
    user_id: str
    project_id: str
    roles: list[RoleOfCredential]
    expires_at: float | None
    unrestricted: bool | None
    access_rules: list[str] | None
    secret: str = field(metadata=named("_secret"))


@dataclass(slots=True, kw_only=True, eq=False)
class AccessRule(TypedRecord):
    """Requests that an application credential allows."""

    user_id: str
    service: str
    path: str
    method: str


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
