"""What an engine was doing when it died: for an operation that was cancelled, and after another engine has it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.cloud.transport import Answer, Request
from stoker.engine.ownership.peers import NoPeers
from stoker.engine.settings import EngineSettings
from stoker_foundation.clock import ManualClock, SystemClock
from testing.harness import World

REF = {"name": "web", "id": None}
SETTINGS = EngineSettings(lease_seconds=5000.0, stack_action_timeout=10_000_000)
NETWORKS = "/network/v2.0/networks"
PROJECTS = "/identity/v3/projects"


def template(**resources: Any) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": resources}


class Held(NamedTuple):
    """An engine whose requests of some path are held from a certain moment on, and one that is alive."""

    dying: World
    alive: World
    sent: list[Request]
    let_go: asyncio.Event


@pytest.fixture
async def engines(served: ServedCloud, tmp_path: Path) -> AsyncIterator[Callable[..., Held]]:
    """Return a function that holds the requests of the first of two engines which create objects at a path."""
    clock = ManualClock(SystemClock().now())
    worlds = [World(tmp_path / "stoker.db", served, clock=clock, settings=SETTINGS, peers=NoPeers()) for _ in "ab"]
    for world in worlds:
        await world.start()
    dying, alive = worlds

    def hold(path: str, monkeypatch: pytest.MonkeyPatch) -> Held:
        held = Held(dying, alive, [], asyncio.Event())
        exchange = dying.pool.transport._exchange

        async def slow(request: Request) -> Answer:
            if request.method == "POST" and request.url.endswith(path):
                held.sent.append(request)
                await held.let_go.wait()
            return await exchange(request)

        monkeypatch.setattr(dying.pool.transport, "_exchange", slow)
        return held

    yield hold
    for world in worlds:
        await world.engine.membership.beat()
        await world.stop()


def freeze(world: World) -> None:
    """Have the engine report itself no more, as if its process stood still."""
    membership = world.engine.membership
    membership.leave()
    membership._gone = True
    world.engine.services.background.stopped = False  # it does not stop
    assert membership._timer is not None
    membership._timer.cancel()


async def expire(held: Held) -> None:
    """Let the lease of the frozen engine expire, until the other one has nothing left to do."""
    assert isinstance(held.alive.clock, ManualClock)
    held.alive.clock.advance(SETTINGS.lease_seconds + 1)
    for _ in range(300):
        await held.alive.turn()


def networks(held: Held) -> set[str]:
    listed = held.alive.served.call("GET", NETWORKS, token=held.alive.context.token).json["networks"]
    return {network["id"] for network in listed}


async def test_actions_of_a_cancelled_operation_fail_and_late_objects_belong_to_their_resources(
    engines: Callable[..., Held], monkeypatch: pytest.MonkeyPatch
) -> None:
    held = engines("/networks", monkeypatch)
    before = networks(held)
    await held.dying.call("stack_create", name="web", template=template(net={"type": "OS::Neutron::Net"}))
    await held.dying.until(lambda: bool(held.sent))
    freeze(held.dying)
    await held.alive.call("stack_action", ref=REF, action="cancel_without_rollback")
    await expire(held)
    net = (await held.alive.resources("web"))["net"]
    assert (net["action"], net["status"], net["physical_id"]) == ("CREATE", "FAILED", None)
    assert net["status_reason"] == "Aborted: resources.net: CREATE aborted (cancelled)"
    events = await held.alive.call("event_list", ref=REF)
    assert [(event["resource_name"], event["status"]) for event in events][-1] == ("net", "FAILED")

    held.let_go.set()  # the request of the engine that died arrives after all
    assert isinstance(held.alive.clock, ManualClock)
    for _ in range(600):
        held.alive.clock.advance(3)
        await held.alive.turn()
        net = (await held.alive.resources("web"))["net"]
        if net["physical_id"] is not None:
            break
    assert networks(held) - before == {net["physical_id"]}
    assert (net["action"], net["status"]) == ("CREATE", "FAILED")
    assert (await held.alive.delete("web"))["status"] == "COMPLETE"
    assert networks(held) == before


async def test_project_created_for_stack_users_after_a_takeover_is_deleted_with_the_stack(
    engines: Callable[..., Held], monkeypatch: pytest.MonkeyPatch
) -> None:
    held = engines("/projects", monkeypatch)

    def projects() -> set[str]:
        token = held.alive.served.token("admin", "admin")
        return {item["id"] for item in held.alive.served.call("GET", PROJECTS, token=token).json["projects"]}

    before = projects()
    user = {"type": "AWS::IAM::User"}
    await held.dying.call("stack_create", name="web", template=template(user=user))
    await held.dying.until(lambda: bool(held.sent))
    freeze(held.dying)
    await held.alive.call("stack_update", ref=REF, template=template())
    await expire(held)
    shown = await held.alive.call("stack_show", ref=REF)
    assert (shown["action"], shown["status"]) == ("UPDATE", "COMPLETE")

    held.let_go.set()
    await held.dying.engine.membership.beat()
    await held.dying.until(lambda: not held.dying.engine.runs and not held.dying.engine.services.background.tasks)
    assert len(projects() - before) == 1
    assert (await held.alive.delete("web"))["status"] == "COMPLETE"
    assert projects() == before
