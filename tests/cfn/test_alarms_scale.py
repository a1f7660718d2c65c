"""The whole way from a metric to servers behind a load balancer: alarms call policies, which change a group's size."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.api.cfn.app import make_cfn_app
from stoker.api.server import Server
from stoker.cli.framework import installed_example
from stoker.engine.settings import EngineSettings
from stoker.operations import OPERATIONS
from stoker.rpc.dispatch import DirectClient, Dispatcher
from stoker_foundation.clock import ManualClock
from testing.harness import World, api_config

COOLDOWN = 6000
EVALUATION = 60


class Scene:
    """The stack of the example, whose time and whose cloud's time pass only when the test says so."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.pool = ""

    def call(self, method: str, path: str, body: Any = None) -> Any:
        served = self.world.served
        answer = served.call(method, path, body, served.token("demo", "demo"))
        assert answer.status < 300, answer.content
        return answer.json if answer.content else None

    def servers(self) -> dict[str, str]:
        """The addresses of the servers by their IDs."""
        found = self.call("GET", "/compute/v2.1/servers/detail")["servers"]
        return {
            server["id"]: next(iter(server["addresses"].values()))[0]["addr"]
            for server in found
            if server["status"] == "ACTIVE"
        }

    def members(self) -> set[str]:
        """The addresses of the members of the pool."""
        found = self.call("GET", f"/load-balancer/v2.0/lbaas/pools/{self.pool}/members")["members"]
        return {member["address"] for member in found}

    def load(self, percent: float) -> None:
        """Report the load of every server's processors."""
        now = self.world.served.do(self.world.served.cloud.clock.now)
        measures = {key: {"cpu_util": [{"timestamp": now, "value": percent}]} for key in self.servers()}
        self.call("POST", "/metric/v1/batch/resources/metrics/measures", measures)

    def cool_down(self) -> None:
        self.world.clock.advance(COOLDOWN)  # type: ignore[attr-defined]

    async def until(self, condition: Callable[[], Any]) -> None:
        end = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < end, "it takes too long"
            await self.world.turn()

    async def is_scaled(self, size: int) -> None:
        """Wait until the group has this size, and its servers are the members of the pool."""
        await self.until(lambda: len(self.servers()) == size)
        nested = (await self.world.resources("web"))["group"]["physical_id"]
        await self.world.settle(nested)
        assert self.members() == set(self.servers().values())
        assert len(self.servers()) == size


async def work(served: ServedCloud) -> None:
    """Let the cloud finish what it has begun, which takes it no time."""
    clock = served.cloud.clock
    assert isinstance(clock, ManualClock)
    while True:
        served.do(lambda: clock.advance(0.001))
        await asyncio.sleep(0.02)


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    options: dict[str, Any] = {}
    cloud = new_cloud(clock=ManualClock(time.time()), pace=0.0)
    with ServedCloud(cloud) as served:
        settings = EngineSettings(type_options=options)
        world = await World(tmp_path / "stoker.db", served, settings=settings).start()
        client = DirectClient(asyncio.get_running_loop(), Dispatcher(world.engine, OPERATIONS))
        server = Server(make_cfn_app(api_config(tmp_path, served), client), "127.0.0.1", 0)
        server.start()
        options["heat_waitcondition_server_url"] = f"{server.url}/v1/waitcondition"
        working = asyncio.create_task(work(served))
        yield Scene(world)
        working.cancel()
        await asyncio.to_thread(server.stop)
        await world.stop()


async def test_alarms_add_and_remove_servers(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "stoker")
    world, served = scene.world, scene.world.served
    template, member = (installed_example(f"scaling/{name}.yaml").read_text() for name in ("scaling", "member"))
    stack = await world.create(
        "web", template, files={"member.yaml": member}, parameters={"cooldown": COOLDOWN, "max_size": 3}
    )
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    scene.pool = world.outputs(stack)["pool"]
    await scene.is_scaled(1)
    first = set(scene.servers())

    async def nothing_happens(why: str) -> None:
        """The alarm calls the policy once more, which does nothing for this reason."""
        caplog.clear()
        served.advance(EVALUATION)
        await scene.until(lambda: any(why in record.getMessage() for record in caplog.records))

    for size, why in ((2, "is in its cooldown until"), (3, "has 3 members, and the adjustment does not change that")):
        scene.cool_down()
        scene.load(95)
        served.advance(EVALUATION)
        await scene.is_scaled(size)
        await nothing_happens(why)
        assert len(scene.servers()) == size

    served.advance(300)
    for size, why in ((2, "is in its cooldown until"), (1, "has 1 members, and the adjustment does not change that")):
        scene.cool_down()
        scene.load(5)
        served.advance(EVALUATION)
        await scene.is_scaled(size)
        await nothing_happens(why)
        assert len(scene.servers()) == size
    assert first.isdisjoint(scene.servers()), "the oldest members are removed first"
    assert (await world.delete("web"))["status"] == "COMPLETE"
    assert scene.servers() == {}
