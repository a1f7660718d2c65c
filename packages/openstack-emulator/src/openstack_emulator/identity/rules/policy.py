"""Who may do what: Keystone's default policies as a table.

A rule is a tuple of conditions of which one must hold. A condition looks at the caller and at what the request is
about (the subject), of which it reads `domain_id`, `user_id`, `project_id` … as far as they apply.
"""

from __future__ import annotations

from collections.abc import Callable

from openstack_emulator.core.errors import ApiError, forbidden
from openstack_emulator.core.http import Context
from openstack_emulator.core.typed import Readable

Subject = Readable
Condition = Callable[[Context, Subject], bool]
Rule = tuple[Condition, ...]

MANAGED_ROLES = frozenset({"manager", "member", "reader"})
"""Roles a domain's manager may give away."""


def anyone(caller: Context, subject: Subject) -> bool:
    """Every caller."""
    return True


def admin(caller: Context, subject: Subject) -> bool:
    """Administrators."""
    return caller.is_admin


def system_reader(caller: Context, subject: Subject) -> bool:
    """Readers of the system."""
    return caller.system and "reader" in caller.roles


def domain_reader(caller: Context, subject: Subject) -> bool:
    """Readers of the subject's domain."""
    return "reader" in caller.roles and _in_domain(caller, subject)


def domain_manager(caller: Context, subject: Subject) -> bool:
    """Managers of the subject's domain."""
    return "manager" in caller.roles and _in_domain(caller, subject)


def domain_manager_of_role(caller: Context, subject: Subject) -> bool:
    """Managers of the subject's domain, for roles that managers may assign."""
    return domain_manager(caller, subject) and subject.get("role_name") in MANAGED_ROLES


def manager_of_global_role(caller: Context, subject: Subject) -> bool:
    """Managers, for roles that belong to no domain."""
    return "manager" in caller.roles and subject.get("domain_id") is None


def of_own_domain(caller: Context, subject: Subject) -> bool:
    """The domain the token is scoped to, or the one of its project."""
    return _known(subject, "domain_id") in (caller.domain_id, caller.project_domain_id)


def project_member(caller: Context, subject: Subject) -> bool:
    """Callers whose token is for the subject's project."""
    return caller.project_id == _known(subject, "project_id")


def owner(caller: Context, subject: Subject) -> bool:
    """The user to whom the subject belongs."""
    return caller.user_id == _known(subject, "user_id")


def trustor(caller: Context, subject: Subject) -> bool:
    """The user who has created the trust."""
    return caller.user_id == _known(subject, "trustor_user_id")


def trustee(caller: Context, subject: Subject) -> bool:
    """The user for whom the trust was created."""
    return caller.user_id == _known(subject, "trustee_user_id")


def _in_domain(caller: Context, subject: Subject) -> bool:
    return caller.domain_id is not None and caller.domain_id == subject.get("domain_id")


def _known(subject: Subject, key: str) -> object:
    """A value that equals no caller's when the subject has none."""
    value = subject.get(key)
    return object() if value is None else value


ANYONE: Rule = (anyone,)
ADMIN: Rule = (admin,)
READ: Rule = (admin, system_reader)
DOMAIN_READ: Rule = (*READ, domain_reader)
DOMAIN_WRITE: Rule = (admin, domain_manager)
OWNER_READ: Rule = (*READ, owner)
OWNER_WRITE: Rule = (admin, owner)

RULES: dict[str, Rule] = {
    "get_domain": (*READ, of_own_domain),
    "list_domains": DOMAIN_READ,
    "get_project": (*DOMAIN_READ, project_member),
    "list_projects": DOMAIN_READ,
    "list_user_projects": (*DOMAIN_READ, owner),
    "write_project": DOMAIN_WRITE,
    "get_project_tag": (*DOMAIN_READ, project_member),
    "write_project_tag": DOMAIN_WRITE,
    "get_user": (*DOMAIN_READ, owner),
    "list_users": DOMAIN_READ,
    "list_groups_for_user": (*DOMAIN_READ, owner),
    "write_user": DOMAIN_WRITE,
    "get_group": DOMAIN_READ,
    "list_groups": DOMAIN_READ,
    "list_users_in_group": DOMAIN_READ,
    "check_user_in_group": (*DOMAIN_READ, owner),
    "write_group": DOMAIN_WRITE,
    "get_role": (*READ, manager_of_global_role),
    "list_roles": (*READ, manager_of_global_role),
    "write_role": ADMIN,
    "get_implied_role": READ,
    "write_implied_role": ADMIN,
    "check_grant": DOMAIN_READ,
    "list_grants": DOMAIN_READ,
    "write_grant": (admin, domain_manager_of_role),
    "list_role_assignments": DOMAIN_READ,
    "list_role_assignments_for_tree": DOMAIN_READ,
    "get_region": ANYONE,
    "list_regions": ANYONE,
    "write_region": ADMIN,
    "get_service": READ,
    "list_services": READ,
    "write_service": ADMIN,
    "get_endpoint": READ,
    "list_endpoints": READ,
    "write_endpoint": ADMIN,
    "get_policy": READ,
    "list_policies": READ,
    "write_policy": ADMIN,
    "get_credential": OWNER_READ,
    "list_credentials": OWNER_READ,
    "write_credential": OWNER_WRITE,
    "get_ec2_credential": OWNER_READ,
    "write_ec2_credential": OWNER_WRITE,
    "create_trust": (trustor,),
    "list_trusts": READ,
    "list_own_trusts": (*READ, trustor, trustee),
    "get_trust": (*READ, trustor, trustee),
    "delete_trust": (admin, trustor),
    "create_application_credential": (owner,),
    "get_application_credential": OWNER_READ,
    "delete_application_credential": OWNER_WRITE,
    "get_access_rule": OWNER_READ,
    "delete_access_rule": OWNER_WRITE,
    "get_registered_limit": ANYONE,
    "list_registered_limits": ANYONE,
    "write_registered_limit": ADMIN,
    "get_limit": (*DOMAIN_READ, project_member),
    "list_limits": ANYONE,
    "write_limit": ADMIN,
    "write_domain": ADMIN,
    "get_domain_config": READ,
    "write_domain_config": ADMIN,
    "get_consumer": READ,
    "list_consumers": READ,
    "write_consumer": ADMIN,
    "get_endpoint_group": READ,
    "list_endpoint_groups": READ,
    "write_endpoint_group": ADMIN,
    "get_endpoint_filter": READ,
    "write_endpoint_filter": ADMIN,
}
OPERATOR_RULES = frozenset({"write_region", "write_service", "write_endpoint", "write_policy", "write_domain"})
"""Not for a token scoped to a domain, whoever holds it: what they change is the whole cloud's."""


def allowed(caller: Context, rule: str, subject: Subject) -> bool:
    """Whether the caller may."""
    if rule in OPERATOR_RULES and caller.domain_id is not None:
        return False
    return any(condition(caller, subject) for condition in RULES[rule])


def enforce(caller: Context, rule: str, subject: Subject | None = None, verb: str = "") -> None:
    """403 unless the caller may. verb: what Keystone's rule has in place of `write`, as `create`."""
    if not allowed(caller, rule, subject or {}):
        raise denied(f"{verb}_{rule.removeprefix('write_').removeprefix('ec2_')}" if verb else rule)


def own(caller: Context) -> Subject:
    """The widest subject that is the caller's own: decides whether a list may be asked for at all."""
    return {"domain_id": caller.domain_id, "user_id": caller.user_id, "project_id": caller.project_id}


def denied_because(reason: str) -> ApiError:
    """403 for another reason than a policy rule."""
    return forbidden(f"You are not authorized to perform the requested action: {reason}")


def denied(rule: str) -> ApiError:
    """Keystone's 403, which names the policy rule."""
    return forbidden(f"You are not authorized to perform the requested action: identity:{rule}.")
