"""Waiting for many objects of one kind costs a few looks at their list, not one look each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.cloud.credentials import TokenCredential
from stoker_foundation.clock import ManualClock, SystemClock
from testing.harness import World

SERVERS = 40
WAITED = 120.0
TEMPLATE = {
    "heat_template_version": "2021-04-16",
    "resources": {
        f"server{number}": {
            "type": "OS::Nova::Server",
            "properties": {"image": "cirros", "flavor": "m1.nano", "networks": [{"allocate_network": "none"}]},
        }
        for number in range(SERVERS)
    },
}
ONE = "GET /compute/v2.1/servers/????????-*"
LIST = "GET /compute/v2.1/servers/detail"


@pytest.fixture
def served() -> Iterator[ServedCloud]:
    with ServedCloud(new_cloud(clock=ManualClock(SystemClock().now()))) as served:
        yield served


@pytest.fixture
async def world(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    world = await World(tmp_path / "stoker.db", served).start()
    yield world
    await world.stop()


@pytest.fixture
def request_counters(served: ServedCloud) -> dict[str, Fault]:
    """Rules that do nothing but count."""
    rules = {on: Fault(on=on, do="fail", times=0) for on in (ONE, LIST)}
    served.do(lambda: [served.cloud.faults.add(rule) for rule in rules.values()])
    return rules


async def begin(world: World) -> str:
    """Have the servers begun and waited for."""
    admin = await world.pool.cloud(TokenCredential(world.served.token("admin", "admin")))
    quota = {"instances": SERVERS, "cores": SERVERS, "ram": 1_000_000}
    await admin.put("nova", f"/os-quota-sets/{world.context.project_id}", {"quota_set": quota})
    created = await world.call("stack_create", name="many", template=TEMPLATE, timeout_mins=100_000)
    while len(await admin.list("nova", "/servers", "servers", {"all_tenants": 1})) < SERVERS:
        await world.turn()
    await pass_time(world, 30.0)
    return str(created["id"])


async def pass_time(world: World, seconds: float) -> None:
    end = world.clock.now() + seconds
    while world.clock.now() < end:
        await world.turn()


async def quiet(world: World, rule: Fault) -> None:
    """Let time pass until the first ones no longer look for themselves.

    The cloud is a thread: on a busy machine, it may not have been entered for a while.
    """
    seen, unchanged = -1, 0
    while unchanged < 5:
        unchanged = unchanged + 1 if rule.seen == seen else 0
        seen = rule.seen
        await pass_time(world, 30.0)


async def statuses(world: World) -> dict[str, Any]:
    return {name: row["status"] for name, row in (await world.resources("many")).items()}


async def test_many_servers_are_polled_by_one_list(world: World, request_counters: dict[str, Fault]) -> None:
    await begin(world)
    await quiet(world, request_counters[ONE])
    begun = {on: rule.seen for on, rule in request_counters.items()}
    await pass_time(world, WAITED)
    assert request_counters[ONE].seen == begun[ONE]
    assert 0 < request_counters[LIST].seen - begun[LIST] <= WAITED / 5 + 1


async def test_changed_waiters_are_woken(world: World, served: ServedCloud) -> None:
    stack = await begin(world)
    served.advance(3600)
    shown = await world.settle(stack)
    assert (shown["action"], shown["status"], shown["status_reason"]) == (
        "CREATE",
        "COMPLETE",
        "Stack CREATE completed successfully",
    )
    assert set((await statuses(world)).values()) == {"COMPLETE"}


async def test_objects_are_polled_individually_if_list_is_refused(
    world: World, served: ServedCloud, request_counters: dict[str, Fault]
) -> None:
    refused = Fault(on=LIST, do="fail", status=403)
    served.do(lambda: served.cloud.faults.add(refused))
    stack = await begin(world)
    await world.until(lambda: request_counters[ONE].seen > SERVERS)
    served.advance(3600)
    assert (await world.settle(stack))["status"] == "COMPLETE"


async def test_deletions_are_waited_for_together(
    world: World, served: ServedCloud, request_counters: dict[str, Fault]
) -> None:
    stack = await begin(world)
    served.advance(3600)
    await world.settle(stack)
    await world.call("stack_delete", ref={"name": "many", "id": None})
    await quiet(world, request_counters[ONE])
    begun = request_counters[ONE].seen
    await pass_time(world, WAITED)
    assert request_counters[ONE].seen == begun
    served.advance(3600)
    assert (await world.settle(stack))["status"] == "COMPLETE"
