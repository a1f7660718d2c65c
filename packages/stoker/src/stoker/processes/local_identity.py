"""The login for clients of an embedded Stoker that works on a real cloud, whose catalog does not contain this Stoker.

python-heatclient finds its service only through the catalog of a token. Therefore the embedded Stoker has a small
identity service, `/identity/v3`: it accepts one user, with a password that is valid only here, logs in at the cloud
with the entry of the user's clouds.yaml, and returns the cloud's token with this Stoker in the catalog. All other
requests of clients are sent to the cloud's own identity service, which the catalog names.
https://docs.openstack.org/api-ref/identity/v3/ describes the requests.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from keystoneauth1 import exceptions
from keystoneauth1.identity import BaseIdentityPlugin

from stoker.api.auth import WSGIApplication
from stoker.base.errors import Invalid
from stoker.cloud.clouds_yaml import NamedCloud
from stoker.cloud.named_login import session_of
from stoker.processes.local_addresses import IDENTITY_PATH as PATH
from stoker.processes.local_addresses import LOCAL_USER as USER

_INTERFACES = ("public", "internal", "admin")
_LONGEST_BODY = 16384

Body = dict[str, Any]
Environ = dict[str, Any]


class _Refused(Exception):
    """A response with an error."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status


class LocalIdentity:
    """The identity service, for requests whose path is below PATH, in front of `application` for all others.

    `read_cloud` returns the login at the cloud each time that it is called, `password` is that of USER, and `urls` are
    the endpoints of this Stoker by the type of the service, with `%(project_id)s` for the project. Thread-safe.
    """

    def __init__(
        self,
        application: WSGIApplication,
        read_cloud: Callable[[], NamedCloud],
        password: str,
        urls: Mapping[str, str],
    ) -> None:
        self._application = application
        self._read_cloud = read_cloud
        self._password = password
        self._urls = urls

    def __call__(self, environ: Environ, start_response: Any) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path != PATH and not path.startswith(f"{PATH}/"):
            response: Iterable[bytes] = self._application(environ, start_response)
            return response
        headers: list[tuple[str, str]] = []
        try:
            status, answer, headers = self._answer(environ, path.removeprefix(PATH).rstrip("/"))
        except _Refused as error:
            status = error.status
            code, _, title = status.partition(" ")
            answer = {"error": {"code": int(code), "title": title, "message": str(error)}}
        content = json.dumps(answer).encode()
        sent = [("Content-Type", "application/json"), ("Content-Length", str(len(content))), *headers]
        start_response(status, sent)
        return [content]

    def _answer(self, environ: Environ, path: str) -> tuple[str, Body, list[tuple[str, str]]]:
        match environ["REQUEST_METHOD"], path:
            case "GET", "":
                return "300 Multiple Choices", {"versions": {"values": [_version(environ)]}}, []
            case "GET", "/v3":
                return "200 OK", {"version": _version(environ)}, []
            case "POST", "/v3/auth/tokens":
                token, described = self._token(_read(environ))
                return "201 Created", described, [("X-Subject-Token", token), ("Vary", "X-Auth-Token")]
        raise _Refused(
            "404 Not Found",
            f"This identity service only issues tokens (POST {PATH}/v3/auth/tokens). Send other requests to the "
            "identity service in the catalog.",
        )

    def _token(self, request: Body) -> tuple[str, Body]:
        """Return a new token of the cloud, and its description with this Stoker in the catalog."""
        self._check_password(request)
        try:
            opened = session_of(self._read_cloud())
            token, login = opened.get_token(), opened.auth
            if not isinstance(login, BaseIdentityPlugin):
                raise Invalid("its plug-in has no catalog")
            state = json.loads(login.get_auth_state() or "{}")
        except (Invalid, exceptions.Unauthorized) as error:
            raise _Refused("401 Unauthorized", f"The login of clouds.yaml is not accepted: {error}") from error
        except exceptions.ClientException as error:
            raise _Refused("503 Service Unavailable", f"The cloud cannot be reached: {error}") from error
        described: Body = state["body"]
        project = described["token"].get("project")
        _check_scope(request["auth"].get("scope"), project)
        if project is not None and "catalog" in described["token"]:
            described["token"]["catalog"] = self._catalog(described["token"]["catalog"], project["id"])
        return str(token), described

    def _check_password(self, request: Body) -> None:
        try:
            user = request["auth"]["identity"]["password"]["user"]
            name, password = user["name"], user["password"]
        except (KeyError, TypeError):
            name = password = None
        good = isinstance(password, str) and hmac.compare_digest(password.encode(), self._password.encode())
        if name != USER or not good:
            raise _Refused(
                "401 Unauthorized",
                f"The user must be {USER}, with the password that is in clouds.yaml in the data directory of Stoker.",
            )

    def _catalog(self, catalog: list[Body], project_id: str) -> list[Body]:
        """Return the catalog with this Stoker instead of the cloud's own orchestration, in each region."""
        regions = {endpoint["region_id"]: None for service in catalog for endpoint in service["endpoints"]}
        ours = [
            {
                "id": f"stoker-{kind}",
                "type": kind,
                "name": "stoker",
                "endpoints": [
                    {
                        "id": f"stoker-{kind}-{interface}-{region}",
                        "interface": interface,
                        "region": region,
                        "region_id": region,
                        "url": url.replace("%(project_id)s", project_id),
                    }
                    for region in regions
                    for interface in _INTERFACES
                ],
            }
            for kind, url in self._urls.items()
        ]
        return [service for service in catalog if service["type"] not in self._urls] + ours


def _check_scope(scope: object, project: Body | None) -> None:
    """Refuse a scope other than the project of the entry in clouds.yaml, with whose login the token is made."""
    if scope is None:
        return
    requested = scope.get("project", {}) if isinstance(scope, dict) else {}
    mine = project or {}
    if not requested or any(requested.get(key, mine.get(key)) != mine.get(key) for key in ("id", "name")):
        raise _Refused(
            "401 Unauthorized",
            f"The login is for the project {mine.get('name')} only; start another Stoker for another project.",
        )


def _read(environ: Environ) -> Body:
    try:
        length = int(environ.get("CONTENT_LENGTH") or 0)
        request = json.loads(environ["wsgi.input"].read(min(length, _LONGEST_BODY)))
        if isinstance(request["auth"], dict):
            return dict(request)
    except (ValueError, KeyError, TypeError):
        pass
    raise _Refused("400 Bad Request", "The body must be a JSON object with the key `auth`.")


def _version(environ: Environ) -> Body:
    host = environ.get("HTTP_HOST") or f"{environ['SERVER_NAME']}:{environ['SERVER_PORT']}"
    url = f"{environ['wsgi.url_scheme']}://{host}{PATH}/v3/"
    kind = "application/vnd.openstack.identity-v3+json"
    return {
        "id": "v3.14",
        "status": "stable",
        "updated": "2020-04-07T00:00:00Z",
        "links": [{"rel": "self", "href": url}],
        "media-types": [{"base": "application/json", "type": kind}],
    }
