"""Benches for types of the orchestration service."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest
from resource_harness import Bench

from stoker.base.clock import ManualClock
from stoker.cloud.session import Cloud
from stoker.plugins.resource import ResourceType


class LocalBench:
    """Makes benches of types that call no service; one that does fails."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock

    def __call__(self, kind: type[ResourceType], **services: object) -> Bench:
        nowhere = cast(Cloud, SimpleNamespace(project_id="project"))
        return Bench(kind, nowhere, self.clock, **services)


@pytest.fixture
def local(clock: ManualClock) -> LocalBench:
    """Makes a bench for a type that calls no service."""
    return LocalBench(clock)
