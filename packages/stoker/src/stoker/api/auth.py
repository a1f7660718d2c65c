"""Authentication and authorization: who the caller of a request is, and whether policy allows the request.

keystonemiddleware checks the token, and its headers identify the caller. Any WSGI middleware that sets the same headers
after checking the caller can replace it: `X-Identity-Status: Confirmed`, `X-User-Id`, `X-User-Name`, `X-Project-Id`,
`X-Project-Name`, `X-User-Domain-Id`, `X-Project-Domain-Id`, `X-Roles`, `X-Is-Admin-Project`, `X-Auth-Token`. It must
remove those that the client sent.

Policy is oslo.policy with the default rules and the operator's `policy.yaml`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import blake2b
from typing import Any, TypeVar

import webob  # type: ignore[import-untyped]
from keystoneauth1 import exceptions
from keystonemiddleware import auth_token, opts
from oslo_config import cfg
from oslo_policy import opts as policy_opts
from oslo_policy import policy
from webob import headers

from stoker.api.access_rules import covered
from stoker.api.faults import IdentityUnavailable, NotAllowed, Unauthenticated, fault_body, status_of
from stoker.api.policies import DEPRECATED_SINCE, RULE_SETS
from stoker.api.serving.shares import TURN, Share
from stoker.api.token_cache import TOKENS, AcceptedTokens, TokenCache, key_of_tokens
from stoker.base.context import RequestContext
from stoker.rpc.contract import json_text
from stoker_foundation.clock import Clock, SystemClock

_Decision = TypeVar("_Decision")

_TYPE_RULE = "resource_types:"

_LOOK_EVERY = 1.0
"""Minimum number of seconds between two checks for changed policy files."""
_UNKNOWN_RULE = "!"
"""The check for an undefined rule: it refuses everyone."""


@dataclass(frozen=True)
class Credentials:
    """The attributes of a caller that rules can use, with the names of oslo.policy."""

    user_id: str
    project_id: str
    roles: tuple[str, ...] = ()
    is_admin_project: bool = True
    system_scope: str | None = None
    domain_id: str | None = None
    user_domain_id: str = ""
    project_domain_id: str = ""


class _Enforcer(policy.Enforcer):
    """Checks for changed files at most once in `_LOOK_EVERY` seconds, since a request evaluates many rules.

    `decided` caches decisions for the same time.
    """

    _looked = float("-inf")

    def load_rules(self, force_reload: bool = False) -> None:
        now = time.monotonic()
        if force_reload or now - self._looked >= _LOOK_EVERY:
            self._looked = now
            super().load_rules(force_reload)
            self.decided: dict[Hashable, Any] = {}


class Policy:
    """The current rules. Thread-safe; follows changes of the policy file."""

    def __init__(self, config: cfg.ConfigOpts) -> None:
        policy_opts.set_defaults(config, policy_file="policy.yaml", enforce_new_defaults=True)
        self._enforcer = _Enforcer(config, default_rule=_UNKNOWN_RULE)
        self._enforcer.suppress_default_change_warnings = True
        self._enforcer.suppress_deprecation_warnings = True
        self._enforcer.register_defaults(_defaults())
        self._enforcer.load_rules()

    def names(self) -> frozenset[str]:
        """The names of all rules, ours and the operator's."""
        return frozenset(self._enforcer.rules)

    def allows(self, rule: str, caller: Credentials, project_id: str) -> bool:
        """Return whether `caller` passes `rule` for the project in the URL."""
        return self._once(
            (rule, caller, project_id),
            lambda: bool(self._enforcer.enforce(rule, {"project_id": project_id}, _plain(caller))),
        )

    def require(self, rule: str, caller: Credentials, project_id: str) -> None:
        """Raise NotAllowed unless `caller` passes `rule`."""
        if not self.allows(rule, caller, project_id):
            raise NotAllowed(f"Policy does not allow {rule} to this user in project {project_id}.")

    def is_admin(self, caller: Credentials) -> bool:
        """Return whether `caller` is an administrator of the whole service."""
        return self.allows("context_is_admin", caller, caller.project_id)

    def denied_types(self, caller: Credentials) -> tuple[str, ...]:
        """Return the resource types and wildcards that `resource_types:*` rules refuse for `caller`, sorted."""
        return self._once(caller, lambda: self._denied_types(caller))

    def _denied_types(self, caller: Credentials) -> tuple[str, ...]:
        """Evaluate the checks without `enforce`, which would check for changed files before each of them."""
        credentials = _plain(caller)
        target = {"project_id": caller.project_id}
        return tuple(
            sorted(
                rule.removeprefix(_TYPE_RULE)
                for rule, check in self._enforcer.rules.items()
                if rule.startswith(_TYPE_RULE) and not check(target, credentials, self._enforcer, rule)
            )
        )

    def _once(self, question: Hashable, decide: Callable[[], _Decision]) -> _Decision:
        """Return the result of `decide`, cached until the rules are checked for changes again."""
        self._enforcer.load_rules()
        decided = self._enforcer.decided
        if question not in decided:
            decided[question] = decide()
        decision: _Decision = decided[question]
        return decision


def _plain(caller: Credentials) -> dict[str, object]:
    return {**vars(caller), "roles": list(caller.roles)}


class _Default(policy.RuleDefault):
    """A default that shares its parts with its copies: nobody changes them, and every registered default is copied."""

    def __deepcopy__(self, known: object) -> _Default:
        return copy(self)


@cache
def _defaults() -> tuple[_Default, ...]:
    return tuple(
        _Default(
            name,
            rules.check,
            scope_types=["project"] if rules.scoped else None,
            deprecated_rule=_deprecated(name, rules.deprecated),
        )
        for rules in RULE_SETS
        for name in rules.names
    )


def _deprecated(name: str, check: str | None) -> policy.DeprecatedRule | None:
    if check is None:
        return None
    return policy.DeprecatedRule(
        name, check, deprecated_reason="Default roles and scopes", deprecated_since=DEPRECATED_SINCE
    )


WSGIApplication = Callable[..., Any]
Authenticator = Callable[[WSGIApplication], WSGIApplication]
"""Wraps an application in an authentication check. A request that fails the check is passed on without the header
`X-Identity-Status: Confirmed`; the application then responds with 401."""


_TOKEN_OPTIONS = opts.list_auth_token_opts()
_SETTINGS = {"delay_auth_decision": False, "include_service_catalog": False}


def keystone(config: cfg.ConfigOpts, clock: Clock | None = None) -> Authenticator:
    """Return an authenticator that checks tokens with the identity service of `[keystone_authtoken]`.

    Refusals are remembered for some seconds, so that repeating an invalid token costs no request to that service, and
    accepted tokens for a second (see `AcceptedTokens`).
    """
    for group, options in _TOKEN_OPTIONS:
        config.register_opts(options, group=group)

    # Access rules of application credentials refer to services by type. A service token exempts a request from them, so
    # only services may have one.
    for name, value in (("service_type", "orchestration"), ("service_token_roles_required", True)):
        config.set_default(name, value, group="keystone_authtoken")

    def wrap(application: WSGIApplication) -> WSGIApplication:
        settings = {**_SETTINGS, "oslo_config_config": config}
        return _TokenCheck(application, settings, clock or SystemClock())

    return wrap


_STATUS, _CONFIRMED = "HTTP_X_IDENTITY_STATUS", "Confirmed"

_LONGEST_TOKEN = 8192
"""Characters; Keystone's servers refuse longer headers with errors that look like their own failures."""

_REFUSAL_SECONDS = 10.0
"""A token that another server of Keystone has just issued may be unknown to the one that was asked."""

_InvalidToken: Any = auth_token.ksm_exceptions.InvalidToken
_Request: Any = auth_token.AuthProtocol.__call__.RequestClass

_IDENTITY_KEYS = frozenset(f"HTTP_{name.upper().replace('-', '_')}" for name in _Request({})._all_auth_headers())
"""Identity headers that a client must not set, as listed by keystonemiddleware, with their names in the environment."""


def _remove_identity(environ: dict[str, object]) -> None:
    """Remove the identity headers that a client has sent."""
    for key in _IDENTITY_KEYS & environ.keys():
        del environ[key]


_key_of = cache(headers._trans_name)
"""Return the name of a header in the environment; keystonemiddleware uses about fifty names for each request."""


class _Headers(headers.EnvironHeaders):  # type: ignore[misc]
    """Headers with names that are translated once."""

    def __getitem__(self, name: str) -> str:
        value: str = self.environ[_key_of(name)]
        return value

    def __setitem__(self, name: str, value: str) -> None:
        self.environ[_key_of(name)] = value

    def get(self, name: str, default: str | None = None) -> str | None:
        value: str | None = self.environ.get(_key_of(name), default)
        return value


class _CheckedRequest(_Request):  # type: ignore[misc]
    """A request whose identity headers are removed without a lookup for each of their names."""

    @cached_property
    def headers(self) -> _Headers:
        return _Headers(self.environ)

    def remove_auth_headers(self) -> None:
        _remove_identity(self.environ)


class _TokenCheck(auth_token.AuthProtocol):  # type: ignore[misc]
    """keystonemiddleware as an `Authenticator`.

    Its own mode that passes refused requests on (`delay_auth_decision`) reports an identity service that is down like
    an invalid token, so that clients would discard valid tokens. Responses are passed on unchanged, without an object
    for each: the application itself reports where to get a token.
    """

    def __init__(self, application: WSGIApplication, settings: Mapping[str, object], clock: Clock) -> None:
        super().__init__(application, settings)
        self._refused = TokenCache(clock)
        self._accepted = AcceptedTokens(clock, int(self._conf.get("token_cache_time")))

    def __call__(self, environ: dict[str, object], start_response: Callable[..., object]) -> object:
        _remove_identity(environ)
        key = key_of_tokens(environ)
        known = self._accepted.of(key)
        if known is None:
            return self._after_check(key, environ)(environ, start_response)
        environ.update(known)
        return self._app(environ, start_response)

    def _after_check(self, key: str, environ: dict[str, object]) -> WSGIApplication:
        """Check a request without identity headers; return the application that answers it."""
        before = dict(environ)
        refusal: WSGIApplication | None = self.process_request(_CheckedRequest(environ))
        if refusal is not None:
            return refusal
        if environ.get(_STATUS) == _CONFIRMED:
            self._accepted.remember(key, before, environ)
        application: WSGIApplication = self._app
        return application

    def fetch_token(self, token: str, allow_expired: bool = False) -> object:
        """Return what the identity service says of a token. Raises keystonemiddleware's InvalidToken."""
        key = blake2b(token.encode(), digest_size=32, person=b"expired" if allow_expired else b"").hexdigest()
        if self._refused.get(key):
            self._invalid_user_token()
        try:
            return super().fetch_token(token, allow_expired=allow_expired)
        except _InvalidToken:
            self._refused.set(key, True, _REFUSAL_SECONDS)
            raise

    def validate_allowed_request(self, request: Any, token: Mapping[str, Any]) -> None:
        """Check access rules, in place of keystonemiddleware's matcher (see `stoker.api.access_rules`).

        The service's type comes from the configuration. A request of another service, which has a service token, is
        exempt. Raises keystonemiddleware's InvalidToken.
        """
        rules = (token.get("application_credential") or {}).get("access_rules")
        if rules is None or request.service_token:
            return
        if not covered(rules, self._conf.get("service_type"), request.method, request.path):
            self._invalid_user_token()

    def process_request(self, request: Any) -> Any:
        for key in TOKENS:
            token = request.environ.get(key)
            if token is not None and not (token.isascii() and token.isprintable() and len(token) <= _LONGEST_TOKEN):
                request.remove_auth_headers()
                request.headers["X-Identity-Status"] = "Invalid"
                return None
        try:
            return super().process_request(request)
        except webob.exc.HTTPUnauthorized:
            request.headers["X-Identity-Status"] = "Invalid"
            return None
        except (webob.exc.HTTPServiceUnavailable, exceptions.ClientException):
            error = IdentityUnavailable("The identity service cannot check the token now; try again later.")
            status = status_of(error)
            return webob.Response(json_text(fault_body(error)), status=status, content_type="application/json")


def challenge(config: cfg.ConfigOpts) -> str:
    """Return the value of `WWW-Authenticate` for a 401."""
    uri = config.keystone_authtoken.www_authenticate_uri if "keystone_authtoken" in config else None
    return f'Keystone uri="{uri}"' if uri else "Keystone"


def credentials(environ: Mapping[str, Any]) -> Credentials:
    """Return the caller's credentials for policy checks, from the headers of the request. Raises Unauthenticated."""
    if environ.get(_STATUS) != _CONFIRMED:
        raise Unauthenticated("The request has no valid token: send one in X-Auth-Token.")
    return Credentials(
        user_id=environ.get("HTTP_X_USER_ID", ""),
        project_id=environ.get("HTTP_X_PROJECT_ID", ""),
        roles=tuple(role.strip() for role in environ.get("HTTP_X_ROLES", "").split(",") if role.strip()),
        is_admin_project=environ.get("HTTP_X_IS_ADMIN_PROJECT", "true").lower() == "true",
        system_scope=environ.get("HTTP_OPENSTACK_SYSTEM_SCOPE"),
        domain_id=environ.get("HTTP_X_DOMAIN_ID"),
        user_domain_id=environ.get("HTTP_X_USER_DOMAIN_ID", ""),
        project_domain_id=environ.get("HTTP_X_PROJECT_DOMAIN_ID", ""),
    )


def identified(environ: Mapping[str, Any], project_id: str, user_id: str) -> None:
    """Declare whom a request has been sent by; it then uses the threads of the project. Raises MovedToShare."""
    turn = environ.get(TURN)
    if turn is not None:
        turn.claim(Share(True, f"project {project_id}" if project_id else f"user {user_id}"))


def request_context(request_id: str, environ: Mapping[str, Any], caller: Credentials, policy: Policy) -> RequestContext:
    """Return the context that is sent to the engine, without `denied_types`."""
    return RequestContext(
        request_id=request_id,
        user_id=caller.user_id,
        user_name=environ.get("HTTP_X_USER_NAME", ""),
        project_id=caller.project_id,
        project_name=environ.get("HTTP_X_PROJECT_NAME", ""),
        user_domain_id=caller.user_domain_id,
        project_domain_id=caller.project_domain_id,
        roles=caller.roles,
        is_admin=policy.is_admin(caller),
        token=environ.get("HTTP_X_AUTH_TOKEN", ""),
        trust_id=_trust_id(environ),
        region=environ.get("HTTP_X_REGION_NAME"),
    )


def _trust_id(environ: Mapping[str, object]) -> str | None:
    user = getattr(environ.get("keystone.token_auth"), "user", None)
    trust_id: str | None = getattr(user, "trust_id", None)
    return trust_id
