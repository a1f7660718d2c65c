"""A world per test: an emulated cloud on its own thread, an engine on the test's loop, clocks that tests move."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from world import World

from stoker.base.clock import ManualClock, SystemClock
from stoker.emulator.services import new_cloud
from stoker.emulator.testing import ServedCloud


@pytest.fixture
def served() -> Iterator[ServedCloud]:
    # The emulated cloud keeps real time at a quick pace; the engine's clock is moved by the tests.
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.02)) as served:
        yield served


@pytest.fixture
async def world(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    world = await World(tmp_path / "stoker.db", served, ManualClock(SystemClock().now())).start()
    yield world
    await world.stop()
