"""Deletion of objects with everything that depends on them."""

from __future__ import annotations

from collections.abc import Iterable

from openstack_emulator.core.errors import forbidden
from openstack_emulator.core.store import R, Record, Rows
from openstack_emulator.identity.records import Assignment, IdentityRecords, Target


def remove_user(identity: IdentityRecords, user: Record) -> None:
    """A user, with roles, memberships, credentials, trusts given and received, and tokens."""
    _remove_actor(identity, user)
    key = user["id"]
    _remove_all(identity.memberships, identity.memberships.select(user_id=key))
    _remove_all(identity.trusts, identity.trusts.select(trustor_user_id=key))
    _remove_all(identity.trusts, identity.trusts.select(trustee_user_id=key))
    for owned in (identity.credentials, identity.application_credentials, identity.access_rules):
        _remove_all(owned, owned.select(user_id=key))
    end_tokens(identity, key)
    identity.users.remove(user)


def remove_group(identity: IdentityRecords, group: Record) -> None:
    """A group, with its roles and memberships."""
    _remove_actor(identity, group)
    _remove_all(identity.memberships, identity.memberships.select(group_id=group["id"]))
    identity.groups.remove(group)


def remove_project(identity: IdentityRecords, project: Record) -> None:
    """A project without children, with all that was given on it; 403 when it has children."""
    key = project["id"]
    if identity.projects.first(parent_id=key) is not None:
        raise forbidden(
            f"Cannot delete the project {key} since it is not a leaf in the hierarchy. Use the cascade option if you "
            "want to delete a whole subtree."
        )
    _remove_scope(identity, Target("project", key))
    _remove_all(identity.endpoint_filters, identity.endpoint_filters.select(project_id=key))
    for user in identity.users.select(default_project_id=key):
        identity.users.update(user, default_project_id=None)
    identity.projects.remove(project)


def remove_domain(identity: IdentityRecords, domain: Record) -> None:
    """A disabled domain with everything in it; 403 while it is enabled."""
    key = domain["id"]
    if domain["enabled"]:
        raise forbidden("Cannot delete a domain that is enabled, please disable it first.")
    for user in identity.users.select(domain_id=key):
        remove_user(identity, user)
    for group in identity.groups.select(domain_id=key):
        remove_group(identity, group)
    for project in reversed(identity.projects.select(domain_id=key)):
        remove_project(identity, project)
    for role in identity.roles.select(domain_id=key):
        remove_role(identity, role)
    _remove_scope(identity, Target("domain", key))
    identity.domains.remove(domain)


def remove_role(identity: IdentityRecords, role: Record) -> None:
    """A role, wherever it was given and whatever it implied."""
    key = role["id"]
    _remove_all(identity.assignments, identity.assignments.select(role_id=key))
    _remove_all(identity.implied_roles, identity.implied_roles.select(prior_id=key))
    _remove_all(identity.implied_roles, identity.implied_roles.select(implied_id=key))
    identity.roles.remove(role)


def revoke_grant(identity: IdentityRecords, assignment: Assignment) -> None:
    """Remove a role, and the application credentials that depend on it."""
    identity.assignments.remove(assignment)
    if assignment.target == "project" and assignment.actor == "user":
        owned = identity.application_credentials.select(user_id=assignment.actor_id)
        _remove_all(
            identity.application_credentials,
            [
                row
                for row in owned
                if row["project_id"] == assignment.target_id
                and any(role["id"] == assignment.role_id for role in row["roles"])
            ],
        )


def end_tokens(identity: IdentityRecords, user_id: str) -> None:
    """End every token of a user."""
    _remove_all(identity.tokens, identity.tokens.select(user_id=user_id))


def _remove_actor(identity: IdentityRecords, actor: Record) -> None:
    _remove_all(identity.assignments, identity.assignments.select(actor_id=actor["id"]))


def _remove_scope(identity: IdentityRecords, target: Target) -> None:
    """What was given on a project or domain."""
    _remove_all(identity.assignments, identity.assignments.select(target=target.kind, target_id=target.id))
    field = f"{target.kind}_id"
    for held in (identity.trusts, identity.credentials, identity.application_credentials, identity.limits):
        _remove_all(held, held.select(**{field: target.id}))


def _remove_all(rows: Rows[R], records: Iterable[R]) -> None:
    for record in records:
        rows.remove(record)
