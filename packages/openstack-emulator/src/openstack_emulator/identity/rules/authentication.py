"""From `{"auth": {"identity": …, "scope": …}}` to a token."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import ApiError, bad_request, forbidden, not_found
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.identity.records import (
    SYSTEM,
    ApplicationCredential,
    Credential,
    Domain,
    Project,
    Target,
    Token,
    Trust,
    User,
)
from openstack_emulator.identity.rules.credentials import ec2_key
from openstack_emulator.identity.rules.errors import unauthorized
from openstack_emulator.identity.rules.grants import Grants
from openstack_emulator.identity.rules.owned import OwnedTables
from openstack_emulator.identity.rules.passwords import verify_password
from openstack_emulator.identity.rules.tokens import Delegation, Grant, Tokens

TRUST = "OS-TRUST:trust"
EC2_METHODS = ["ec2credential"]
Named = TypeVar("Named", User, Project)
Values = Mapping[str, Any]


@dataclass(frozen=True)
class VerifiedIdentity:
    """What one method has shown: who it is, and the token or application credential that said so."""

    user: User
    token: Token | None = None
    credential: ApplicationCredential | None = None


class Authentication(Rules):
    """Who asks for a token, and for what; `tokens` are those that were issued."""

    def __init__(
        self,
        records: Records,
        tokens: Tokens,
        users: Table[User],
        projects: Table[Project],
        domains: Table[Domain],
        grants: Grants,
        owned: OwnedTables,
    ) -> None:
        super().__init__(records)
        self.tokens = tokens
        self._users = users
        self._projects = projects
        self._domains = domains
        self._grants = grants
        self._trusts = owned.trusts
        self._credentials = owned.application_credentials
        self._methods: Mapping[str, Callable[[Values], VerifiedIdentity]] = {
            "password": self._by_password,
            "token": self._by_token,
            "application_credential": self._by_application_credential,
        }

    def authenticate(self, auth: Values) -> tuple[str, Grant]:
        """Check the credentials, find the scope, issue the token.

        Raises: ApiError 400 for a malformed request, 401 for wrong credentials or no role on the scope, 403 when a
        token of a trust is to be rescoped.
        """
        identity = _object(auth, "identity")
        methods = identity.get("methods")
        if not isinstance(methods, list) or not all(isinstance(name, str) for name in methods):
            raise bad_request("auth.identity.methods must be a list of method names.")
        if not methods:
            raise unauthorized()
        if not set(methods) <= set(self._methods):
            known = {"methods": sorted(self._methods)}
            raise ApiError(401, "Attempted to authenticate with an unsupported method.", identity=known)
        proofs = [self._methods[name](_object(identity, name)) for name in dict.fromkeys(methods)]
        user = proofs[0].user
        parent = next((proof.token for proof in proofs if proof.token is not None), None)
        credential = next((proof.credential for proof in proofs if proof.credential is not None), None)
        seen = [*methods, *(m for m in (() if parent is None else parent.methods) if m not in methods)]
        if any(proof.user is not user for proof in proofs) or not _enough(user, seen):
            raise unauthorized()
        if parent is not None and parent.trust_id is not None:
            raise forbidden("A token of a trust cannot be rescoped.")
        scope = auth.get("scope")
        if credential is not None:
            return self._for_credential(user, seen, credential, scope, parent)
        if isinstance(scope, dict) and TRUST in scope:
            return self._for_trust(user, seen, _object(scope, TRUST).get("id"), parent)
        target = self._target(scope) if "scope" in auth else self._default_target(user)
        return self.tokens.issue(user, seen, target, parent)

    def for_ec2(self, credential: Credential) -> tuple[str, Grant]:
        """A token for an EC2 credential's user and project, through the trust or application credential that its blob
        names. Raises ApiError 401.

        A credential that names a trust is the trustor's with impersonation, else the trustee's; with that of
        another user one could become someone one is not.
        """
        user, key = self._users.get(credential.user_id), ec2_key(credential)
        if user is None:
            raise unauthorized()
        if key.app_cred_id is not None:
            held = self._credentials.get(key.app_cred_id)
            if held is None or held.user_id != user.id:
                raise unauthorized()
            return self._for_credential(user, EC2_METHODS, held, None, None)
        if key.trust_id is None:
            return self.tokens.issue(user, EC2_METHODS, Target("project", credential.project_id or ""))
        trust = self._trusts.get(key.trust_id)
        if trust is None or user.id != (trust.trustor_user_id if trust.impersonation else trust.trustee_user_id):
            raise unauthorized()
        return self._for_trust(self._users.require(trust.trustee_user_id), EC2_METHODS, trust.id)

    def of_trustor(self, trust_id: str) -> str:
        """A token of a trust's user, for a service that acts for the user. Raises ApiError when either is gone."""
        trust = self._trusts.require(trust_id)
        user, target = self._users.require(trust.trustor_user_id), _target_of(trust)
        return self.tokens.issue(user, ["token"], target, through=Delegation(trust))[0]

    def _for_trust(
        self, trustee: User, methods: list[str], trust_id: object, parent: Token | None = None
    ) -> tuple[str, Grant]:
        """A token through a trust, which it uses up a little.

        Raises: ApiError 404 when there is no such trust or it is over, 403 when it is for another user or the trustor
        cannot give what it promises.
        """
        trust = self._trusts.get(trust_id) if isinstance(trust_id, str) else None
        if trust is None or self.tokens.trust_is_over(trust):
            raise not_found(f"Could not find trust: {trust_id}.")
        if trust.trustee_user_id != trustee.id:
            raise forbidden("User is not a trustee.")
        user = self._users.require(trust.trustor_user_id) if trust.impersonation else trustee
        try:
            token = self.tokens.issue(user, methods, _target_of(trust), parent, Delegation(trust))
        except ApiError as error:
            raise forbidden("The trustor is disabled or has no longer the roles of the trust.") from error
        if trust.remaining_uses is not None:
            self._trusts.update(trust, remaining_uses=trust.remaining_uses - 1)
        return token

    def _for_credential(
        self, user: User, methods: list[str], credential: ApplicationCredential, scope: object, parent: Token | None
    ) -> tuple[str, Grant]:
        """A token of an application credential; its project is the only scope there is."""
        target = Target("project", credential.project_id)
        if scope is not None and self._target(scope) != target:
            raise unauthorized()
        return self.tokens.issue(user, methods, target, parent, Delegation(credential=credential))

    def _by_password(self, values: Values) -> VerifiedIdentity:
        user_fields = _object(values, "user")
        password = user_fields.get("password")
        if password is None:
            raise unauthorized()
        if not isinstance(password, str):
            raise bad_request("auth.identity.password.user.password must be a string.")
        user = self._find(self._users, user_fields)
        right = verify_password(password, None if user is None else user.password)
        if user is None or not right:
            raise unauthorized()
        return VerifiedIdentity(user)

    def _by_token(self, values: Values) -> VerifiedIdentity:
        secret = values.get("id")
        if not isinstance(secret, str):
            raise bad_request("auth.identity.token.id must be a string.")
        granted = self.tokens.look_up(secret)
        if granted is None:
            raise unauthorized()
        credential = self._credentials.get(granted.token.application_credential_id or "")
        return VerifiedIdentity(granted.user, granted.token, credential)

    def _by_application_credential(self, values: Values) -> VerifiedIdentity:
        secret = values.get("secret")
        if not isinstance(secret, str):
            raise bad_request("auth.identity.application_credential.secret must be a string.")
        if isinstance(key := values.get("id"), str):
            credential = self._credentials.get(key)
        else:
            user = self._find(self._users, _object(values, "user"))
            named = {} if user is None else {"user_id": user.id, "name": values.get("name")}
            credential = self._credentials.first(**named) if named else None
        right = verify_password(secret, None if credential is None else credential.secret)
        if credential is None or not right:
            raise unauthorized()
        return VerifiedIdentity(self._users.require(credential.user_id), credential=credential)

    def _target(self, scope: object) -> Target | None:
        """What a scope names; 401 when there is no such thing, as Keystone answers."""
        if scope == "unscoped" or scope == {"unscoped": {}}:
            return None
        if not isinstance(scope, dict) or len(scope) != 1:
            raise bad_request("auth.scope must name one of project, domain, system.")
        [(kind, named)] = scope.items()
        if kind == "system" and named == {"all": True}:
            return SYSTEM
        if kind not in ("project", "domain") or not isinstance(named, dict):
            raise bad_request(f"auth.scope.{kind} is not a scope.")
        found = self._find(self._projects, named) if kind == "project" else self._find_domain(named)
        if found is None:
            raise unauthorized()
        return Target(kind, found.id)

    def _default_target(self, user: User) -> Target | None:
        """The user's default project when the request names no scope and the user has a role there."""
        if user.default_project_id is None or user.default_project_id not in self._projects:
            return None
        target = Target("project", user.default_project_id)
        return target if self._grants.roles_of(user.id, target) else None

    def _find(self, rows: Table[Named], body: Values) -> Named | None:
        """By `id`, or by `name` and `domain` (`{id}` or `{name}`)."""
        if isinstance(key := body.get("id"), str):
            return rows.get(key)
        name = _name(body)
        domain = self._find_domain(_object(body, "domain"))
        return None if domain is None else rows.first(name=name, domain_id=domain.id)

    def _find_domain(self, body: Values) -> Domain | None:
        """By `id` or `name`."""
        if isinstance(key := body.get("id"), str):
            return self._domains.get(key)
        return self._domains.first(name=_name(body))


def _target_of(trust: Trust) -> Target | None:
    return None if trust.project_id is None else Target("project", trust.project_id)


def _enough(user: User, methods: list[str]) -> bool:
    """Whether the methods satisfy one of the user's multi-factor rules, if the user has any."""
    rules = user.options.get("multi_factor_auth_rules")
    if not rules or not user.options.get("multi_factor_auth_enabled"):
        return True
    return any(set(rule) <= set(methods) for rule in rules)


def _name(body: Values) -> str:
    name = body.get("name")
    if not isinstance(name, str):
        raise bad_request("A user, project or domain is named by its id, or by its name.")
    return name


def _object(values: Values, key: str) -> Values:
    value = values.get(key)
    if not isinstance(value, dict):
        raise bad_request(f"'{key}' must be an object in the authentication request.")
    return value
