"""Logging in at Keystone and out again."""

from __future__ import annotations

from dataclasses import dataclass

from keystoneauth1 import exceptions, session
from keystoneauth1.identity import V3Password

from stoker.console.sessions import Session

_SECONDS = 30.0


class LoginRefused(Exception):
    """Keystone does not accept the user, the password or the project."""


class LoginUnavailable(Exception):
    """Keystone cannot be reached, or fails."""


@dataclass(frozen=True, slots=True)
class Login:
    """What a user enters to log in."""

    user: str
    password: str
    project: str
    user_domain: str
    project_domain: str


class Keystone:
    """The identity service at `auth_url`; `verify` as in ConsoleSettings."""

    def __init__(self, auth_url: str, verify: bool | str) -> None:
        self._auth_url = auth_url
        self._session = session.Session(verify=verify, app_name="stoker-console")

    def log_in(self, login: Login, latest: float) -> Session:
        """Return a session that ends with the token, `latest` at the latest.

        Raises LoginRefused or LoginUnavailable.
        """
        plugin = V3Password(
            self._auth_url,
            username=login.user,
            password=login.password,
            user_domain_name=login.user_domain,
            project_name=login.project,
            project_domain_name=login.project_domain,
            reauthenticate=False,
            include_catalog=False,
        )
        try:
            access = plugin.get_access(self._session)
        except (exceptions.Unauthorized, exceptions.BadRequest, exceptions.NotFound) as error:
            raise LoginRefused from error
        except exceptions.ClientException as error:
            raise LoginUnavailable from error
        token, project_id, expires = access.auth_token, access.project_id, access.expires
        if token is None or project_id is None or expires is None:
            raise LoginRefused
        ends = min(latest, expires.timestamp())
        return Session.begin(
            token, access.username or login.user, access.project_name or login.project, project_id, ends
        )

    def log_out(self, ended: Session) -> None:
        """Revoke the token of a session. Raises LoginUnavailable."""
        headers = {"X-Auth-Token": ended.token, "X-Subject-Token": ended.token}
        try:
            self._session.delete(f"{self._auth_url.rstrip('/')}/auth/tokens", headers=headers, authenticated=False)
        except (exceptions.Unauthorized, exceptions.NotFound):
            return  # it is not valid anymore
        except exceptions.ClientException as error:
            raise LoginUnavailable from error
