"""The login of clients at an embedded Stoker that works on a real cloud."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from keystoneauth1.exceptions import Unauthorized
from keystoneauth1.identity import Password
from keystoneauth1.session import Session

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.api.server import Server
from stoker.base.errors import Invalid
from stoker.cloud.clouds_yaml import NamedCloud
from stoker.processes.local_identity import LocalIdentity

PASSWORD = "only-here"
URLS = {"orchestration": "http://127.0.0.1:1/v1/%(project_id)s", "cloudformation": "http://127.0.0.1:2/v1"}


def behind(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    start_response("200 OK", [])
    return [b"the application: ", environ["PATH_INFO"].encode()]


@pytest.fixture(scope="module")
def served() -> Iterator[ServedCloud]:
    extra = {"orchestration": "http://other.example.com/v1/%(project_id)s"}
    with ServedCloud(new_cloud(("image",), extra_endpoints=extra)) as served:
        yield served


@pytest.fixture
def cloud(served: ServedCloud) -> NamedCloud:
    """The user's entry in clouds.yaml."""
    auth = {"username": "demo", "password": "secret", "project_name": "demo"}
    domains = {"user_domain_name": "Default", "project_domain_name": "Default"}
    return NamedCloud("password", {"auth_url": f"{served.url}/identity", **auth, **domains})


def asked(
    cloud: NamedCloud | Exception, method: str, path: str, body: Any = None, raw: bytes | None = None
) -> tuple[str, dict[str, str], Any]:
    """The status, the headers and the body of a response."""

    def read() -> NamedCloud:
        if isinstance(cloud, Exception):
            raise cloud
        return cloud

    content = json.dumps(body).encode() if raw is None else raw
    environ = {
        "REQUEST_METHOD": method, "PATH_INFO": path, "CONTENT_LENGTH": str(len(content)), "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(content), "HTTP_HOST": "127.0.0.1:8004",
    }  # fmt: skip
    found: dict[str, Any] = {}
    answer = b"".join(
        LocalIdentity(behind, read, PASSWORD, URLS)(
            environ, lambda status, headers: found.update(status=status, headers=dict(headers))
        )
    )
    return found["status"], found["headers"], json.loads(answer) if "Content-Type" in found["headers"] else answer


def login(password: str = PASSWORD, user: str = "stoker", scope: Any = None) -> dict[str, Any]:
    given = {"name": user, "password": password, "domain": {"name": "Default"}}
    auth: dict[str, Any] = {"identity": {"methods": ["password"], "password": {"user": given}}}
    return {"auth": auth if scope is None else {**auth, "scope": scope}}


def test_clients_find_stoker_in_the_catalog(cloud: NamedCloud, served: ServedCloud) -> None:
    """With keystoneauth, as every client logs in, over HTTP."""
    server = Server(LocalIdentity(behind, lambda: cloud, PASSWORD, URLS), "127.0.0.1", 0)
    server.start()
    try:
        plugin = Password(f"{server.url}/identity/v3", username="stoker", password=PASSWORD, user_domain_name="Default")
        session = Session(plugin)
        access = plugin.get_access(session)
        assert access.project_name == "demo"
        find = session.get_endpoint
        assert (
            find(service_type="orchestration", region_name="RegionOne") == f"http://127.0.0.1:1/v1/{access.project_id}"
        )
        assert find(service_type="cloudformation", interface="internal") == "http://127.0.0.1:2/v1"
        assert str(find(service_type="image")).startswith(served.url), "the cloud's own"
        shown = session.get("/auth/tokens", endpoint_filter={"service_type": "identity", "version": "3"},
                            headers={"X-Subject-Token": str(access.auth_token)})  # fmt: skip
        assert shown.json()["token"]["user"]["name"] == "demo", "the token is one of the cloud"
        first = access.auth_token
        plugin.invalidate()
        assert plugin.get_access(session).auth_token != first, "each login gets a token of its own"
        with pytest.raises(Unauthorized, match=r"password that is in clouds\.yaml"):
            Session(
                Password(f"{server.url}/identity/v3", username="stoker", password="x", user_domain_name="Default")
            ).get_token()
    finally:
        server.stop()


def test_a_login_is_for_the_project_of_the_entry_only(cloud: NamedCloud) -> None:
    for scope, status in (
        ({"project": {"name": "demo", "domain": {"name": "Default"}}}, "201"),
        ({"project": {"name": "admin", "domain": {"name": "Default"}}}, "401"),
        ({"project": {"id": "0" * 32}}, "401"),
        ({"domain": {"id": "default"}}, "401"),
        ({"system": {"all": True}}, "401"),
        ("unscoped", "401"),
    ):
        answered, headers, body = asked(cloud, "POST", "/identity/v3/auth/tokens", login(scope=scope))
        assert answered.startswith(status), scope
        if status == "401":
            assert "the project demo only" in body["error"]["message"]
            assert "X-Subject-Token" not in headers


def test_logins_that_are_refused(cloud: NamedCloud) -> None:
    path = "/identity/v3/auth/tokens"
    refused: list[dict[str, Any]] = [login("secret"), login(user="demo"), login(""), {"auth": {}}]
    for body in [*refused, {"auth": {"identity": 1}}]:
        status, headers, _ = asked(cloud, "POST", path, body)
        assert status.startswith("401") and "X-Subject-Token" not in headers, body
    for raw in (b"", b"{", b"[]", b'{"auth": 1}', b"x" * 100_000):
        assert asked(cloud, "POST", path, raw=raw)[0].startswith("400")
    stale = replace(cloud, auth={**cloud.auth, "password": "changed"})
    status, _, body = asked(stale, "POST", path, login())
    assert status.startswith("401") and "The login of clouds.yaml is not accepted" in body["error"]["message"]
    gone = asked(Invalid("clouds.yaml has no cloud 'x'"), "POST", path, login())
    assert gone[0].startswith("401") and "no cloud 'x'" in gone[2]["error"]["message"]
    away = replace(cloud, auth={**cloud.auth, "auth_url": "http://127.0.0.1:9/v3"})
    assert asked(away, "POST", path, login())[0].startswith("503")
    for auth in ({"endpoint": "http://127.0.0.1:9", "token": "t"}, {}):
        status, _, body = asked(NamedCloud("admin_token", auth), "POST", path, login())
        assert status.startswith("401"), body


def test_other_requests(cloud: NamedCloud) -> None:
    status, _, body = asked(cloud, "GET", "/identity")
    assert status.startswith("300")
    assert body["versions"]["values"][0]["links"][0]["href"] == "http://127.0.0.1:8004/identity/v3/"
    assert asked(cloud, "GET", "/identity/v3/")[2]["version"]["id"] == "v3.14"
    for method, path in (
        ("GET", "/identity/v3/users"),
        ("DELETE", "/identity/v3/auth/tokens"),
        ("GET", "/identity/v2"),
    ):
        assert asked(cloud, method, path)[0].startswith("404")
    for path in ("/v1/p/stacks", "/identityx", "/"):
        assert asked(cloud, "GET", path)[2] == f"the application: {path}".encode()
