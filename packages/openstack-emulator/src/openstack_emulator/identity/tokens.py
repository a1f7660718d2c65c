"""Tokens: issue, look up, describe, revoke.

A token is random text; its record is kept under the SHA-256 of it, so a look-up compares digests and its timing
tells nothing, and a state file holds no usable token. Roles are taken from the assignments when the token is
looked up: a role taken away, a disabled user or a deleted project ends it.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from openstack_emulator.core.errors import ApiError, forbidden
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Record, public
from openstack_emulator.identity.catalog import catalog
from openstack_emulator.identity.records import IdentityRecords, Target, Token
from stoker_foundation.clock import isoformat_micro

LIFETIME = 3600.0
"""Seconds, Keystone's default."""
PARTIES = ("trustor_user_id", "trustee_user_id", "user_id")
PRUNE_EVERY = 256
"""Expired tokens are dropped when this many have been issued."""


@dataclass(frozen=True)
class Grant:
    """A token that is valid now."""

    token: Token
    user: Record
    target: Target | None
    scope: Record | None
    roles: list[Record]


def issue(
    identity: IdentityRecords,
    user: Record,
    methods: list[str],
    target: Target | None,
    parent: Token | None = None,
    trust_id: str | None = None,
    application_credential_id: str | None = None,
) -> tuple[str, Grant]:
    """A new token. One made from another (`parent`) ends when that one ends.

    trust_id, application_credential_id: what the user acts through; the token ends with it.

    Raises: ApiError 401 when the user has no role on the target.
    """
    now = identity.cloud.clock.now()
    if len(identity.tokens) % PRUNE_EVERY == PRUNE_EVERY - 1:
        _prune(identity, now)
    secret = "g" + secrets.token_urlsafe(48)
    token = Token(
        id=_digest(secret),
        user_id=user["id"],
        methods=methods,
        issued_at=now,
        expires_at=now + LIFETIME if parent is None else parent.expires_at,
        audit_ids=[secrets.token_urlsafe(16), *(parent.audit_ids[-1:] if parent is not None else [])],
        target=None if target is None else [target.kind, target.id],
        trust_id=trust_id,
        application_credential_id=application_credential_id,
    )
    ends = [d["expires_at"] for d in _delegations(identity, token) if d is not None and d["expires_at"] is not None]
    token.expires_at = min([token.expires_at, *ends])
    granted = _examine(identity, token)
    if granted is None:
        raise ApiError(401, "The request you have made requires authentication.")
    identity.tokens.add(token)
    return secret, granted


def look_up(identity: IdentityRecords, secret: str) -> Grant | None:
    """What a token grants now; None when it is unknown, revoked or expired."""
    token = identity.tokens.get(_digest(secret))
    if token is None or token.expires_at <= identity.cloud.clock.now():
        return None
    return _examine(identity, token)


def revoke(identity: IdentityRecords, secret: str) -> None:
    """Revoke a token; does nothing when it is unknown."""
    token = identity.tokens.get(_digest(secret))
    if token is not None:
        identity.tokens.remove(token)


def context(identity: IdentityRecords, secret: str) -> Context | None:
    """The caller that a token stands for; None when it is not valid."""
    granted = look_up(identity, secret)
    if granted is None:
        return None
    user, scope, target = granted.user, granted.scope, granted.target
    project = scope if target is not None and target.kind == "project" else None
    return Context(
        token_id=granted.token.id,
        user_id=user["id"],
        user_name=user["name"],
        user_domain_id=user["domain_id"],
        roles=frozenset(role["name"] for role in granted.roles),
        project_id=None if project is None else project["id"],
        project_name=None if project is None else project["name"],
        project_domain_id=None if project is None else project["domain_id"],
        domain_id=target.id if target is not None and target.kind == "domain" else None,
        system=target is not None and target.kind == "system",
        trust_id=granted.token.trust_id,
    )


def describe(identity: IdentityRecords, granted: Grant, with_catalog: bool = True) -> dict[str, Any]:
    """The body `{"token": …}`."""
    token, user = granted.token, granted.user
    body: dict[str, Any] = {
        "methods": token.methods,
        "user": {
            "id": user["id"],
            "name": user["name"],
            "domain": domain_ref(identity, user["domain_id"]),
            "password_expires_at": user["password_expires_at"],
        },
        "audit_ids": token.audit_ids,
        "issued_at": isoformat_micro(token.issued_at) + "Z",
        "expires_at": isoformat_micro(token.expires_at) + "Z",
    }
    if granted.target is not None:
        body["is_domain"] = False
        body["roles"] = [{"id": role["id"], "name": role["name"]} for role in granted.roles]
        body.update(_scope(identity, granted))
        if with_catalog:
            body["catalog"] = catalog(identity, user["id"], body.get("project", {}).get("id"))
    return {"token": {**body, **_delegation(identity, token)}}


def trust_is_over(identity: IdentityRecords, trust: Record) -> bool:
    """Whether no more tokens can be issued through a trust."""
    return trust["remaining_uses"] == 0 or _is_past(identity, trust)


def forbid_restricted(identity: IdentityRecords, caller: Context, what: str) -> None:
    """403 for a token of a restricted application credential."""
    credential = application_credential_of(identity, caller)
    if credential is not None and not credential["unrestricted"]:
        raise forbidden(f"Using method 'application_credential' is not allowed for {what}.")


def application_credential_of(identity: IdentityRecords, caller: Context) -> Record | None:
    """The application credential that the caller's token was issued for."""
    token = identity.tokens.require(caller.token_id)
    return identity.application_credentials.get(token.application_credential_id or "")


def domain_ref(identity: IdentityRecords, key: str) -> dict[str, str]:
    domain = identity.domains.require(key)
    return {"id": domain["id"], "name": domain["name"]}


def _scope(identity: IdentityRecords, granted: Grant) -> dict[str, Any]:
    target, scope = granted.target, granted.scope
    if target is None or scope is None:
        return {"system": {"all": True}}
    if target.kind == "domain":
        return {"domain": {"id": scope["id"], "name": scope["name"]}}
    domain = domain_ref(identity, scope["domain_id"])
    return {"project": {"id": scope["id"], "name": scope["name"], "domain": domain}}


def _examine(identity: IdentityRecords, token: Token) -> Grant | None:
    """The grant of a token whose user and scope are enabled and who still has a role there."""
    user = identity.users.get(token.user_id)
    if user is None or not _enabled(identity, user):
        return None
    if not all(_holds(identity, delegation) for delegation in _delegations(identity, token)):
        return None
    if token.target is None:
        return Grant(token, user, None, None, [])
    target = Target(*token.target)
    scope = None
    if target.kind != "system":
        scope = (identity.projects if target.kind == "project" else identity.domains).get(target.id)
        if scope is None or not _enabled(identity, scope):
            return None
    roles = _roles(identity, token, target)
    return Grant(token, user, target, scope, roles) if roles else None


def _roles(identity: IdentityRecords, token: Token, target: Target) -> list[Record]:
    """The roles held on the target, reduced to those delegated. A trust is worth nothing without all of its roles."""
    trust, credential = _delegations(identity, token)
    held = identity.roles_of(token.user_id if trust is None else trust["trustor_user_id"], target)
    if trust is not None:
        if not set(trust["roles"]) <= {role["id"] for role in held}:
            return []
        held = _only(held, identity.with_implied(set(trust["roles"])))
    if credential is not None:
        held = _only(held, identity.with_implied({role["id"] for role in credential["roles"]}))
    return held


def _only(roles: list[Record], ids: list[str]) -> list[Record]:
    return [role for role in roles if role["id"] in ids]


def _delegations(identity: IdentityRecords, token: Token) -> list[Record | None]:
    """The trust and the application credential of a token; one that is gone is an empty record."""
    return [
        None if key is None else held.get(key) or {}
        for key, held in (
            (token.trust_id, identity.trusts),
            (token.application_credential_id, identity.application_credentials),
        )
    ]


def _holds(identity: IdentityRecords, delegation: Record | None) -> bool:
    """Whether a trust or application credential is there, in time, and its users enabled."""
    if delegation is None:
        return True
    if not delegation or _is_past(identity, delegation):
        return False
    parties = [identity.users.get(delegation[key]) for key in PARTIES if key in delegation]
    return all(user is not None and _enabled(identity, user) for user in parties)


def _is_past(identity: IdentityRecords, delegation: Record) -> bool:
    return delegation["expires_at"] is not None and delegation["expires_at"] <= identity.cloud.clock.now()


def _delegation(identity: IdentityRecords, token: Token) -> dict[str, Any]:
    """What a token says about the trust or application credential behind it."""
    trust, credential = _delegations(identity, token)
    shown: dict[str, Any] = {}
    if trust:
        shown["OS-TRUST:trust"] = {
            "id": trust["id"],
            "impersonation": trust["impersonation"],
            "trustor_user": {"id": trust["trustor_user_id"]},
            "trustee_user": {"id": trust["trustee_user_id"]},
        }
    if credential:
        shown["application_credential"] = {
            "id": credential["id"],
            "name": credential["name"],
            "restricted": not credential["unrestricted"],
        }
        if credential["access_rules"] is not None:
            shown["application_credential"]["access_rules"] = [
                public(rule) for key in credential["access_rules"] if (rule := identity.access_rules.get(key))
            ]
    return shown


def _enabled(identity: IdentityRecords, record: Record) -> bool:
    """Whether a user, project or domain is enabled, and the domain it is in."""
    domain = identity.domains.get(record["domain_id"]) if "domain_id" in record else record
    return bool(record["enabled"] and domain is not None and domain["enabled"])


def _prune(identity: IdentityRecords, now: float) -> None:
    for token in identity.tokens:
        if token.expires_at <= now:
            identity.tokens.remove(token)


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
