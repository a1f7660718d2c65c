"""From `{"auth": {"identity": …, "scope": …}}` to a token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stoker.emulator.core.errors import ApiError, bad_request
from stoker.emulator.core.store import Collection, Record
from stoker.emulator.identity.passwords import verify_password
from stoker.emulator.identity.records import SYSTEM, IdentityRecords, Target
from stoker.emulator.identity.tokens import Grant, issue, look_up

Method = Callable[[IdentityRecords, dict[str, Any]], tuple[Record, Record | None]]


def authenticate(identity: IdentityRecords, auth: dict[str, Any]) -> tuple[str, Grant]:
    """Check the credentials, find the scope, issue the token.

    Raises: ApiError 400 for a malformed request, 401 for wrong credentials or no role on the scope.
    """
    given = _object(auth, "identity")
    methods = given.get("methods")
    if not isinstance(methods, list) or not methods or not all(isinstance(name, str) for name in methods):
        raise bad_request("auth.identity.methods must be a list of method names.")
    user: Record | None = None
    parent: Record | None = None
    for name in methods:
        if name not in METHODS:
            raise unauthorized()
        found, source = METHODS[name](identity, _object(given, name))
        if user is not None and user is not found:
            raise unauthorized()
        user, parent = found, source or parent
    if user is None:
        raise unauthorized()
    target = _target(identity, auth["scope"]) if "scope" in auth else _default_target(identity, user)
    seen = [*methods, *(m for m in (parent or {}).get("methods", ()) if m not in methods)]
    return issue(identity, user, seen, target, parent)


def unauthorized() -> ApiError:
    """The same answer whatever was wrong."""
    return ApiError(401, "The request you have made requires authentication.")


def _by_password(identity: IdentityRecords, given: dict[str, Any]) -> tuple[Record, Record | None]:
    wanted = _object(given, "user")
    password = wanted.get("password")
    if not isinstance(password, str):
        raise bad_request("auth.identity.password.user.password must be a string.")
    user = _find(identity, identity.users, wanted)
    right = verify_password(password, None if user is None else user["_password"])
    if user is None or not right:
        raise unauthorized()
    return user, None


def _by_token(identity: IdentityRecords, given: dict[str, Any]) -> tuple[Record, Record | None]:
    secret = given.get("id")
    if not isinstance(secret, str):
        raise bad_request("auth.identity.token.id must be a string.")
    granted = look_up(identity, secret)
    if granted is None:
        raise unauthorized()
    return granted.user, granted.token


METHODS: dict[str, Method] = {"password": _by_password, "token": _by_token}


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
