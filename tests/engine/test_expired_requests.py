"""Requests that are answered with an error because they took too long, or because the engine stops, change nothing."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from openstack_emulator.core.faults import Fault
from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.contract.request import Reference
from stoker.contract.stacks import CreateStack, DeleteStack
from stoker.engine.settings import EngineSettings
from stoker.operations import OPERATIONS
from stoker.rpc.contract import EngineUnavailable
from stoker.rpc.dispatch import DirectClient, Dispatcher
from stoker.store.database import Expiry
from stoker.store.tables import trusts
from stoker_foundation.clock import SystemClock
from testing.harness import ThreadedWorld

NETWORK = {"heat_template_version": "2021-04-16", "resources": {"net": {"type": "OS::Neutron::Net"}}}
FLAVOR = {
    "heat_template_version": "2021-04-16",
    "parameters": {"flavor": {"type": "string", "constraints": [{"custom_constraint": "nova.flavor"}]}},
}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[ThreadedWorld]:
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.02)) as served:
        world = ThreadedWorld(tmp_path, served, EngineSettings(validation_seconds=60.0))
        yield world
        served.do(served.cloud.faults.clear)
        world.stop()


@pytest.fixture
def service(world: ThreadedWorld) -> Iterator[Dispatcher[Any]]:
    service = Dispatcher(world.engine, OPERATIONS)
    yield service
    world.run(service.stop(0.0))


@pytest.fixture
def client(world: ThreadedWorld, service: Dispatcher[Any]) -> DirectClient:
    return DirectClient(world.loop, service)


def stacks(world: ThreadedWorld) -> list[str]:
    return [row["name"] for row in world.run(world.world.call("stack_list"))["stacks"]]


def test_creation_delayed_by_locked_database_expires(
    world: ThreadedWorld, service: Dispatcher[Any], client: DirectClient, tmp_path: Path
) -> None:
    """Also, the trust that the request has made is not lost."""
    other = sqlite3.connect(tmp_path / "stoker.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(EngineUnavailable, match="nothing was changed"):
        client.call(world.world.context, CreateStack(name="late", template=NETWORK), timeout=2.0)
    other.execute("ROLLBACK")
    other.close()
    world.run(service.stop(30.0))  # the late request is processed to its end; beside it, another makes its own trust
    world.client().call(world.world.context, CreateStack(name="next", template=NETWORK))
    assert stacks(world) == ["next"]
    mine = f"/identity/v3/OS-TRUST/trusts?trustor_user_id={world.world.context.user_id}"
    made = len(world.served.call("GET", mine, token=world.world.context.token).json["trusts"])
    with world.world.database.engine.connect() as connection:
        assert connection.execute(select(func.count()).select_from(trusts)).scalar() == made == 1


def test_deletion_delayed_by_locked_database_expires(
    world: ThreadedWorld, client: DirectClient, tmp_path: Path
) -> None:
    made = client.call(world.world.context, CreateStack(name="web", template=NETWORK))
    world.settle(made["id"])
    other = sqlite3.connect(tmp_path / "stoker.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(EngineUnavailable, match="nothing was changed"):
        client.call(world.world.context, DeleteStack(ref=Reference(name="web", id=None)), timeout=2.0)
    other.execute("ROLLBACK")
    other.close()
    client.call(world.world.context, CreateStack(name="next", template=NETWORK))
    assert sorted(stacks(world)) == ["next", "web"]
    shown = world.run(world.world.settle(made["id"]))
    assert (shown["action"], shown["status"]) == ("CREATE", "COMPLETE")


def test_request_expired_before_first_commit_commits_nothing(world: ThreadedWorld, client: DirectClient) -> None:
    fault = Fault(on="GET /compute/*/flavors*", do="delay", seconds=2.0)
    world.served.do(lambda: world.served.cloud.faults.add(fault))
    slow = CreateStack(name="late", template=FLAVOR, parameters={"flavor": "m1.tiny"})
    with pytest.raises(EngineUnavailable, match=r"longer than .* nothing was changed"):
        client.call(world.world.context, slow, timeout=1.0)
    world.run(asyncio.sleep(3.0))  # the request is still processed meanwhile
    assert stacks(world) == []


def test_all_requests_are_answered_when_an_engine_stops(
    world: ThreadedWorld, service: Dispatcher[Any], client: DirectClient
) -> None:
    """Those that are nearly done are completed; others change nothing, and say so, as do new ones."""
    fault = Fault(on="GET /compute/*/flavors*", do="delay", seconds=20.0)
    world.served.do(lambda: world.served.cloud.faults.add(fault))
    context = world.world.context

    async def call(name: str, template: Any, **more: Any) -> Any:
        return await service.dispatch(context, "stack_create", {"name": name, "template": template, **more})

    async def stopped() -> list[Any]:
        quick = asyncio.ensure_future(call("quick", NETWORK))
        slow = asyncio.ensure_future(call("slow", FLAVOR, parameters={"flavor": "m1.tiny"}))
        await asyncio.sleep(0)
        stop = asyncio.ensure_future(service.stop(2.0))
        await asyncio.sleep(0)
        new = asyncio.ensure_future(call("new", NETWORK))
        await stop
        return list(await asyncio.gather(quick, slow, new, return_exceptions=True))

    quick, slow, new = world.run(stopped())
    assert quick["name"] == "quick"
    assert isinstance(slow, EngineUnavailable) and "stopped; nothing was changed" in slow.message
    assert isinstance(new, EngineUnavailable) and "did not begin" in new.message
    assert stacks(world) == ["quick"]


def test_request_expires_or_completes() -> None:
    late, early = Expiry(), Expiry()
    assert late.expire() and not late.may_commit() and late.expired
    assert early.may_commit() and not early.expire() and early.may_commit() and not early.expired
