"""Servers to test with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stoker.cloud.session import Cloud
from stoker.plugins.resource import ResourceType
from stoker.resources.nova.server.server import Server
from tests.resources.resource_harness import Bench

MakeBench = Callable[[type[ResourceType]], Bench]
SMALL = {"image": "cirros", "flavor": "m1.nano"}


@pytest.fixture
def servers(bench: MakeBench) -> Bench:
    """A bench for servers."""
    return bench(Server)


@pytest.fixture
async def subnet(cloud: Cloud) -> str:
    """Id of the first subnet of the network `private`."""
    network = await cloud.find("neutron.network", "private")
    listed = await cloud.list("neutron", "/v2.0/subnets", "subnets", {"network_id": network})
    return str(listed[0]["id"])


@pytest.fixture
def given() -> Callable[..., dict[str, Any]]:
    """Properties of a small server on these networks."""
    return lambda *networks, **more: {**SMALL, "networks": list(networks), **more}
