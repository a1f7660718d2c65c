"""Requests that a user has the engine send: credentials of other clouds, and what those clouds answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from stoker.base.errors import BadValue, CloudError, Invalid, StokerError
from stoker.cloud.auth import CloudPool
from stoker.cloud.credentials import PluginCredential
from stoker.cloud.settings import CloudSettings
from stoker.resources.heat.nested_stacks.remote_cloud import remote_cloud
from stoker_foundation.clock import SystemClock

LOGIN = {"username": "u", "password": "p", "project_name": "p", "user_domain_id": "d", "project_domain_id": "d"}


class Trap:
    """A service of the engine's own machine, which nobody but the engine can reach; it notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.catalog: list[dict[str, Any]] = []
        self.answer: Any = None

    async def start(self) -> Trap:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self._note)
        self._server = TestServer(application)
        await self._server.start_server()
        self.port = self._server.port
        return self

    async def stop(self) -> None:
        await self._server.close()

    async def _note(self, request: web.Request) -> web.Response:
        self.asked.append(f"{request.method} {request.path}")
        if self.answer is not None:
            return web.json_response(self.answer, headers={"X-Subject-Token": "t"})
        token = {
            "methods": ["password"], "expires_at": "2099-01-01T00:00:00.000000Z", "issued_at": "2020-01-01T00:00:00Z",
            "user": {"id": "u", "name": "u", "domain": {"id": "d", "name": "d"}}, "roles": [], "catalog": self.catalog,
            "project": {"id": "p", "name": "p", "domain": {"id": "d", "name": "d"}},
        }  # fmt: skip
        return web.json_response({"token": token}, headers={"X-Subject-Token": "t"})


@pytest.fixture
async def trap() -> AsyncIterator[Trap]:
    trap = await Trap().start()
    yield trap
    await trap.stop()


def pool_of(**settings: Any) -> CloudPool:
    given = {"auth_url": "http://192.0.2.1/identity", "client_retry_limit": 0, "connect_timeout": 2.0, **settings}
    return CloudPool(CloudSettings(**given), SystemClock())


@pytest.fixture
async def pool() -> AsyncIterator[CloudPool]:
    pool = pool_of()
    yield pool
    await pool.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433", "0x7f.1"])
@pytest.mark.parametrize("auth_type", ["v3password", "password", "v3applicationcredential", "v3token"])
async def test_a_login_at_the_engines_own_machine(pool: CloudPool, trap: Trap, host: str, auth_type: str) -> None:
    """A credential's auth_url leads to the loopback address."""
    auth = {**LOGIN, "auth_url": f"http://{host}:{trap.port}/v3", "token": "t"}
    if auth_type == "v3applicationcredential":
        auth = {"auth_url": auth["auth_url"], "application_credential_id": "i", "application_credential_secret": "s"}
    with pytest.raises(CloudError) as refused:
        await pool.cloud(PluginCredential.of(auth_type, auth))
    assert trap.asked == []
    assert not refused.value.transient


@pytest.mark.parametrize("host", ["169.254.169.254", "10.0.0.1", "[fe80::1]", "[fd00::1]", "100.64.0.1"])
async def test_a_login_inside_the_operators_network(pool: CloudPool, host: str) -> None:
    """A credential's auth_url leads to a metadata service or a private network."""
    auth = {**LOGIN, "auth_url": f"http://{host}/v3"}
    with pytest.raises(CloudError, match="not a public address"):
        await asyncio.wait_for(pool.cloud(PluginCredential.of("v3password", auth)), 10)


@pytest.mark.parametrize(
    "auth_type", ["none", "admin_token", "http_basic", "v3oidcclientcredentials", "v3oidcpassword", "v9magic"]
)
async def test_a_plug_in_that_asks_elsewhere(pool: CloudPool, trap: Trap, auth_type: str) -> None:
    """A credential names a plug-in that does not log in at an identity service, or fetches a token from any URL."""
    url = f"http://127.0.0.1:{trap.port}"
    auth = {**LOGIN, "auth_url": url, "endpoint": url, "access_token_endpoint": url, "discovery_endpoint": url}
    with pytest.raises(Invalid, match="remote_cloud_auth_types"):
        await pool.cloud(PluginCredential.of(auth_type, auth))
    assert trap.asked == []


async def test_a_catalog_with_internal_addresses(trap: Trap) -> None:
    """A cloud that may be named answers with a catalog whose orchestration endpoint is inside."""
    inside = await Trap().start()
    # The identity service is at 127.0.0.1, which the operator lists; the orchestration service is at another address.
    trap.catalog = [
        {"type": "orchestration", "name": "heat", "endpoints": [
            {"interface": "public", "region": "R", "region_id": "R", "url": f"http://localhost:{inside.port}/v1/p"}]}
    ]  # fmt: skip
    pool = pool_of(remote_cloud_networks=("127.0.0.1/32",))
    try:
        auth = {**LOGIN, "auth_url": f"http://127.0.0.1:{trap.port}/v3"}
        cloud = await pool.cloud(PluginCredential.of("v3password", auth))
        assert trap.asked == ["POST /v3/auth/tokens"]
        await cloud.request("GET", "heat", "/stacks")
        assert inside.asked == ["GET /v1/p/stacks"], "the network is listed"
    finally:
        await pool.close()
    inside.asked.clear()
    trap.catalog[0]["endpoints"][0]["url"] = f"http://127.0.0.2:{inside.port}/v1/p"
    pool = pool_of(remote_cloud_networks=("127.0.0.1/32",))
    try:
        cloud = await pool.cloud(PluginCredential.of("v3password", auth))
        with pytest.raises(CloudError, match="not a public address") as refused:
            await cloud.request("GET", "heat", "/stacks")
        assert not refused.value.transient
        assert inside.asked == []
    finally:
        await pool.close()
        await inside.stop()


@pytest.mark.parametrize("answer", [{}, [], {"token": {}}, {"token": {"catalog": 5}}, {"token": None}, "token"])
async def test_an_identity_service_that_answers_nonsense(trap: Trap, answer: Any) -> None:
    """The cloud that a credential names answers a login with something else than a token."""
    trap.answer = answer
    pool = pool_of(remote_cloud_networks=("127.0.0.0/8",))
    try:
        with pytest.raises(StokerError):
            auth = {**LOGIN, "auth_url": f"http://127.0.0.1:{trap.port}/v3"}
            await pool.cloud(PluginCredential.of("v3password", auth))
    finally:
        await pool.close()


class Secrets:
    """A cloud whose key manager has one secret."""

    region = None

    def __init__(self, secret: Any) -> None:
        self._secret = secret

    def has_service(self, name: str) -> bool:
        return name == "barbican"

    async def get(self, *_: Any, **__: Any) -> str:
        return json.dumps(self._secret)


@pytest.mark.parametrize(
    "auth",
    [{}, {"auth_url": 5}, {"auth_url": "file:///etc/passwd"}, {"auth_url": "gopher://x"}, {"auth_url": None},
     {"auth_url": "http://x", "password": {"a": 1}}, {"auth_url": "http://x", "password": [1]}, 5, "x", None],
)  # fmt: skip
async def test_secret_without_credentials(auth: Any) -> None:
    """A secret's URL has another scheme, or its options have another form than a login's."""
    secrets: Any = Secrets({"auth_type": "v3password", "auth": auth})
    with pytest.raises(BadValue):
        await remote_cloud(secrets, {"credential_secret_id": "s"})
