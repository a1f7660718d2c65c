"""A world per test: an emulated cloud on its own thread, an engine on the test's loop, clocks that tests move."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from stoker.base.clock import ManualClock, SystemClock
from stoker.base.logging import protect
from stoker.emulator.services import new_cloud
from stoker.emulator.testing import ServedCloud
from tests.engine.world import World


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


class Keeper(logging.Handler):
    """Keeps what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[Any] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture
def kept(caplog: pytest.LogCaptureFixture) -> Iterator[list[Any]]:
    """The records of all lines from INFO on, as a process's handlers get them."""
    keeper, logger = Keeper(), logging.getLogger("stoker")
    protect(keeper)
    caplog.set_level(logging.INFO, "stoker")
    logger.addHandler(keeper)
    yield keeper.records
    logger.removeHandler(keeper)
