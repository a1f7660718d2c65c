"""A scripted service on loopback, and clouds that use it without a Keystone."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.cloud.auth import CloudPool, TokenCredential
from stoker.cloud.session import Cloud
from stoker.cloud.settings import CloudSettings
from stoker_foundation.clock import ManualClock
from tests.cloud.scripted_service import Script, catalog


@pytest.fixture
async def script() -> AsyncIterator[Script]:
    made = Script()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", made.serve)
    async with TestServer(app) as server:
        made.url = str(server.make_url("/")).rstrip("/")
        yield made


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def open_cloud(script: Script, clock: ManualClock) -> AsyncIterator[Callable[..., Awaitable[Cloud]]]:
    """Opens a cloud on the scripted service with the given settings."""
    pools: list[CloudPool] = []

    async def make(region: str | None = None, **settings: Any) -> Cloud:
        pools.append(CloudPool(CloudSettings(auth_url=f"{script.url}/identity", **settings), clock))
        text = json.dumps(catalog(script.url))
        return await pools[-1].cloud(TokenCredential("t1", "p1", "u1", ("member",), text), region)

    yield make
    for pool in pools:
        await pool.close()


@pytest.fixture
async def cloud(open_cloud: Callable[..., Awaitable[Cloud]]) -> Cloud:
    return await open_cloud()


@pytest.fixture
def served() -> Iterator[ServedCloud]:
    """An emulated OpenStack."""
    with ServedCloud(new_cloud(clock=ManualClock())) as running:
        yield running


@pytest.fixture
async def pool(served: ServedCloud, clock: ManualClock) -> AsyncIterator[CloudPool]:
    """Clouds of the emulated OpenStack."""
    made = CloudPool(
        CloudSettings(
            auth_url=f"{served.url}/identity/v3/",
            username="heat",
            password=served.cloud.password_of("heat"),
            project_name="service",
            stack_user_domain_name="heat",
            stack_domain_admin="heat_domain_admin",
            stack_domain_admin_password=served.cloud.password_of("heat_domain_admin"),
            remote_cloud_networks=("127.0.0.0/8",),
        ),
        clock,
    )
    yield made
    await made.close()
