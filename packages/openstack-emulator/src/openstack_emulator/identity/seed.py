"""What a new cloud contains: as DevStack sets it up, with orchestration's own domain and users."""

from __future__ import annotations

from openstack_emulator.core.cloud import WELL_KNOWN_PASSWORD
from openstack_emulator.identity.passwords import hash_password, verify_password
from openstack_emulator.identity.records import DEFAULT_DOMAIN, SYSTEM, IdentityRecords, Target

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


def seed_identity(identity: IdentityRecords) -> None:
    """Fill a new cloud. Seeded ids are the names where Keystone lets them be chosen (domains), else random."""
    for name in ROLES:
        identity.create_role(name, options={"immutable": True} if name in IMMUTABLE else {})
    roles = {role["name"]: role["id"] for role in identity.roles}
    for prior, implied in IMPLIED:
        identity.imply_role(roles[prior], roles[implied])
    for key, (name, description) in DOMAINS.items():
        identity.create_domain(name, id=key, description=description)
    projects = {name: identity.create_project(name, DEFAULT_DOMAIN)["id"] for name in PROJECTS}
    users = {
        name: identity.create_user(name, domain, identity.cloud.password_of(name))["id"]
        for name, domain in USERS.items()
    }
    for user, role, project in GRANTS:
        identity.grant("user", users[user], Target("project", projects[project]), roles[role])
    identity.grant("user", users["admin"], SYSTEM, roles["admin"])
    identity.grant("user", users["admin"], Target("domain", DEFAULT_DOMAIN), roles["admin"])
    identity.grant("user", users["heat_domain_admin"], Target("domain", "heat"), roles["admin"])


def change_well_known_passwords(identity: IdentityRecords) -> None:
    """Give the seeded users of a cloud whose passwords are no longer to be well known their new ones."""
    for name, domain in USERS.items():
        wanted = identity.cloud.password_of(name)
        user = identity.users.first(name=name, domain_id=domain)
        if wanted == WELL_KNOWN_PASSWORD or user is None:
            continue
        if verify_password(WELL_KNOWN_PASSWORD, user["_password"]):
            identity.users.update(user, _password=hash_password(wanted))
