"""A Nova that supports older microversions only."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.base.errors import NotSupported
from stoker.cloud.auth import CloudPool, TokenCredential
from stoker.cloud.session import Cloud
from stoker.cloud.settings import CloudSettings
from stoker.resources.nova.key_pair import KeyPair
from stoker.resources.nova.server.server import Server
from stoker.resources.nova.server_group import ServerGroup
from stoker_foundation.clock import ManualClock
from tests.resources.resource_harness import Bench

Given = Callable[..., dict[str, Any]]


@pytest.fixture
async def older(served: ServedCloud, clock: ManualClock) -> AsyncIterator[Cloud]:
    """The cloud, with microversion 2.30 of Nova's API."""
    settings = CloudSettings(auth_url=f"{served.url}/identity", max_microversions={"nova": "2.30"})
    pool = CloudPool(settings, clock)
    yield await pool.cloud(TokenCredential(served.token("demo", "demo")))
    await pool.close()


async def test_a_server_with_tags_files_and_no_networks(
    older: Cloud, clock: ManualClock, served: ServedCloud, given: Given
) -> None:
    servers = Bench(Server, older, clock, served.advance)
    body = {**given(tags=["x"], personality={"/etc/motd": "hello"}), "networks": None}

    server = await servers.create(body)

    assert (await older.get("nova", f"/servers/{server.physical_id}/tags"))["tags"] == ["x"]
    await servers.update(server, {**body, "flavor": "m1.tiny", "image": "cirros-0.6.2-x86_64-disk"})
    shown = (await older.get("nova", f"/servers/{server.physical_id}"))["server"]
    assert (shown["status"], shown["flavor"]["id"]) == ("ACTIVE", "1")


async def test_a_server_group_has_policies(older: Cloud, clock: ManualClock, served: ServedCloud) -> None:
    groups = Bench(ServerGroup, older, clock, served.advance)

    group = await groups.create({"policies": ["affinity"]})

    assert (await groups.attribute(group, "show"))["policies"] == ["affinity"]
    with pytest.raises(NotSupported, match="rules"):
        await groups.create({"rules": {"max_server_per_host": 2}}, "other")


async def test_keys_are_created(older: Cloud, clock: ManualClock, served: ServedCloud) -> None:
    keys = Bench(KeyPair, older, clock, served.advance)

    key = await keys.create({"name": "k", "save_private_key": True})

    assert "PRIVATE KEY" in await keys.attribute(key, "private_key")
