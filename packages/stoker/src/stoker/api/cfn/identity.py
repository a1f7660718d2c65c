"""Verify signatures with the identity service, which returns a token of the signer (`POST /v3/ec2tokens`)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from keystoneauth1 import exceptions, loading
from keystoneauth1.identity import v3
from keystoneauth1.session import Session
from oslo_config import cfg

from stoker.api.access_rules import covered
from stoker.api.auth import Credentials, Policy
from stoker.api.cfn.faults import QueryError
from stoker.api.cfn.signatures import Signed
from stoker.api.faults import IdentityUnavailable
from stoker.base.context import RequestContext
from stoker.base.options import SERVICE_USER_OPTIONS

_log = logging.getLogger(__name__)
_LOGIN = "keystone_authtoken"
_REFUSED = (400, 401, 404)
_NOT_ALLOWED = 403
_SERVICE_TYPE = "cloudformation"


@dataclass(frozen=True)
class Caller:
    """The signer of a request, and the token from the identity service."""

    credentials: Credentials
    user_name: str
    project_name: str
    trust_id: str | None
    token: str = field(repr=False)

    def context(self, request_id: str, policy: Policy) -> RequestContext:
        """Return the context that is sent to the engine, without `denied_types`."""
        known = self.credentials
        return RequestContext(
            request_id=request_id,
            user_id=known.user_id,
            user_name=self.user_name,
            project_id=known.project_id,
            project_name=self.project_name,
            user_domain_id=known.user_domain_id,
            project_domain_id=known.project_domain_id,
            roles=known.roles,
            is_admin=policy.is_admin(known),
            token=self.token,
            trust_id=self.trust_id,
        )


class SignatureCheck:
    """Sends signatures to the identity service of `[ec2authtoken] auth_url`, by default that of `[keystone_authtoken]`.

    The requests carry a token, which recent releases of Keystone require, of a user with the role admin or service: of
    the user in `[ec2authtoken]`, or without one, of the user in `[keystone_authtoken]`.
    Thread-safe.
    """

    def __init__(self, config: cfg.ConfigOpts) -> None:
        options = config.ec2authtoken
        self._login: Any = _own_login(options) if options.username else _shared_login(config)
        self._url = _tokens_url(options.auth_url or getattr(self._login, "auth_url", None))
        self._session = Session(
            verify=False if options.insecure else options.cafile or True,
            cert=(options.certfile, options.keyfile) if options.keyfile else options.certfile,
            timeout=options.timeout,
        )

    def caller(self, signed: Signed) -> Caller:
        """Return the signer of the request.

        Raises QueryError for an invalid signature, IdentityUnavailable if it cannot be checked.
        """
        try:
            answer = self._session.post(
                self._url,
                json={"credentials": signed.credentials()},
                headers={"X-Auth-Token": self._login.get_token(self._session)},
                authenticated=False,
                raise_exc=False,
                log=False,
            )
        except exceptions.ClientException as error:
            raise IdentityUnavailable(
                "The identity service cannot check the signature now; try again later."
            ) from error
        if answer.status_code in _REFUSED:
            raise QueryError(
                "SignatureDoesNotMatch",
                "The identity service does not accept the access key and the signature. Check the secret key, and that "
                "no proxy changes the host, the path or the parameters.",
            )
        if answer.status_code == _NOT_ALLOWED:
            _log.error(
                "the identity service does not allow the user of [ec2authtoken], by default that of "
                "[keystone_authtoken], to check signatures; the user needs the role service or admin"
            )
            raise IdentityUnavailable(
                "This service may not check signatures; its operator finds the reason in its log."
            )
        token = answer.headers.get("X-Subject-Token")
        if answer.status_code != 200 or not token:
            raise IdentityUnavailable(f"The identity service responded with {answer.status_code} to the signature.")
        try:
            described = answer.json()["token"]
            caller = _caller(described, token)
        except (ValueError, KeyError, TypeError) as error:
            raise IdentityUnavailable("The identity service's response to the signature is malformed.") from error
        _require_access(described, signed)
        return caller


def _own_login(options: cfg.ConfigOpts.GroupAttr) -> object:
    chosen = {name: options[name] for name in SERVICE_USER_OPTIONS if name != "auth_url"}
    return v3.Password(options.auth_url and f"{_root(options.auth_url)}/v3", **chosen)


def _shared_login(config: cfg.ConfigOpts) -> object:
    loading.register_auth_conf_options(config, _LOGIN)
    return loading.load_auth_from_conf_options(config, _LOGIN)


def _tokens_url(identity: str | None) -> str:
    if not identity:
        raise cfg.Error("[ec2authtoken] auth_url is not set: signatures cannot be checked without an identity service")
    return f"{_root(identity)}/v3/ec2tokens"


def _root(identity: str) -> str:
    return identity.rstrip("/").removesuffix("/v3").removesuffix("/v2.0")


def _require_access(token: Mapping[str, Any], signed: Signed) -> None:
    """Raise QueryError if the keys belong to an application credential whose access rules do not allow the request."""
    rules = (token.get("application_credential") or {}).get("access_rules")
    if rules is None:
        return
    if not covered(rules, _SERVICE_TYPE, signed.received.verb, signed.received.path):
        raise QueryError("AccessDenied", "The access rules of the application credential do not allow the request.")


def _caller(token: Mapping[str, Any], secret: str) -> Caller:
    project = token.get("project", {})
    user = token["user"]
    return Caller(
        credentials=Credentials(
            user_id=user["id"],
            project_id=project.get("id", ""),
            roles=tuple(role["name"] for role in token.get("roles", ())),
            is_admin_project=token.get("is_admin_project", True),
            user_domain_id=user.get("domain", {}).get("id", ""),
            project_domain_id=project.get("domain", {}).get("id", ""),
        ),
        user_name=user.get("name", ""),
        project_name=project.get("name", ""),
        trust_id=token.get("OS-TRUST:trust", {}).get("id"),
        token=secret,
    )
