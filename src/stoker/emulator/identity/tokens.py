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

from stoker.base.clock import isoformat_micro
from stoker.emulator.core.errors import ApiError
from stoker.emulator.core.http import Context
from stoker.emulator.core.store import Record
from stoker.emulator.identity.catalog import catalog
from stoker.emulator.identity.records import IdentityRecords, Target

LIFETIME = 3600.0
"""Seconds, Keystone's default."""
PRUNE_EVERY = 256
"""Expired tokens are dropped when this many have been issued."""


@dataclass(frozen=True)
class Grant:
    """A token that is valid now."""

    token: Record
    user: Record
    target: Target | None
    scope: Record | None
    roles: list[Record]


def issue(
    identity: IdentityRecords,
    user: Record,
    methods: list[str],
    target: Target | None,
    parent: Record | None = None,
    **extra: Any,
) -> tuple[str, Grant]:
    """A new token. One made from another (`parent`) ends when that one ends.

    Raises: ApiError 401 when the user has no role on the target.
    """
    now = identity.cloud.clock.now()
    if len(identity.tokens) % PRUNE_EVERY == PRUNE_EVERY - 1:
        _prune(identity, now)
    secret = "g" + secrets.token_urlsafe(48)
    token = {
        "id": _digest(secret),
        "user_id": user["id"],
        "methods": methods,
        "issued_at": now,
        "expires_at": parent["expires_at"] if parent is not None else now + LIFETIME,
        "audit_ids": [secrets.token_urlsafe(16), *(parent["audit_ids"][-1:] if parent is not None else [])],
        "target": None if target is None else [target.kind, target.id],
        **extra,
    }
    granted = _examine(identity, token)
    if granted is None:
        raise ApiError(401, "The request you have made requires authentication.")
    identity.tokens.add(token)
    return secret, granted


def look_up(identity: IdentityRecords, secret: str) -> Grant | None:
    """What a token grants now; None when it is unknown, revoked or expired."""
    token = identity.tokens.get(_digest(secret))
    if token is None or token["expires_at"] <= identity.cloud.clock.now():
        return None
    return _examine(identity, token)


def revoke(identity: IdentityRecords, secret: str) -> None:
    """End a token; harmless when it is gone."""
    token = identity.tokens.get(_digest(secret))
    if token is not None:
        identity.tokens.remove(token)


def context(identity: IdentityRecords, secret: str) -> Context | None:
    """Who asks with this token; None when it is not valid."""
    granted = look_up(identity, secret)
    if granted is None:
        return None
    user, scope, target = granted.user, granted.scope, granted.target
    project = scope if target is not None and target.kind == "project" else None
    return Context(
        token_id=granted.token["id"],
        user_id=user["id"],
        user_name=user["name"],
        user_domain_id=user["domain_id"],
        roles=frozenset(role["name"] for role in granted.roles),
        project_id=None if project is None else project["id"],
        project_name=None if project is None else project["name"],
        project_domain_id=None if project is None else project["domain_id"],
        domain_id=target.id if target is not None and target.kind == "domain" else None,
        system=target is not None and target.kind == "system",
        trust_id=granted.token.get("trust_id"),
    )


def describe(identity: IdentityRecords, granted: Grant, with_catalog: bool = True) -> dict[str, Any]:
    """The body `{"token": …}`."""
    token, user = granted.token, granted.user
    body: dict[str, Any] = {
        "methods": token["methods"],
        "user": {
            "id": user["id"],
            "name": user["name"],
            "domain": domain_ref(identity, user["domain_id"]),
            "password_expires_at": user["password_expires_at"],
        },
        "audit_ids": token["audit_ids"],
        "issued_at": isoformat_micro(token["issued_at"]) + "Z",
        "expires_at": isoformat_micro(token["expires_at"]) + "Z",
    }
    if granted.target is not None:
        body["is_domain"] = False
        body["roles"] = [{"id": role["id"], "name": role["name"]} for role in granted.roles]
        body.update(_scope(identity, granted))
        if with_catalog:
            body["catalog"] = catalog(identity, user["id"], body.get("project", {}).get("id"))
    return {"token": body}


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


def _examine(identity: IdentityRecords, token: Record) -> Grant | None:
    """The grant of a token whose user and scope are enabled and who still has a role there."""
    user = identity.users.get(token["user_id"])
    if user is None or not _enabled(identity, user):
        return None
    if token["target"] is None:
        return Grant(token, user, None, None, [])
    target = Target(*token["target"])
    scope = None
    if target.kind != "system":
        scope = (identity.projects if target.kind == "project" else identity.domains).get(target.id)
        if scope is None or not _enabled(identity, scope):
            return None
    roles = identity.roles_of(user["id"], target)
    return Grant(token, user, target, scope, roles) if roles else None


def _enabled(identity: IdentityRecords, record: Record) -> bool:
    """Whether a user, project or domain is enabled, and the domain it is in."""
    domain = identity.domains.get(record["domain_id"]) if "domain_id" in record else record
    return bool(record["enabled"] and domain is not None and domain["enabled"])


def _prune(identity: IdentityRecords, now: float) -> None:
    for token in identity.tokens:
        if token["expires_at"] <= now:
            identity.tokens.remove(token)


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
