"""Logging in at Keystone and out again."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from keystoneauth1 import exceptions, session
from keystoneauth1.access import AccessInfo
from keystoneauth1.identity import V3Password, V3Token
from keystoneauth1.identity.v3 import Auth

from stoker.console.sessions import Session

_log = logging.getLogger(__name__)

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
        access = self._access(plugin)
        return _begin(access, access.username or login.user, access.project_name or login.project, latest)

    def rescope(self, former: Session, project_id: str) -> Session:
        """Return a session of the same user in another project, which ends with the former one at the latest.

        Raises LoginRefused or LoginUnavailable.
        """
        plugin = V3Token(self._auth_url, former.token, project_id=project_id, reauthenticate=False)
        access = self._access(plugin)
        return _begin(access, former.user, access.project_name or project_id, former.expires)

    def _access(self, plugin: Auth) -> AccessInfo:
        try:
            return plugin.get_access(self._session)
        except (exceptions.Unauthorized, exceptions.Forbidden, exceptions.BadRequest, exceptions.NotFound) as error:
            raise LoginRefused from error
        except exceptions.ClientException as error:
            raise LoginUnavailable from error

    def projects(self, session: Session) -> list[dict[str, object]]:
        """Return the projects that the user can work in, by name. Raises LoginRefused or LoginUnavailable."""
        projects = self._get(session, "/auth/projects")["projects"]
        return sorted(
            (
                {"id": item["id"], "name": item["name"], "description": item.get("description") or ""}
                for item in projects
                if item.get("enabled", True)
            ),
            key=lambda item: str(item["name"]),
        )

    def regions(self, session: Session) -> dict[str, str]:
        """Return the public URL of the orchestration API by region. Raises LoginRefused or LoginUnavailable."""
        return {
            str(endpoint.get("region") or endpoint.get("region_id") or ""): str(endpoint["url"])
            for service in self._get(session, "/auth/catalog")["catalog"]
            if service["type"] == "orchestration"
            for endpoint in service["endpoints"]
            if endpoint["interface"] == "public" and str(endpoint["url"]).startswith(("http://", "https://"))
        }

    def _get(self, session: Session, path: str) -> Any:
        try:
            response = self._session.get(
                f"{self._auth_url.rstrip('/')}{path}",
                headers={"X-Auth-Token": session.token, "Accept": "application/json"},
                authenticated=False,
            )
            return response.json()
        except (exceptions.Unauthorized, exceptions.Forbidden, exceptions.NotFound) as error:
            raise LoginRefused from error
        except (exceptions.ClientException, ValueError) as error:
            raise LoginUnavailable from error

    def log_out_quietly(self, ended: Session) -> None:
        """Revoke the token of a session; if that is not possible, it is logged."""
        try:
            self.log_out(ended)
        except LoginUnavailable as error:
            _log.warning("the token of an ended session of the console was not revoked: %s", error.__cause__)

    def log_out(self, ended: Session) -> None:
        """Revoke the token of a session. Raises LoginUnavailable."""
        headers = {"X-Auth-Token": ended.token, "X-Subject-Token": ended.token}
        try:
            self._session.delete(f"{self._auth_url.rstrip('/')}/auth/tokens", headers=headers, authenticated=False)
        except (exceptions.Unauthorized, exceptions.NotFound):
            return  # it is not valid anymore
        except exceptions.ClientException as error:
            raise LoginUnavailable from error


def _begin(access: AccessInfo, user: str, project: str, latest: float) -> Session:
    """Return a session with a token. Raises LoginRefused if it is not for a project."""
    token, project_id, expires = access.auth_token, access.project_id, access.expires
    if token is None or project_id is None or expires is None:
        raise LoginRefused
    return Session.begin(token, user, project, project_id, min(latest, expires.timestamp()))
