"""A served cloud for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker_foundation.clock import ManualClock


@pytest.fixture
def served() -> Iterator[ServedCloud]:
    """The whole cloud on a loopback port; its time moves with `served.advance(seconds)`."""
    with ServedCloud(new_cloud(clock=ManualClock())) as running:
        yield running
