"""A served cloud for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from keystoneauth1 import session
from keystoneauth1.identity import v3
from openstack.connection import Connection

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker_foundation.clock import ManualClock


@pytest.fixture
def served() -> Iterator[ServedCloud]:
    """The whole cloud on a loopback port; its time moves with `served.advance(seconds)`."""
    with ServedCloud(new_cloud(clock=ManualClock())) as running:
        yield running


@pytest.fixture
def connection() -> Iterator[Connection]:
    """A connection to a cloud on the real clock, where delays are skipped."""
    with ServedCloud(new_cloud(pace=0)) as served:
        login = v3.Password(
            auth_url=f"{served.url}/identity",
            username="demo",
            password="secret",
            project_name="demo",
            user_domain_id="default",
            project_domain_id="default",
        )
        yield Connection(session=session.Session(login))
