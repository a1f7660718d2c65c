"""Images and backups of which nobody has heard that they were begun: each is found, and there is one, or none."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.cloud.transport import Answer, Request
from stoker.store import queries
from stoker_foundation.clock import ManualClock, SystemClock
from testing.harness import World

REF = {"name": "precious", "id": None}
NETWORK = {
    "net": {"type": "OS::Neutron::Net"},
    "subnet": {
        "type": "OS::Neutron::Subnet",
        "properties": {"network": {"get_resource": "net"}, "cidr": "10.9.0.0/24"},
    },
}
VOLUME = {"type": "OS::Cinder::Volume", "properties": {"size": 1}}
SERVER = {
    "type": "OS::Nova::Server",
    "depends_on": "subnet",
    "properties": {"image": "cirros", "flavor": "m1.tiny", "networks": [{"network": {"get_resource": "net"}}]},
}
DISK = {"boot_index": 0, "image": "cirros", "volume_size": 1, "delete_on_termination": True}
BOOTED = {
    **SERVER,
    "properties": {
        "flavor": "m1.tiny",
        "networks": [{"network": {"get_resource": "net"}}],
        "block_device_mapping_v2": [DISK],
    },
}
NESTED = {"type": "member.yaml"}
FILES = {"member.yaml": json.dumps({"heat_template_version": "2021-04-16", "resources": {"inside": VOLUME}})}

BACKUP, IMAGE = "POST /volume/v3/*/backups", "POST /compute/v2.1/servers/*/action"
"""The calls that begin copies."""
THINGS: dict[str, tuple[dict[str, Any], str]] = {
    "volume": (VOLUME, BACKUP),
    "server": (SERVER, IMAGE),
    "server on a volume": (BOOTED, IMAGE),
    "nested volume": (NESTED, BACKUP),
}
LOSSES: dict[str, dict[str, Any]] = {
    "the connection breaks": {"do": "act_and_drop"},
    "the answer is 503": {"do": "succeed_but_fail", "status": 503},
    "the answer is 500": {"do": "succeed_but_fail", "status": 500},
}
CRASH = "the engine dies"


class EngineRestarts:
    """The engine that is alive, and the outcome of its calls."""

    def __init__(self, path: Path, served: ServedCloud) -> None:
        self._path, self._served = path, served
        self._clock = ManualClock(SystemClock().now())
        self.held, self.go_on = asyncio.Event(), asyncio.Event()

    async def begin(self) -> None:
        self.world = await World(self._path, self._served, clock=self._clock).start()

    async def die(self) -> None:
        """Leave everything as it is, in the middle of whatever is going on."""
        engine = self.world.engine
        engine.membership._gone = True
        assert engine.membership._timer is not None
        engine.membership._timer.cancel()
        tasks = [
            *engine.services.background.tasks,
            *(task for run in engine.runs.all() for task in run._schedule.tasks),
        ]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.world.journal.close()
        await self.world.pool.close()
        self.world.database.close()

    def hold(self, call: str, *, acted: bool) -> None:
        """Have the first such call be on its way until `go_on`: before the service has acted, or after."""
        transport = self.world.pool.transport
        exchange = transport._exchange

        async def slow(request: Request) -> Answer:
            path = request.url.removeprefix(self._served.url)
            if not fnmatch(f"{request.method} {path}", call) or self.held.is_set():
                return await exchange(request)
            answer = await exchange(request) if acted else None
            self.held.set()
            await self.go_on.wait()
            return answer or await exchange(request)

        transport._exchange = slow  # type: ignore[method-assign]

    async def lose(self, call: str, loss: str, method: str, **arguments: Any) -> dict[str, Any]:
        """Ask for something that makes such a call, whose answer gets lost; the stack afterwards."""
        stack = await self.world.call("stack_identify", ref=REF)
        if loss in LOSSES:
            self._served.do(lambda: self._served.cloud.faults.add(Fault(on=call, times=1, **LOSSES[loss])))
            await self.world.call(method, ref=REF, **arguments)
        else:
            self.hold(call, acted=True)
            await self.world.call(method, ref=REF, **arguments)
            await self.world.until(self.held.is_set)
            await self.die()
            await self.begin()
        return await self.world.settle(stack["id"])


@pytest.fixture
async def lives(served: ServedCloud, tmp_path: Path) -> AsyncIterator[EngineRestarts]:
    lives = EngineRestarts(tmp_path / "stoker.db", served)
    await lives.begin()
    yield lives
    await lives.world.stop()


async def create(world: World, thing: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    network = NETWORK if thing in (SERVER, BOOTED) else {}
    template = {"heat_template_version": "2021-04-16", "resources": {**network, "thing": {**thing, **more}}}
    stack = await world.create(REF["name"] or "", template, files=FILES)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    return stack


def saved(world: World) -> list[str]:
    """Ids of all copies: images of servers, and backups."""
    served = world.served
    images = served.call("GET", "/image/v2/images?visibility=private", token=served.token()).json["images"]
    backups = served.call("GET", "/volume/v3/backups?all_tenants=1", token=served.token()).json["backups"]
    return sorted(copy["id"] for copy in [*images, *backups])


def originals(world: World) -> int:
    """How many servers and volumes there are."""
    served, token = world.served, world.served.token("demo", "demo")
    volumes = served.call("GET", "/volume/v3/volumes", token=token).json["volumes"]
    return len([*volumes, *served.call("GET", "/compute/v2.1/servers", token=token).json["servers"]])


async def recorded(world: World) -> list[str | None]:
    """Ids of the copies that the stack's snapshots have recorded."""
    taken = await world.call("snapshot_list", ref=REF)
    rows = [await world.database.read(queries.resources_of, snapshot["id"]) for snapshot in taken]
    return sorted((row.physical_id for of_one in rows for row in of_one), key=str)


async def forget(world: World) -> None:
    """Remove the stack's only snapshot."""
    [taken] = await world.call("snapshot_list", ref=REF)
    await world.call("snapshot_delete", ref=REF, snapshot_id=taken["id"])
    await world.until(lambda: not world.engine.runs)
    assert await world.call("snapshot_list", ref=REF) == []
    assert volume_snapshots(world) == []


def volume_snapshots(world: World) -> list[Any]:
    """The snapshots of volumes."""
    served = world.served
    snapshots = served.call("GET", "/volume/v3/snapshots", token=served.token("demo", "demo")).json["snapshots"]
    return list(snapshots)


async def pass_turns(world: World) -> None:
    """Time enough for whatever is not held up."""
    for _ in range(100):
        await world.turn()


@pytest.mark.parametrize("loss", [*LOSSES, CRASH])
@pytest.mark.parametrize("thing", ["volume", "server"])
async def test_deletion_policy_snapshot_leaves_one_copy(lives: EngineRestarts, thing: str, loss: str) -> None:
    definition, call = THINGS[thing]
    await create(lives.world, definition, deletion_policy="Snapshot")

    stack = await lives.lose(call, loss, "stack_delete")
    if loss == "the answer is 500":
        assert (stack["action"], stack["status"]) == ("DELETE", "FAILED")
        stack = await lives.world.delete("precious")

    assert (stack["action"], stack["status"]) == ("DELETE", "COMPLETE"), stack["status_reason"]
    assert (len(saved(lives.world)), originals(lives.world)) == (1, 0)


@pytest.mark.parametrize("loss", [*LOSSES, CRASH])
@pytest.mark.parametrize("thing", list(THINGS))
async def test_snapshot_copy_is_created_once_and_deleted_with_it(lives: EngineRestarts, thing: str, loss: str) -> None:
    definition, call = THINGS[thing]
    await create(lives.world, definition)

    stack = await lives.lose(call, loss, "snapshot_create")

    assert (stack["action"], stack["status"]) == ("SNAPSHOT", "COMPLETE"), stack["status_reason"]
    assert len(saved(lives.world)) == 1
    assert await recorded(lives.world) == saved(lives.world)
    await forget(lives.world)
    assert saved(lives.world) == []


@pytest.mark.parametrize("remove", ["the snapshot", "the stack"])
@pytest.mark.parametrize("thing", list(THINGS))
async def test_lost_copy_is_found_at_deletion(lives: EngineRestarts, thing: str, remove: str) -> None:
    world = lives.world
    definition, call = THINGS[thing]
    await create(world, definition)
    faults = world.served.cloud.faults
    looks = "GET /image/v2/images" if call is IMAGE else "GET /volume/v3/*/backups"
    away = world.in_cloud(lambda: faults.add(Fault(on=looks, do="fail", status=500)))
    stack = await lives.lose(call, "the answer is 500", "snapshot_create")
    assert (stack["action"], stack["status"]) == ("SNAPSHOT", "FAILED")
    world.in_cloud(lambda: faults.remove(away.id))
    assert (len(saved(world)), await recorded(world)) == (1, [None])

    if remove == "the snapshot":
        await forget(world)
    else:
        stack = await world.delete("precious")
        assert stack["status"] == "COMPLETE", stack["status_reason"]
        assert (originals(world), volume_snapshots(world)) == (0, [])
    assert saved(world) == []


@pytest.mark.parametrize("acted", [False, True], ids=["before the service acts", "after it has acted"])
@pytest.mark.parametrize("thing", list(THINGS))
async def test_stack_deleted_during_snapshot_leaves_no_copy(lives: EngineRestarts, thing: str, acted: bool) -> None:
    """The copies of a nested stack are made in an operation of its own, which the deletion has yet to reach."""
    world = lives.world
    definition, call = THINGS[thing]
    stack = await create(world, definition)
    lives.hold(call, acted=acted)
    await world.call("snapshot_create", ref=REF)
    await world.until(lives.held.is_set)

    await world.call("stack_delete", ref=REF)
    await pass_turns(world)
    lives.go_on.set()

    stack = await world.settle(stack["id"])
    assert (stack["action"], stack["status"]) == ("DELETE", "COMPLETE"), stack["status_reason"]
    assert (saved(world), originals(world), volume_snapshots(world)) == ([], 0, [])


async def test_snapshot_deleted_while_running_leaves_no_copy(lives: EngineRestarts) -> None:
    """Time is up for the snapshot, but the call that makes a copy is still under way."""
    world = lives.world
    stack = await create(world, NESTED)
    lives.hold(BACKUP, acted=False)
    taken = await world.call("snapshot_create", ref=REF)
    await world.until(lives.held.is_set)
    assert isinstance(world.clock, ManualClock)
    world.clock.advance(world.engine.services.settings.stack_action_timeout + 1.0)
    assert (await world.settle(stack["id"]))["status"] == "FAILED"

    await world.call("snapshot_delete", ref=REF, snapshot_id=taken["id"])
    await pass_turns(world)
    lives.go_on.set()

    await world.until(lambda: not world.engine.runs)
    assert await world.call("snapshot_list", ref=REF) == []
    assert saved(world) == []
