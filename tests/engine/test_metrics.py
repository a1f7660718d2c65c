"""What an engine measures of itself, as Prometheus reads it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from openstack_emulator.testing import ServedCloud
from stoker.processes import status
from stoker.processes.status import EngineMetrics
from stoker_foundation.clock import ManualClock, SystemClock
from testing.harness import World


def connection_error(_query: Callable[..., Any], *_arguments: Any) -> Any:
    raise OperationalError("a statement", None, OSError("the connection broke"), connection_invalidated=True)


HELD = {
    "heat_template_version": "2021-04-16",
    "resources": {"held": {"type": "OS::Heat::TestResource"}},
}
HOOK = {"resource_registry": {"resources": {"held": {"hooks": "pre-create"}}}}


async def measured(world: World) -> dict[str, float]:
    """Values by name, with their labels."""
    text = (await EngineMetrics(world.engine).text()).decode()
    pairs = (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, value in pairs}


async def test_metrics_without_database(served: ServedCloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ManualClock(SystemClock().now())
    world = await World(tmp_path / "stoker.db", served, clock=clock).start()
    before = await measured(world)
    clock.advance(1)
    with monkeypatch.context() as patch:
        patch.setattr(world.database, "read_now", connection_error)
        patch.setattr(status, "_DATABASE_SECONDS", 0.05)
        during = await measured(world)
    assert during["stoker_heartbeat_age_seconds"] == 1
    of_the_database = {'stoker_operations{state="running"}', 'stoker_operations{state="waiting"}'}
    assert before.keys() - during.keys() == of_the_database
    assert before.keys() == (await measured(world)).keys()
    await world.stop()


async def test_claim_age_starts_at_the_claim(served: ServedCloud, tmp_path: Path) -> None:
    clock = ManualClock(SystemClock().now())
    world = await World(tmp_path / "stoker.db", served, clock=clock).start()
    await world.call("stack_create", name="held", template=HELD, environment=HOOK)
    assert (await measured(world))["stoker_claim_age_seconds"] == 0
    await world.stop()
    clock.advance(1000)
    world = await World(tmp_path / "stoker.db", served, clock=clock).start()
    clock.advance(2)
    assert (await measured(world))["stoker_claim_age_seconds"] == 2
    await world.stop()
