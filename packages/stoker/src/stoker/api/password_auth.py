"""Authentication without a token: a user name in `X-Auth-User` and a password in `X-Auth-Key` (`flavor = standalone`).

They are exchanged for a token of the project in the URL, which is then checked like any other token. Neither the
password nor the token is stored.
"""

from __future__ import annotations

import re
from typing import Any

import webob  # type: ignore[import-untyped]
from keystoneauth1 import exceptions, session
from keystoneauth1.identity import V3Password
from oslo_config import cfg

from stoker.api.auth import Authenticator, WSGIApplication
from stoker.api.faults import IdentityUnavailable, fault_body, status_of
from stoker.api.serving.shares import kept
from stoker.rpc.contract import json_text

STANDALONE = "standalone"

_USER, _KEY, _TOKEN = "HTTP_X_AUTH_USER", "HTTP_X_AUTH_KEY", "HTTP_X_AUTH_TOKEN"
_PROJECT = re.compile(r"(?:/v1)?/([^/]+)/")
_DOMAIN = "default"
_SECONDS = 30.0


def with_passwords(check: Authenticator, config: cfg.ConfigOpts) -> Authenticator:
    """Return a token check that first exchanges passwords for tokens."""

    def wrap(application: WSGIApplication) -> WSGIApplication:
        checked = check(application)

        def exchanging(environ: dict[str, Any], start_response: object) -> object:
            user, key = environ.pop(_USER, None), environ.pop(_KEY, None)
            project = _PROJECT.match(environ.get("PATH_INFO", ""))
            if user and key and project and _TOKEN not in environ:
                passed = kept(environ)
                try:
                    token = passed.get(_TOKEN) or _token(config, user, key, project[1])
                except exceptions.ClientException:
                    return _unavailable()(environ, start_response)
                if token is not None:
                    environ[_TOKEN] = passed[_TOKEN] = token
            return checked(environ, start_response)

        return exchanging

    return wrap


def _token(config: cfg.ConfigOpts, user: str, key: str, project: str) -> str | None:
    """Return a token for the project; None if Keystone does not accept the user, the password or the project."""
    section = config.keystone_authtoken
    verify = False if section.insecure else section.cafile or True
    own = section["auth_url"] if "auth_url" in section else section.www_authenticate_uri  # noqa: SIM401  its `get` raises
    plugin = V3Password(
        own,
        username=user,
        password=key,
        user_domain_id=_DOMAIN,
        project_id=project,
    )
    opened = session.Session(plugin, verify=verify, timeout=_SECONDS, app_name="stoker")
    try:
        return str(plugin.get_token(opened))
    except exceptions.HTTPClientError:
        return None


def _unavailable() -> Any:
    fault = IdentityUnavailable("The identity service cannot check the user now; try again later.")
    return webob.Response(json_text(fault_body(fault)), status=status_of(fault), content_type="application/json")
