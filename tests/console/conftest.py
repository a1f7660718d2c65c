from __future__ import annotations

from collections.abc import Iterator

import pytest

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.engine.settings import EngineSettings
from stoker_foundation.clock import SystemClock
from testing.harness import ThreadedWorld
from tests.console.support import Browser, logged_in, served_console


@pytest.fixture(scope="package")
def served() -> Iterator[ServedCloud]:
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.02)) as served:
        yield served


@pytest.fixture(scope="package")
def world(served: ServedCloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThreadedWorld]:
    settings = EngineSettings(enable_stack_abandon=True, enable_stack_adopt=True)
    running = ThreadedWorld(tmp_path_factory.mktemp("engine"), served, settings)
    yield running
    running.stop()


@pytest.fixture(scope="package")
def base(world: ThreadedWorld, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served_console(world, tmp_path_factory.mktemp("api")) as url:
        yield url


@pytest.fixture
def browser(base: str, served: ServedCloud) -> Browser:
    return logged_in(base, served)
