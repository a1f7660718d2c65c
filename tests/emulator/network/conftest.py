"""Users of the network API."""

from __future__ import annotations

import pytest

from openstack_emulator.testing import ServedCloud
from tests.emulator.network.network_client import Client


@pytest.fixture
def demo(served: ServedCloud) -> Client:
    return Client(served)


@pytest.fixture
def admin(served: ServedCloud) -> Client:
    return Client(served, "admin")
