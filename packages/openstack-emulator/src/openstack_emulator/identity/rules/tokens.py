"""Tokens: issue, look up, revoke.

A token is random text; its record is kept under the SHA-256 of it, so a look-up compares digests and its timing
tells nothing, and a state file holds no usable token. Roles are taken from the assignments when the token is
looked up: a role taken away, a disabled user or a deleted project ends it.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import forbidden
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.identity.records import ApplicationCredential, Domain, Project, Role, Target, Token, Trust, User
from openstack_emulator.identity.rules.errors import unauthorized
from openstack_emulator.identity.rules.grants import Grants
from openstack_emulator.identity.rules.owned import OwnedTables

LIFETIME = 3600.0
"""Seconds, Keystone's default."""
PRUNE_EVERY = 256
"""Expired tokens are dropped when this many have been issued."""


@dataclass(frozen=True)
class Delegation:
    """What a user acts through: a trust, an application credential, or neither."""

    trust: Trust | None = None
    credential: ApplicationCredential | None = None

    @property
    def ends(self) -> list[float]:
        """When it ends, in seconds since the epoch."""
        return [each.expires_at for each in (self.trust, self.credential) if each and each.expires_at is not None]

    @property
    def parties(self) -> list[str]:
        """The IDs of the users who must be enabled."""
        of_trust = [] if self.trust is None else [self.trust.trustor_user_id, self.trust.trustee_user_id]
        return of_trust if self.credential is None else [*of_trust, self.credential.user_id]


NOTHING = Delegation()


@dataclass(frozen=True)
class Grant:
    """A token that is valid now. scope: what its target names; None of the system."""

    token: Token
    user: User
    target: Target | None = None
    scope: Project | Domain | None = None
    roles: list[Role] = field(default_factory=list)

    @property
    def project(self) -> Project | None:
        """The project that the token is scoped to, if it is."""
        return self.scope if isinstance(self.scope, Project) else None


class Tokens(Rules):
    """Tokens, and what they grant."""

    def __init__(
        self,
        records: Records,
        users: Table[User],
        domains: Table[Domain],
        projects: Table[Project],
        grants: Grants,
        owned: OwnedTables,
    ) -> None:
        super().__init__(records)
        self.rows = owned.tokens
        self._users = users
        self._domains = domains
        self._projects = projects
        self._grants = grants
        self._trusts = owned.trusts
        self._credentials = owned.application_credentials

    def issue(
        self,
        user: User,
        methods: list[str],
        target: Target | None,
        parent: Token | None = None,
        through: Delegation = NOTHING,
    ) -> tuple[str, Grant]:
        """A new token. One made from another (`parent`) ends when that one ends, and with what the user acts through.

        Raises: ApiError 401 when the user has no role on the target.
        """
        now = self.cloud.clock.now()
        if len(self.rows) % PRUNE_EVERY == PRUNE_EVERY - 1:
            self._prune(now)
        secret = "g" + secrets.token_urlsafe(48)
        token = Token(
            id=_digest(secret),
            user_id=user.id,
            methods=methods,
            issued_at=now,
            expires_at=min([now + LIFETIME if parent is None else parent.expires_at, *through.ends]),
            audit_ids=[secrets.token_urlsafe(16), *(parent.audit_ids[-1:] if parent is not None else [])],
            target=None if target is None else [target.kind, target.id],
            trust_id=None if through.trust is None else through.trust.id,
            application_credential_id=None if through.credential is None else through.credential.id,
        )
        granted = self._examine(token)
        if granted is None:
            raise unauthorized()
        self.rows.add(token)
        return secret, granted

    def look_up(self, secret: str) -> Grant | None:
        """What a token grants now; None when it is unknown, revoked or expired."""
        token = self.rows.get(_digest(secret))
        if token is None or token.expires_at <= self.cloud.clock.now():
            return None
        return self._examine(token)

    def revoke(self, secret: str) -> None:
        """Revoke a token; does nothing when it is unknown."""
        token = self.rows.get(_digest(secret))
        if token is not None:
            self.rows.remove(token)

    def context(self, secret: str) -> Context | None:
        """The caller that a token stands for; None when it is not valid."""
        granted = self.look_up(secret)
        if granted is None:
            return None
        user, project, target = granted.user, granted.project, granted.target
        return Context(
            token_id=granted.token.id,
            user_id=user.id,
            user_name=user.name,
            user_domain_id=user.domain_id,
            roles=frozenset([role.name for role in granted.roles]),
            project_id=None if project is None else project.id,
            project_name=None if project is None else project.name,
            project_domain_id=None if project is None else project.domain_id,
            domain_id=target.id if target is not None and target.kind == "domain" else None,
            system=target is not None and target.kind == "system",
            trust_id=granted.token.trust_id,
        )

    def trust_is_over(self, trust: Trust) -> bool:
        """Whether no more tokens can be issued through a trust."""
        return trust.remaining_uses == 0 or self._is_past(trust.expires_at)

    def credential_of(self, caller: Context) -> ApplicationCredential | None:
        """The application credential that the caller's token was issued for."""
        return self._credentials.get(self.rows.require(caller.token_id).application_credential_id or "")

    def is_delegated(self, caller: Context) -> bool:
        """Whether the caller acts through a trust or an application credential."""
        return caller.trust_id is not None or self.credential_of(caller) is not None

    def forbid_restricted(self, caller: Context, what: str) -> None:
        """Raise ApiError 403 for a token of a restricted application credential."""
        credential = self.credential_of(caller)
        if credential is not None and not credential.unrestricted:
            raise forbidden(f"Using method 'application_credential' is not allowed for {what}.")

    def delegation(self, token: Token) -> Delegation | None:
        """What a token acts through; None when that is gone."""
        if token.trust_id is None and token.application_credential_id is None:
            return NOTHING
        trust = None if token.trust_id is None else self._trusts.get(token.trust_id)
        key = token.application_credential_id
        credential = None if key is None else self._credentials.get(key)
        gone = (token.trust_id is not None and trust is None) or (key is not None and credential is None)
        return None if gone else Delegation(trust, credential)

    def _examine(self, token: Token) -> Grant | None:
        """The grant of a token whose user and scope are enabled and who still has a role there."""
        user = self._users.get(token.user_id)
        through = self.delegation(token)
        if user is None or not self._is_enabled(user) or through is None or not self._holds(through):
            return None
        if token.target is None:
            return Grant(token, user)
        target, scope = Target(*token.target), None
        if target.kind != "system":
            scope = self._projects.get(target.id) if target.kind == "project" else self._domains.get(target.id)
            if scope is None or not self._is_enabled(scope):
                return None
        roles = self._roles(token, target, through)
        return Grant(token, user, target, scope, roles) if roles else None

    def _roles(self, token: Token, target: Target, through: Delegation) -> list[Role]:
        """The roles held on the target, reduced to those delegated. A trust is invalid without all of its
        roles."""
        trust, credential = through.trust, through.credential
        held = self._grants.roles_of(token.user_id if trust is None else trust.trustor_user_id, target)
        if trust is not None:
            if not set(trust.roles) <= {role.id for role in held}:
                return []
            held = self._only(held, trust.roles)
        if credential is not None:
            held = self._only(held, (role.id for role in credential.roles))
        return held

    def _only(self, roles: list[Role], delegated: Iterable[str]) -> list[Role]:
        keys = self._grants.roles.with_implied(set(delegated))
        return [role for role in roles if role.id in keys]

    def _holds(self, through: Delegation) -> bool:
        """Whether a trust or application credential is in time, and its users enabled."""
        if any(self._is_past(end) for end in through.ends):
            return False
        parties = [self._users.get(key) for key in through.parties]
        return all(user is not None and self._is_enabled(user) for user in parties)

    def _is_past(self, end: float | None) -> bool:
        return end is not None and end <= self.cloud.clock.now()

    def _is_enabled(self, record: User | Project | Domain) -> bool:
        """Whether a user, project or domain is enabled, and the domain it is in."""
        domain = record if isinstance(record, Domain) else self._domains.get(record.domain_id)
        return record.enabled and domain is not None and domain.enabled

    def _prune(self, now: float) -> None:
        for token in self.rows:
            if token.expires_at <= now:
                self.rows.remove(token)


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
