"""Users of the network API."""

from __future__ import annotations

import pytest
from network_client import Client

from stoker.emulator.testing import ServedCloud


@pytest.fixture
def demo(served: ServedCloud) -> Client:
    return Client(served)


@pytest.fixture
def admin(served: ServedCloud) -> Client:
    return Client(served, "admin")
