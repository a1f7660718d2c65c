"""Benches for types of the orchestration service."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.cloud.session import Cloud
from stoker.plugins.resource import ResourceType
from stoker_foundation.clock import ManualClock
from tests.resources.resource_harness import Bench


class LocalBench:
    """Creates benches for types that use no service; a type that uses one fails."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock

    def __call__(self, kind: type[ResourceType], **services: Any) -> Bench:
        nowhere = cast(Cloud, SimpleNamespace(project_id="project"))
        return Bench(kind, nowhere, self.clock, **services)


@pytest.fixture
def local(clock: ManualClock) -> LocalBench:
    """Creates a bench for a type that uses no service."""
    return LocalBench(clock)


@pytest.fixture
def served() -> Iterator[ServedCloud]:
    """The emulated cloud, whose catalog also has orchestration."""
    endpoints = {
        "orchestration": "http://orchestration.test:8004/v1/%(project_id)s",
        "cloudformation": "http://Orchestration.test:8000/v1",
    }
    with ServedCloud(new_cloud(clock=ManualClock(), extra_endpoints=endpoints)) as running:
        yield running
