"""Fixtures for pytest: an emulated cloud for each test that asks for one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from openstack_emulator.testing import ServedCloud


@pytest.fixture
def openstack_cloud() -> Iterator[ServedCloud]:
    """A new cloud with all services, on a free port of the loopback address, whose time only `advance` moves.

    Log in at `openstack_cloud.url + "/identity/v3"` as the user `admin` or `demo`, with the password `secret` and the
    project of the same name.
    """
    from openstack_emulator.services import new_cloud  # the tests that use no cloud do not import one
    from openstack_emulator.testing import ServedCloud
    from stoker_foundation.clock import ManualClock

    with ServedCloud(new_cloud(clock=ManualClock())) as served:
        yield served
