"""An emulated OpenStack for each test, and benches for resource types on it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.cloud.auth import CloudPool, TokenCredential
from stoker.cloud.session import Cloud
from stoker.cloud.settings import CloudSettings
from stoker.cloud.transport import Answer, Request, Transport
from stoker.plugins.resource import ResourceType
from stoker_foundation.clock import ManualClock
from tests.resources.resource_harness import Bench, Resource

MakeBench = Callable[[type[ResourceType]], Bench]


@pytest.fixture
def served() -> Iterator[ServedCloud]:
    """The emulated cloud, on its own thread and port."""
    with ServedCloud(new_cloud(clock=ManualClock())) as running:
        yield running


@pytest.fixture
def clock() -> ManualClock:
    """The engine's clock."""
    return ManualClock()


@pytest.fixture
async def pool(served: ServedCloud, clock: ManualClock) -> AsyncIterator[CloudPool]:
    """Clouds of the emulated OpenStack, with the service user and the stack domain set up."""
    made = CloudPool(
        CloudSettings(
            auth_url=f"{served.url}/identity",
            username="heat",
            password=served.cloud.password_of("heat"),
            project_name="service",
            stack_user_domain_name="heat",
            stack_domain_admin="heat_domain_admin",
            stack_domain_admin_password=served.cloud.password_of("heat_domain_admin"),
        ),
        clock,
    )
    yield made
    await made.close()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every request that is sent from now on, as `GET http://…`; the bench itself sends none."""
    sent: list[str] = []
    send = Transport.send

    async def noted(self: Transport, request: Request) -> Answer:
        sent.append(f"{request.method} {request.url}")
        return await send(self, request)

    async def unasked(self: Bench, resource: Resource) -> None:
        await asyncio.sleep(0)

    monkeypatch.setattr(Transport, "send", noted)
    monkeypatch.setattr(Bench, "observed", unasked)
    return sent


@pytest.fixture
async def cloud(pool: CloudPool, served: ServedCloud) -> Cloud:
    """The emulated cloud as the user `demo` sees it."""
    return await pool.cloud(TokenCredential(served.token("demo", "demo")))


@pytest.fixture
async def admin(pool: CloudPool, served: ServedCloud) -> Cloud:
    """The emulated cloud as the administrator sees it."""
    return await pool.cloud(TokenCredential(served.token("admin", "admin")))


@pytest.fixture
def bench(cloud: Cloud, clock: ManualClock, served: ServedCloud) -> MakeBench:
    """Creates a bench for a type, as the user `demo`."""
    return lambda kind: Bench(kind, cloud, clock, served.advance)
