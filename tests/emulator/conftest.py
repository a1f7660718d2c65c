"""A served cloud for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from stoker.base.clock import ManualClock
from stoker.emulator.services import new_cloud
from stoker.emulator.testing import ServedCloud


@pytest.fixture
def served() -> Iterator[ServedCloud]:
    """The whole cloud on a loopback port; its time moves with `served.advance(seconds)`."""
    with ServedCloud(new_cloud(clock=ManualClock())) as running:
        yield running
