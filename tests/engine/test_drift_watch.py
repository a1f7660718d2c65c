"""Drift that engines look for by themselves: what is recorded and reported, what is repaired, and when nothing is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from math import ceil
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import BadValue, CloudError
from stoker.cloud.credentials import TokenCredential
from stoker.engine.inspection.paced_reads import FIRST_PAUSE, Pace
from stoker.engine.ownership.drift_schedule import MOST_INEFFECTIVE, first_check_time, next_check_time
from stoker.engine.settings import EngineSettings
from stoker.store import queries
from stoker.store.records import FAILED, HEALING
from testing.harness import World, manual_clock

INTERVAL = 600
REF = {"name": "web", "id": None}
NET = {"type": "OS::Neutron::Net", "properties": {"name": "declared"}}


def template(**resources: Any) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": resources}


def settings(**options: Any) -> EngineSettings:
    given = {"drift_interval": INTERVAL, "drift_calls_per_minute": 6000, **options}
    return EngineSettings(
        lease_seconds=5000.0, heartbeat_seconds=20.0, stack_action_timeout=10_000_000, healing_interval=60, **given
    )


@pytest.fixture
async def world(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    world = World(tmp_path / "stoker.db", served, settings=settings())
    yield await world.start()
    await world.stop()


async def passes(world: World, seconds: float) -> None:
    for _ in range(ceil(seconds / 20)):
        world.clock.advance(20)  # type: ignore[attr-defined]
        for _ in range(5):
            await world.turn()


async def watch(world: World, mode: str | None = None) -> dict[str, Any]:
    if mode is not None:
        return await world.call("drift_watch_change", ref=REF, mode=mode)  # type: ignore[no-any-return]
    return await world.call("drift_watch_show", ref=REF)  # type: ignore[no-any-return]


async def next_detection(world: World, since: float) -> dict[str, Any]:
    """What is known after the next look."""
    for _ in range(400):
        await passes(world, 10)
        found = await watch(world)
        if found["time"] is not None and found["time"] > since:
            await passes(world, 20)  # the outcome of a repair is recorded after the look
            for _ in range(30):
                found = await watch(world)
                if found["mode"] != "repair" or found["status"] != "DRIFTED" or found["repair"]:
                    break
                await passes(world, 10)
            return found
    raise AssertionError("nobody looks")


async def change_outside(world: World, method: str, path: str, body: Any = None) -> Any:
    """Change an object behind the engine's back."""
    cloud = await world.pool.cloud(TokenCredential(world.context.token))
    return (await cloud.request(method, "neutron", f"/v2.0{path}", json=body)).body


async def renamed(world: World, net: str, name: str = "changed") -> None:
    await change_outside(world, "PUT", f"/networks/{net}", {"network": {"name": name}})


async def name_of(world: World, net: str) -> str:
    return str((await change_outside(world, "GET", f"/networks/{net}"))["network"]["name"])


async def repairs(world: World, stack_id: str) -> list[Any]:
    found = await world.database.read(queries.operations_of, stack_id)
    return [operation for operation in found if operation.cause == HEALING]


async def messages(world: World) -> list[str]:
    return [event["status_reason"] for event in await world.call("event_list", ref=REF)]


async def test_periodic_detection_is_recorded_and_changes_nothing(world: World) -> None:
    made = await world.create("web", template(net=NET))
    net = (await world.resources("web"))["net"]["physical_id"]
    assert await watch(world) == {
        "mode": "off", "chosen": None, "interval": INTERVAL, "status": None, "time": None, "age": None,
        "drifted": [], "uncompared": [], "repair": None,
    }  # fmt: skip
    await passes(world, 2 * INTERVAL)
    assert (await watch(world))["time"] is None, "nobody has asked for looks"
    assert (await watch(world, "detect"))["chosen"] == "detect"
    first = await next_detection(world, 0)
    assert (first["status"], first["drifted"], first["uncompared"]) == ("IN_SYNC", [], [])
    events = await messages(world)
    await renamed(world, net)
    second = await next_detection(world, first["time"])
    assert 0.9 * INTERVAL - 20 <= second["time"] - first["time"] <= 1.1 * INTERVAL + 60
    assert (second["status"], second["drifted"], second["repair"]) == ("DRIFTED", ["net"], None)
    assert (await world.call("stack_show", ref=REF))["last_look"] == {"status": "DRIFTED", "time": second["time"]}
    described = await world.call("stack_describe", ref=REF)
    assert (described["drift"]["status"], described["drift"]["time"]) == ("DRIFTED", second["time"])
    third = await next_detection(world, second["time"])
    assert third["age"] == world.clock.now() - third["time"]
    assert (await messages(world))[len(events) :] == ["drift: name differs from the template"], "drift is reported once"
    await renamed(world, net, "declared")
    await next_detection(world, third["time"])
    assert (await messages(world))[-1] == "drift: the object is as declared again"
    assert await name_of(world, net) == "declared" and not await repairs(world, made["id"])


async def test_repair_reverts_drift_in_nested_stacks(world: World) -> None:
    group = {"type": "OS::Heat::ResourceGroup", "properties": {"count": 2, "resource_def": NET}}
    made = await world.create("web", template(net=NET, group=group))
    await watch(world, "repair")
    await next_detection(world, 0)
    members = [each for each in await world.listed(REF, nested_depth=2) if each["type"] == "OS::Neutron::Net"]
    for member in members:
        await renamed(world, member["physical_id"])
    while not [one for one in await repairs(world, made["id"]) if one.finished_at]:
        await passes(world, 10)
    await world.settle(made["id"])
    assert {await name_of(world, member["physical_id"]) for member in members} == {"declared"}
    found = await next_detection(world, (await watch(world))["time"])
    assert (found["status"], found["repair"], len(await repairs(world, made["id"]))) == ("IN_SYNC", None, 1)


async def test_repairs_stop_after_two_failures(world: World) -> None:
    made = await world.create("web", template(net=NET))
    net = (await world.resources("web"))["net"]["physical_id"]
    await renamed(world, net)
    fault = Fault(on="PUT /network/*networks/*", do="fail", status=403)
    world.in_cloud(lambda: world.served.cloud.faults.add(fault))
    await watch(world, "repair")
    found = await watch(world)
    results: list[str | None] = []
    while found["repair"] != "ineffective" and len(results) < 8:
        found = await next_detection(world, found["time"] or 0)
        results.append(found["repair"])
    assert (results[0], results[-1]) == ("begun", "ineffective")
    await passes(world, 4 * INTERVAL)
    assert [one.status for one in await repairs(world, made["id"])] == [FAILED] * MOST_INEFFECTIVE
    world.in_cloud(world.served.cloud.faults.clear)
    await world.call("stack_update", ref=REF, template=template(net=NET), converge=True)
    await world.settle(made["id"])
    assert await name_of(world, net) == "declared"
    await renamed(world, net)
    while len(await repairs(world, made["id"])) == MOST_INEFFECTIVE:
        await passes(world, 10)
    await world.settle(made["id"])
    assert await name_of(world, net) == "declared"


async def test_repair_of_too_many_objects_is_refused(served: ServedCloud, tmp_path: Path) -> None:
    world = await World(tmp_path / "few.db", served, settings=settings(drift_replacements=1)).start()
    try:
        made = await world.create("web", template(one=NET, two=NET))
        await watch(world, "repair")
        first = await next_detection(world, 0)
        objects = [each["physical_id"] for each in (await world.resources("web")).values()]
        for net in objects:
            await change_outside(world, "DELETE", f"/networks/{net}")
        found = await next_detection(world, first["time"])
        assert (found["status"], found["repair"]) == ("DRIFTED", "too-many-replacements")
        assert not await repairs(world, made["id"])
        assert "drift: the object does not exist any more" in await messages(world)
    finally:
        await world.stop()


async def test_nothing_is_repaired_during_maintenance_of_the_cloud(served: ServedCloud, tmp_path: Path) -> None:
    world = await World(tmp_path / "kept.db", served, settings=settings(maintenance=True)).start()
    try:
        made = await world.create("web", template(net=NET), tags=["stoker:heal"])
        net = (await world.resources("web"))["net"]["physical_id"]
        await watch(world, "repair")
        first = await next_detection(world, 0)
        await change_outside(world, "DELETE", f"/networks/{net}")
        found = await next_detection(world, first["time"])
        assert (found["status"], found["repair"]) == ("DRIFTED", "maintenance")
        await passes(world, 4 * INTERVAL)  # health checks have been due many times, too
        assert len(await world.engine.services.database.read(queries.operations_of, made["id"], 10)) == 1
    finally:
        await world.stop()


@pytest.mark.parametrize("held", ["suspended", "policy", "locked", "ignored"])
async def test_drift_ignored_by_user_is_not_repaired(world: World, held: str) -> None:
    net = {**NET, "ignore_drift": ["name"]} if held == "ignored" else NET
    made = await world.create("web", template(net=net))
    identifier = (await world.resources("web"))["net"]["physical_id"]
    if held == "suspended":
        await world.call("stack_action", ref=REF, action="suspend")
        await world.settle(made["id"])
    if held == "locked":
        await world.call("stack_lock", ref=REF, reason="maintenance")
    if held == "policy":
        statement = {"Effect": "Allow", "Action": "Update:*", "Principal": "*", "Resource": "*"}
        await world.call("stack_settings_change", ref=REF, changes={"policy": {"Statement": [statement]}})
    await watch(world, "repair")
    await renamed(world, identifier)
    found = await next_detection(world, 0)
    for _ in range(30):
        found = await watch(world) if held != "ignored" and found["repair"] is None else found
        await passes(world, 10)
    expected = ("IN_SYNC", None) if held == "ignored" else ("DRIFTED", "not-now")
    assert (found["status"], found["repair"]) == expected
    assert not await repairs(world, made["id"]) and await name_of(world, identifier) == "changed"


async def test_operator_default_applies_to_stacks_without_setting(served: ServedCloud, tmp_path: Path) -> None:
    world = await World(tmp_path / "default.db", served, settings=settings(drift_mode="detect")).start()
    try:
        await world.create("web", template(net=NET))
        assert (await next_detection(world, 0))["mode"] == "detect"
        off = await watch(world, "off")
        await passes(world, 2 * INTERVAL)
        assert (await watch(world))["time"] == off["time"]
        with pytest.raises(BadValue, match="it must be one of off, detect, repair"):
            await watch(world, "always")
    finally:
        await world.stop()


async def test_stacks_of_a_project_share_list_requests(world: World) -> None:
    for number in range(3):
        nets = {f"net{each}": NET for each in range(10)}
        await world.create(f"many{number}", template(**nets))
        ref = {"name": f"many{number}", "id": None}
        await world.call("drift_watch_change", ref=ref, mode="detect")
    before = world.engine.membership.drift_watch.calls
    while len(world.engine.membership.drift_watch.statuses) < 3:
        await passes(world, 10)
    assert set(world.engine.membership.drift_watch.statuses.values()) == {"IN_SYNC"}
    assert world.engine.membership.drift_watch.calls - before == 1


async def test_unavailable_service_makes_drift_unknown_and_is_not_polled(world: World) -> None:
    await world.create("web", template(**{f"net{number}": NET for number in range(5)}))
    fault = Fault(on="GET /network/*", do="fail", status=503)
    world.in_cloud(lambda: world.served.cloud.faults.add(fault))
    await watch(world, "repair")
    found = await next_detection(world, 0)
    assert (found["status"], len(found["uncompared"])) == ("UNKNOWN", 5)
    assert not await messages(world) or "drift" not in (await messages(world))[-1]


async def test_detection_rate_per_service_backs_off_after_failures() -> None:
    clock = manual_clock()
    pace = Pace(clock, 60)
    times: list[tuple[str, float]] = []

    async def answer(service: str) -> None:
        times.append((service, clock.monotonic()))

    async def fail() -> None:
        raise CloudError("nova", 503, "down", transient=True)

    began = clock.monotonic()
    calls = [asyncio.ensure_future(pace.call("nova", lambda: answer("nova"))) for _ in range(3)]
    calls.append(asyncio.ensure_future(pace.call("neutron", lambda: answer("neutron"))))
    while not all(call.done() for call in calls):
        await asyncio.sleep(0)
        if not times or len(times) < 4:
            clock.advance(0.5)
    assert [at - began for service, at in times if service == "nova"] == [0.0, 1.0, 2.0]
    clock.advance(10)
    for failures in range(3):
        with pytest.raises(CloudError):
            await pace.call("nova", fail)
        made = pace.calls
        with pytest.raises(CloudError, match="down"):
            await pace.call("nova", lambda: answer("nova"))
        assert pace.calls == made, "the service is left alone"
        clock.advance(FIRST_PAUSE * 2**failures)
    await pace.call("nova", lambda: answer("nova"))


def test_detections_are_spread_over_the_interval() -> None:
    firsts = [first_check_time(f"project{number} owner", 0.0, 600.0) for number in range(200)]
    assert all(0 <= at < 600 for at in firsts) and len({int(at / 60) for at in firsts}) == 10
    nexts = {next_check_time("project owner", now, 600.0) - now for now in (0.0, 601.0, 1202.0, 1803.0)}
    assert len(nexts) == 4 and all(540 <= pause <= 660 for pause in nexts)
