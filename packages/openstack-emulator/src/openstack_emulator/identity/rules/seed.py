"""What a new cloud contains: as DevStack sets it up, with orchestration's own domain and users."""

from __future__ import annotations

from openstack_emulator.core.cloud import WELL_KNOWN_PASSWORD, new_hex_id
from openstack_emulator.identity.records import DEFAULT_DOMAIN, SYSTEM, Domain, Project, Role, Target, User
from openstack_emulator.identity.rules.domains import Domains
from openstack_emulator.identity.rules.grants import Actor, Grants
from openstack_emulator.identity.rules.passwords import hash_password, verify_password
from openstack_emulator.identity.rules.projects import Projects
from openstack_emulator.identity.rules.roles import Roles
from openstack_emulator.identity.rules.users import Users

ADMIN = "admin"
ROLES = ("admin", "manager", "member", "reader", "service", "heat_stack_owner", "heat_stack_user", "ResellerAdmin")
IMMUTABLE = frozenset({"admin", "manager", "member", "reader", "service"})
"""Roles that the bootstrap command of Keystone makes, and protects from changes."""
IMPLIED = (("admin", "manager"), ("manager", "member"), ("member", "reader"))
DOMAINS = {DEFAULT_DOMAIN: ("Default", "The default domain"), "heat": ("heat", "Users made by stacks")}
PROJECTS = ("admin", "demo", "service")
USERS = {
    "admin": DEFAULT_DOMAIN,
    "demo": DEFAULT_DOMAIN,
    "heat": DEFAULT_DOMAIN,
    "heat_domain_admin": "heat",
}
GRANTS = (
    ("admin", "admin", "admin"),
    ("admin", "admin", "demo"),
    ("demo", "member", "demo"),
    ("demo", "heat_stack_owner", "demo"),
    ("heat", "admin", "service"),
    ("heat", "service", "service"),
)
"""User, role, project."""
ADMINISTRATORS = (
    ("admin", SYSTEM),
    ("admin", Target("domain", DEFAULT_DOMAIN)),
    ("heat_domain_admin", Target("domain", "heat")),
)
"""Users who have the role admin on the system and on domains."""


def seed(roles: Roles, domains: Domains, projects: Projects, users: Users, grants: Grants) -> None:
    """Fill a new cloud. Seeded ids are the names where Keystone lets them be chosen (domains), else random."""
    for name in ROLES:
        options = {"immutable": True} if name in IMMUTABLE else {}
        roles.create(Role(id=new_hex_id(), name=name, options=options))
    role = {role.name: role for role in roles.rows}
    for prior, implied in IMPLIED:
        roles.imply(role[prior], role[implied])
    for key, (name, description) in DOMAINS.items():
        new_hex_id()  # drawn for every domain, so that simulations get the same identifiers from the same random seed
        domains.create(Domain(id=key, name=name, description=description))
    project = {name: projects.create(_project(name)) for name in PROJECTS}
    actor = {name: _seed_user(users, name, domain_id) for name, domain_id in USERS.items()}
    for user, held, place in GRANTS:
        grants.assign(actor[user], Target("project", project[place].id), role[held])
    for user, target in ADMINISTRATORS:
        grants.assign(actor[user], target, role[ADMIN])


def _project(name: str) -> Project:
    return Project(id=new_hex_id(), name=name, domain_id=DEFAULT_DOMAIN, parent_id=DEFAULT_DOMAIN)


def _seed_user(users: Users, name: str, domain_id: str) -> Actor:
    new = User(id=new_hex_id(), name=name, domain_id=domain_id)
    return Actor("user", users.create(new, users.cloud.password_of(name)).id)


def change_well_known_passwords(users: Users) -> None:
    """Give the seeded users of a cloud whose passwords are no longer to be well known their new ones."""
    for name, domain_id in USERS.items():
        password = users.cloud.password_of(name)
        user = users.rows.first(name=name, domain_id=domain_id)
        if password == WELL_KNOWN_PASSWORD or user is None:
            continue
        if verify_password(WELL_KNOWN_PASSWORD, user.password):
            users.rows.update(user, password=hash_password(password))
