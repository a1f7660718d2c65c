"""The identity service: its tables, and the rules for them. Who depends on whom is to be read here."""

from __future__ import annotations

from dataclasses import dataclass

from openstack_emulator.core.cloud import Cloud, Records
from openstack_emulator.core.store import T, Table
from openstack_emulator.identity.records import (
    AccessRule,
    ApplicationCredential,
    Assignment,
    CatalogService,
    Consumer,
    Credential,
    Domain,
    Endpoint,
    EndpointChoice,
    EndpointGroup,
    Group,
    ImpliedRole,
    Limit,
    Membership,
    Policy,
    Project,
    Region,
    RegisteredLimit,
    Role,
    Token,
    Trust,
    User,
)
from openstack_emulator.identity.rules.application_credentials import ApplicationCredentials
from openstack_emulator.identity.rules.authentication import Authentication
from openstack_emulator.identity.rules.catalog import Catalog
from openstack_emulator.identity.rules.credentials import Credentials
from openstack_emulator.identity.rules.domains import Domains
from openstack_emulator.identity.rules.errors import missing
from openstack_emulator.identity.rules.grants import Grants
from openstack_emulator.identity.rules.hierarchy import Hierarchy
from openstack_emulator.identity.rules.kept import RecordCollection
from openstack_emulator.identity.rules.limits import Limits, RegisteredLimits
from openstack_emulator.identity.rules.owned import OwnedTables
from openstack_emulator.identity.rules.projects import Projects
from openstack_emulator.identity.rules.roles import Roles
from openstack_emulator.identity.rules.seed import change_well_known_passwords, seed
from openstack_emulator.identity.rules.tokens import Tokens
from openstack_emulator.identity.rules.trusts import Trusts
from openstack_emulator.identity.rules.users import Groups, Users


@dataclass(frozen=True, slots=True)
class Delegations:
    """By what users let others act for them."""

    trusts: Trusts
    application_credentials: ApplicationCredentials
    consumers: RecordCollection[Consumer]


class Identity(Records):
    """Users, projects and who may do what where, and the catalog; it decides who may ask the other services."""

    service = "keystone"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        domains = self._table("domains", Domain, "domain")
        projects = self._table("projects", Project, "project", "name", "domain_id", "parent_id")
        users = self._table("users", User, "user", "name", "domain_id")
        groups = self._table("groups", Group, "group", "name", "domain_id")
        roles = self._table("roles", Role, "role", "name")
        assignments = self._table("assignments", Assignment, "role assignment", "actor_id", "target_id", "role_id")
        memberships = self._table("memberships", Membership, "membership", "user_id", "group_id")
        implied_roles = self._table("implied_roles", ImpliedRole, "implied role", "prior_id")
        regions = self._table("regions", Region, "region")
        services = self._table("services", CatalogService, "service", "type")
        endpoints = self._table("endpoints", Endpoint, "endpoint", "service_id")
        trusts = self._table("trusts", Trust, "trust", "trustor_user_id", "trustee_user_id", "redelegated_trust_id")
        credentials = self._table("credentials", Credential, "credential", "user_id")
        delegated = self._table("application_credentials", ApplicationCredential, "Application Credential", "user_id")
        access_rules = self._table("access_rules", AccessRule, "Access Rule", "user_id")
        policies = self._table("policies", Policy, "policy")
        consumers = self._table("consumers", Consumer, "consumer")
        endpoint_groups = self._table("endpoint_groups", EndpointGroup, "endpoint group")
        choices = self._table("endpoint_filters", EndpointChoice, "endpoint filter", "project_id")
        registered = self._table("registered_limits", RegisteredLimit, "registered limit", "service_id")
        limits = self._table("limits", Limit, "limit", "project_id", "domain_id")
        issued = self.table("tokens", Token, "user_id", missing=missing("token"), internal=True)
        owned = OwnedTables(trusts, credentials, delegated, access_rules, limits, issued)
        self.roles = Roles(self, roles, implied_roles, assignments)
        hierarchy = Hierarchy(projects)
        self.grants = Grants(self, assignments, memberships, self.roles, hierarchy, delegated)
        self.projects = Projects(self, hierarchy, domains, users, self.grants, owned, choices)
        self.users = Users(self, users, domains, memberships, self.grants, owned)
        self.groups = Groups(self, groups, domains, users, memberships, self.grants)
        self.domains = Domains(self, domains, self.users, self.groups, self.projects, self.roles, self.grants, owned)
        tokens = Tokens(self, users, domains, projects, self.grants, owned)
        self.authentication = Authentication(self, tokens, users, projects, domains, self.grants, owned)
        application_credentials = ApplicationCredentials(self, owned, self.grants, tokens)
        self.delegations = Delegations(
            Trusts(self, trusts, users, projects, self.grants, tokens),
            application_credentials,
            RecordCollection(self, consumers),
        )
        self.credentials = Credentials(self, credentials)
        self.catalog = Catalog(
            self, regions, services, endpoints, endpoint_groups, choices, limits=limits, registered_limits=registered
        )
        limits_of_all = RegisteredLimits(self, registered, limits, services, regions)
        self.limits = Limits(self, limits, limits_of_all, projects, domains)
        self.policies = RecordCollection(self, policies)
        cloud.authenticate = tokens.context
        cloud.admit = application_credentials.admit

    def _table(self, name: str, kind: type[T], label: str, *indexes: str) -> Table[T]:
        return self.table(name, kind, *indexes, missing=missing(label))

    def seed(self) -> None:
        seed(self.roles, self.domains, self.projects, self.users, self.grants)

    def opened(self) -> None:
        self.catalog.open()
        change_well_known_passwords(self.users)
