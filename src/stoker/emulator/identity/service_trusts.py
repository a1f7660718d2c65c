"""Trusts by which users let a service act for them later: Aodh when an alarm fires, Blazar when a lease begins."""

from __future__ import annotations

from typing import Any

from stoker.emulator.core.cloud import Cloud
from stoker.emulator.core.http import Request
from stoker.emulator.core.internal import ask
from stoker.emulator.identity.records import DEFAULT_DOMAIN, IdentityRecords


def trust_for(cloud: Cloud, request: Request, service_user: str) -> tuple[str, bool]:
    """Return the ID of a trust of the caller in the user of a service, and whether the trust is new.

    A caller who acts through a trust uses that one. Raises Keystone's ApiError.
    """
    caller = request.context
    if caller.trust_id is not None:
        return caller.trust_id, False
    wanted = {
        "trustor_user_id": caller.user_id,
        "trustee_user_id": _user(cloud, service_user),
        "impersonation": True,
        "project_id": caller.project,
        "roles": [{"name": name} for name in sorted(caller.roles)],
    }
    made: Any = ask(cloud, request, "POST", "/identity/v3/OS-TRUST/trusts", {"trust": wanted})
    return str(made["trust"]["id"]), True


def end_trust(cloud: Cloud, trust_id: str) -> None:
    """Delete a trust, if it still exists."""
    trusts = cloud.of(IdentityRecords).trusts
    if (trust := trusts.get(trust_id)) is not None:
        trusts.remove(trust)


def _user(cloud: Cloud, name: str) -> str:
    identity = cloud.of(IdentityRecords)
    known = identity.users.first(name=name, domain_id=DEFAULT_DOMAIN)
    return str((known or identity.create_user(name, DEFAULT_DOMAIN, None))["id"])
