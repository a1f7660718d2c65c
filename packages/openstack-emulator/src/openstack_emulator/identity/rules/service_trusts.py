"""Trusts by which users let a service act for them later: Aodh and Zaqar call URLs with a token of the user, Blazar
begins leases, and Mistral runs what is due.
"""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.cloud import Cloud, new_hex_id
from openstack_emulator.core.http import Request
from openstack_emulator.core.internal import call_service
from openstack_emulator.identity.records import DEFAULT_DOMAIN, User
from openstack_emulator.identity.rules.composition import Identity


def trust_for(cloud: Cloud, request: Request, name: str) -> tuple[str, bool]:
    """Return the ID of a trust of the caller in the user `name` of a service, and whether the trust is new.

    A caller who acts through a trust uses that one. Raises Keystone's ApiError.
    """
    if request.context.trust_id is not None:
        return request.context.trust_id, False
    return own_trust(cloud, request, name), True


def own_trust(cloud: Cloud, request: Request, name: str) -> str:
    """Return the ID of a new trust of the caller in the user `name` of a service.

    Raises Keystone's ApiError, also for a caller who acts through a trust that cannot be redelegated.
    """
    caller = request.context
    body = {
        "trustor_user_id": caller.user_id,
        "trustee_user_id": service_user(cloud, name),
        "impersonation": True,
        "project_id": caller.project,
        "roles": [{"name": name} for name in sorted(caller.roles)],
    }
    answer: Any = call_service(cloud, request, "POST", "/identity/v3/OS-TRUST/trusts", {"trust": body})
    return str(answer["trust"]["id"])


def end_trust(cloud: Cloud, trust_id: str) -> None:
    """Delete a trust, if it still exists."""
    rows = cloud.of(Identity).delegations.trusts.rows
    if (trust := rows.get(trust_id)) is not None:
        rows.remove(trust)


def token_of(cloud: Cloud, trust_id: str) -> str:
    """Return a token of a trust. Raises ApiError when the trust or its user no longer exists."""
    return cloud.of(Identity).authentication.of_trustor(trust_id)


def service_user(cloud: Cloud, name: str) -> str:
    """Return the ID of a service's user, who is created when first needed."""
    users = cloud.of(Identity).users
    known = users.rows.first(name=name, domain_id=DEFAULT_DOMAIN)
    return (known or users.create(User(id=new_hex_id(), name=name, domain_id=DEFAULT_DOMAIN))).id
