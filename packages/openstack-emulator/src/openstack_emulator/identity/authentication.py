"""From `{"auth": {"identity": …, "scope": …}}` to a token."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from openstack_emulator.core.errors import ApiError, bad_request, forbidden, not_found
from openstack_emulator.core.store import Collection, Record
from openstack_emulator.identity.passwords import verify_password
from openstack_emulator.identity.records import SYSTEM, IdentityRecords, Target, Token
from openstack_emulator.identity.tokens import Grant, issue, look_up, trust_is_over


@dataclass(frozen=True)
class Proof:
    """What one method has shown: who it is, and the token or application credential that said so."""

    user: Record
    token: Token | None = None
    credential: Record | None = None


Method = Callable[[IdentityRecords, dict[str, Any]], Proof]


def authenticate(identity: IdentityRecords, auth: dict[str, Any]) -> tuple[str, Grant]:
    """Check the credentials, find the scope, issue the token.

    Raises: ApiError 400 for a malformed request, 401 for wrong credentials or no role on the scope, 403 when a
    token of a trust is to be rescoped.
    """
    given = _object(auth, "identity")
    methods = given.get("methods")
    if not isinstance(methods, list) or not all(isinstance(name, str) for name in methods):
        raise bad_request("auth.identity.methods must be a list of method names.")
    if not methods:
        raise unauthorized()
    if not set(methods) <= set(METHODS):
        raise ApiError(
            401, "Attempted to authenticate with an unsupported method.", identity={"methods": sorted(METHODS)}
        )
    proofs = [METHODS[name](identity, _object(given, name)) for name in dict.fromkeys(methods)]
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
        return _issue_for_credential(identity, user, seen, credential, scope, parent)
    if isinstance(scope, dict) and TRUST in scope:
        return issue_for_trust(identity, user, seen, _object(scope, TRUST).get("id"), parent)
    target = _target(identity, scope) if "scope" in auth else _default_target(identity, user)
    return issue(identity, user, seen, target, parent)


def issue_for_trust(
    identity: IdentityRecords, trustee: Record, methods: list[str], trust_id: object, parent: Token | None = None
) -> tuple[str, Grant]:
    """A token through a trust, which it uses up a little.

    Raises: ApiError 404 when there is no such trust or it is over, 403 when it is for another user or the trustor
    cannot give what it promises.
    """
    trust = identity.trusts.get(trust_id) if isinstance(trust_id, str) else None
    if trust is None or trust_is_over(identity, trust):
        raise not_found(f"Could not find trust: {trust_id}.")
    if trust["trustee_user_id"] != trustee["id"]:
        raise forbidden("User is not a trustee.")
    user = identity.users.require(trust["trustor_user_id"]) if trust["impersonation"] else trustee
    target = None if trust["project_id"] is None else Target("project", trust["project_id"])
    try:
        made = issue(identity, user, methods, target, parent, trust_id=trust["id"])
    except ApiError as error:
        raise forbidden("The trustor is disabled or has no longer the roles of the trust.") from error
    if trust["remaining_uses"] is not None:
        identity.trusts.update(trust, remaining_uses=trust["remaining_uses"] - 1)
    return made


def _issue_for_credential(
    identity: IdentityRecords,
    user: Record,
    methods: list[str],
    credential: Record,
    scope: Any,
    parent: Token | None,
) -> tuple[str, Grant]:
    """A token of an application credential; its project is the only scope there is."""
    target = Target("project", credential["project_id"])
    if scope is not None and _target(identity, scope) != target:
        raise unauthorized()
    return issue(identity, user, methods, target, parent, application_credential_id=credential["id"])


def _enough(user: Record, methods: list[str]) -> bool:
    """Whether the methods satisfy one of the user's multi-factor rules, if the user has any."""
    rules = user["options"].get("multi_factor_auth_rules")
    if not rules or not user["options"].get("multi_factor_auth_enabled"):
        return True
    return any(set(rule) <= set(methods) for rule in rules)


def unauthorized() -> ApiError:
    """The same error for every reason, so that nothing about accounts is revealed."""
    return ApiError(401, "The request you have made requires authentication.")


def _by_password(identity: IdentityRecords, given: dict[str, Any]) -> Proof:
    wanted = _object(given, "user")
    password = wanted.get("password")
    if password is None:
        raise unauthorized()
    if not isinstance(password, str):
        raise bad_request("auth.identity.password.user.password must be a string.")
    user = _find(identity, identity.users, wanted)
    right = verify_password(password, None if user is None else user["_password"])
    if user is None or not right:
        raise unauthorized()
    return Proof(user)


def _by_token(identity: IdentityRecords, given: dict[str, Any]) -> Proof:
    secret = given.get("id")
    if not isinstance(secret, str):
        raise bad_request("auth.identity.token.id must be a string.")
    granted = look_up(identity, secret)
    if granted is None:
        raise unauthorized()
    credential = identity.application_credentials.get(granted.token.application_credential_id or "")
    return Proof(granted.user, granted.token, credential)


def _by_application_credential(identity: IdentityRecords, given: dict[str, Any]) -> Proof:
    secret = given.get("secret")
    if not isinstance(secret, str):
        raise bad_request("auth.identity.application_credential.secret must be a string.")
    held = identity.application_credentials
    if isinstance(key := given.get("id"), str):
        credential = held.get(key)
    else:
        user = _find(identity, identity.users, _object(given, "user"))
        credential = None if user is None else held.first(user_id=user["id"], name=given.get("name"))
    right = verify_password(secret, None if credential is None else credential["_secret"])
    if credential is None or not right:
        raise unauthorized()
    return Proof(identity.users.require(credential["user_id"]), credential=credential)


METHODS: dict[str, Method] = {
    "password": _by_password,
    "token": _by_token,
    "application_credential": _by_application_credential,
}
TRUST = "OS-TRUST:trust"


def _target(identity: IdentityRecords, scope: Any) -> Target | None:
    """What a scope names; 401 when there is no such thing, as Keystone answers."""
    if scope == "unscoped" or scope == {"unscoped": {}}:
        return None
    if not isinstance(scope, dict) or len(scope) != 1:
        raise bad_request("auth.scope must name one of project, domain, system.")
    [(kind, wanted)] = scope.items()
    if kind == "system" and wanted == {"all": True}:
        return SYSTEM
    collections = {"project": identity.projects, "domain": identity.domains}
    if kind not in collections or not isinstance(wanted, dict):
        raise bad_request(f"auth.scope.{kind} is not a scope.")
    found = _find(identity, collections[kind], wanted)
    if found is None:
        raise unauthorized()
    return Target(kind, found["id"])


def _default_target(identity: IdentityRecords, user: Record) -> Target | None:
    """The user's default project when the request names no scope and the user has a role there."""
    project_id = user.get("default_project_id")
    if project_id is None or project_id not in identity.projects:
        return None
    target = Target("project", project_id)
    return target if identity.roles_of(user["id"], target) else None


def _find(identity: IdentityRecords, collection: Collection, wanted: dict[str, Any]) -> Record | None:
    """By `id`, or by `name` and `domain` (`{id}` or `{name}`)."""
    if isinstance(key := wanted.get("id"), str):
        return collection.get(key)
    name = wanted.get("name")
    if not isinstance(name, str):
        raise bad_request("A user, project or domain is named by its id, or by its name.")
    if collection is identity.domains:
        return collection.first(name=name)
    domain = _find(identity, identity.domains, _object(wanted, "domain"))
    return None if domain is None else collection.first(name=name, domain_id=domain["id"])


def _object(given: dict[str, Any], key: str) -> dict[str, Any]:
    value = given.get(key)
    if not isinstance(value, dict):
        raise bad_request(f"'{key}' must be an object in the authentication request.")
    return value
