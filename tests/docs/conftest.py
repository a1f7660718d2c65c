"""What tests of the manual share: a whole Stoker beside an emulated cloud, and the manual's pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from stoker.base.clock import ManualClock, SystemClock
from stoker.emulator.services import new_cloud
from stoker.emulator.testing import ServedCloud
from tests.engine.world import World

ROOT = Path(__file__).parents[2]


@pytest.fixture
def docs() -> Path:
    """The directory of the manual."""
    return ROOT / "docs"


@pytest.fixture
def served() -> Iterator[ServedCloud]:
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.02)) as served:
        yield served


@pytest.fixture
async def world(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    world = await World(tmp_path / "stoker.db", served, ManualClock(SystemClock().now())).start()
    yield world
    await world.stop()
