"""Change windows and freezes: calendars by the rules of iCalendar, what they refuse, and what waits."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openstack_emulator.testing import ServedCloud
from stoker.base.errors import BadValue, ChangeWindowClosed, Forbidden
from stoker.cloud.credentials import TokenCredential
from stoker.engine.change_control import Control
from stoker.engine.change_windows import Calendar
from stoker.store import queries
from stoker.store.records import HEALING
from stoker_foundation.clock import ManualClock
from testing.harness import RARE_HEARTBEATS, World

REF = {"name": "web", "id": None}
NIGHTS = {
    "name": "nights of Saturday",
    "start": "2026-01-03T22:00",
    "end": "2026-01-04T04:00",
    "repeat": "FREQ=WEEKLY;BYDAY=SA",
    "time_zone": "Europe/Berlin",
}
CHRISTMAS = {
    "name": "Christmas",
    "start": "2025-12-20T00:00",
    "end": "2026-01-06T00:00",
    "repeat": "FREQ=YEARLY",
    "time_zone": "Europe/Berlin",
}


def at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def opening(now: str, **data: Any) -> str | None:
    found = Control.read(data).opens_at(at(now))
    return None if found is None else datetime.fromtimestamp(found, UTC).strftime("%Y-%m-%dT%H:%MZ")


def test_a_window_repeats_in_local_time() -> None:
    assert opening("2026-02-04T12:00+01:00", windows=[NIGHTS]) == "2026-02-07T21:00Z"
    assert opening("2026-07-01T12:00+02:00", windows=[NIGHTS]) == "2026-07-04T20:00Z", "in summer"
    assert opening("2026-07-05T03:59+02:00", windows=[NIGHTS]) == "2026-07-05T01:59Z", "it is open"
    assert opening("2026-07-05T04:00+02:00", windows=[NIGHTS]) == "2026-07-11T20:00Z", "it has just closed"


def test_a_freeze_closes_windows() -> None:
    data: dict[str, Any] = {"windows": [NIGHTS], "freezes": [CHRISTMAS]}
    assert opening("2026-12-19T12:00+01:00", **data) == "2026-12-19T21:00Z"
    assert opening("2026-12-20T00:00+01:00", **data) == "2027-01-09T21:00Z"
    assert opening("2026-12-19T12:00+01:00", freezes=[CHRISTMAS]) == "2026-12-19T11:00Z"


def test_all_calendars_must_allow_a_change() -> None:
    sunday = {"start": "2026-01-04T00:00", "end": "2026-01-05T00:00", "repeat": "FREQ=WEEKLY;BYDAY=SU"}
    both = Control.combined([Control.read({"windows": [NIGHTS]}), Control.read({"windows": [sunday]})])
    found = both.opens_at(at("2026-02-04T12:00+00:00"))
    assert found == at("2026-02-08T00:00+00:00")
    once = Control.read({"windows": [{"start": "2026-01-01T00:00", "end": "2026-01-02T00:00"}]})
    assert Control.combined([both, once]).opens_at(at("2026-02-04T12:00+00:00")) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"time_zone": "Mars/Olympus"}, r"windows\[0\].time_zone: 'Mars/Olympus' is no time zone"),
        ({"time_zone": "../../etc/passwd"}, "no time zone"),
        ({"start": "tomorrow"}, r"windows\[0\].start must be a local time"),
        ({"start": "2026-01-03T22:00+01:00"}, "without an offset"),
        ({"end": "2026-01-03T21:00"}, "end must be after start"),
        ({"repeat": "FREQ=SECONDLY"}, "FREQ"),
        ({"repeat": "FREQ=MONTHLY;BYMONTH=2;BYMONTHDAY=31"}, "no month has"),
        ({"repeat": "FREQ=DAILY;INTERVAL=0"}, "must be between 1 and 1000"),
        ({"repeat": "FREQ=DAILY;INTERVAL=-1"}, "must be between 1 and 1000"),
        ({"repeat": "FREQ=DAILY;COUNT=0"}, "must be between 1 and 1000"),
        ({"repeat": "FREQ=DAILY;WKST=MO\nRRULE:INTERVAL=0;FREQ=DAILY"}, "must be a rule of iCalendar"),
        ({"repeat": "FREQ=WEEKLY;BYDAY=XX"}, "no rule of iCalendar"),
        ({"repeat": "FREQ=YEARLY;INTERVAL=100;COUNT=1;BYMONTH=1;BYMONTHDAY=1"}, "yields no time"),
        ({"every": "day"}, "must be a map with the keys"),
    ],
)
def test_unusable_periods_are_refused_with_their_place(change: dict[str, Any], message: str) -> None:
    with pytest.raises(BadValue, match=message):
        Calendar.read({"windows": [{**NIGHTS, **change}]}, "")


@settings(max_examples=60, deadline=None)
@given(st.integers(1_767_225_600, 1_830_297_600), st.sampled_from([3600, 86400, 5 * 86400]))
def test_closed_calendar_has_a_next_opening(now: int, step: int) -> None:
    control = Control.read({"windows": [NIGHTS], "freezes": [CHRISTMAS]})
    opens = control.opens_at(float(now))
    assert opens is not None and opens >= now
    assert control.opens_at(opens) == opens
    between = now + step
    if between < opens:
        assert control.opens_at(float(between)) == opens


@pytest.fixture
async def world(tmp_path: Path, served: ServedCloud) -> AsyncIterator[World]:
    world = await World(tmp_path / "stoker.db", served).start()
    yield world
    await world.stop()


def freeze(world: World, hours: float) -> dict[str, Any]:
    """A freeze that has begun, and that ends in some hours."""
    begin, end = (
        datetime.fromtimestamp(world.clock.now() + seconds, UTC).replace(tzinfo=None).isoformat()
        for seconds in (-3600.0, hours * 3600.0)
    )
    return {"name": "release", "start": begin, "end": end}


def value(text: str) -> dict[str, Any]:
    resource = {"type": "OS::Heat::TestResource", "properties": {"value": text}}
    return {"heat_template_version": "2021-04-16", "resources": {"value": resource}}


async def test_freeze_refuses_changes_until_its_end_or_override(world: World) -> None:
    await world.create("web", value("1"))
    control = await world.call("change_control_change", ref=REF, control={"freezes": [freeze(world, 2)]})
    assert control["open"] is False
    changes: dict[str, dict[str, Any]] = {
        "stack_update": {"template": value("2")},
        "stack_delete": {},
        "stack_action": {"action": "suspend"},
    }
    for method, arguments in changes.items():
        with pytest.raises(ChangeWindowClosed, match="must not be changed until 20"):
            await world.call(method, ref=REF, **arguments)
    [request] = [row for row in await world.call("change_request_list") if row["action"] == "UPDATE"]
    await world.call("change_request_break_glass", request_id=request["id"], reason="the shop is down")
    assert (await world.update("web", value("2")))["status"] == "COMPLETE"
    with pytest.raises(ChangeWindowClosed):
        await world.update("web", value("3"))
    assert isinstance(world.clock, ManualClock)
    world.clock.advance(2 * 3600.0 + 1)
    assert (await world.update("web", value("3")))["status"] == "COMPLETE"


GROUP = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "group": {
            "type": "OS::Heat::AutoScalingGroup",
            "properties": {"min_size": 1, "max_size": 3, "resource": {"type": "OS::Heat::TestResource"}},
        },
        "up": {
            "type": "OS::Heat::ScalingPolicy",
            "properties": {
                "auto_scaling_group_id": {"get_resource": "group"},
                "adjustment_type": "change_in_capacity",
                "scaling_adjustment": 1,
            },
        },
    },
}


@pytest.mark.parametrize(
    ("automatic", "refusal"), [("allowed", None), ("wait", ChangeWindowClosed), ("refused", Forbidden)]
)
async def test_scaling_follows_the_setting_for_automatic_actions(
    world: World, automatic: str, refusal: type[Exception] | None
) -> None:
    await world.create("web", GROUP)
    group = (await world.resources("web"))["group"]["physical_id"]
    control = {"freezes": [freeze(world, 2)], "automatic": automatic}
    await world.call("change_control_change", ref=REF, control=control)

    async def scale() -> int:
        await world.call("resource_signal", ref=REF, name="up", details={"current": "alarm"})
        await world.settle(group)
        return len(await world.resources("web", depth=1)) - 2

    if refusal is None:
        assert await scale() == 2
        return
    with pytest.raises(refusal):
        await scale()
    assert isinstance(world.clock, ManualClock)
    world.clock.advance(2 * 3600.0 + 1)
    if refusal is Forbidden:
        with pytest.raises(Forbidden):
            await scale()
    else:
        assert await scale() == 2


NET = {
    "heat_template_version": "2021-04-16",
    "resources": {"net": {"type": "OS::Neutron::Net", "properties": {"name": "declared"}}},
}


async def damage(world: World, how: str) -> None:
    """Delete the network of the stack, or rename it, as somebody does outside of Stoker."""
    net = (await world.resources("web"))["net"]["physical_id"]
    cloud = await world.pool.cloud(TokenCredential(world.context.token))
    if how == "healing":
        await cloud.request("DELETE", "neutron", f"/v2.0/networks/{net}")
    else:
        await cloud.request("PUT", "neutron", f"/v2.0/networks/{net}", json={"network": {"name": "changed"}})


def has_been_repaired(world: World, stack_id: str) -> bool:
    """Whether a repair has begun and ended."""
    found = world.database.read_now(queries.operations_of, stack_id)
    return any(one.cause == HEALING and one.finished_at for one in found)


async def repaired(world: World, stack_id: str, seconds: float) -> bool:
    """Let time pass, at most until a repair has begun and ended; return whether it has."""
    assert isinstance(world.clock, ManualClock)
    end = world.clock.now() + seconds
    while world.clock.now() < end:
        if has_been_repaired(world, stack_id):
            return True
        world.clock.advance(20)
        await world.turn()
    return False


@pytest.mark.parametrize("automatic", ["wait", "refused"])
@pytest.mark.parametrize("how", ["healing", "drift"])
async def test_repairs_follow_the_setting_for_automatic_actions(
    served: ServedCloud, tmp_path: Path, how: str, automatic: str
) -> None:
    chosen = replace(RARE_HEARTBEATS, lease_seconds=5000.0, drift_interval=600, drift_calls_per_minute=6000)
    world = await World(tmp_path / "stoker.db", served, settings=chosen).start()
    made = await world.create("web", NET, tags=["stoker:heal=10"] if how == "healing" else [])
    if how == "drift":
        await world.call("drift_watch_change", ref=REF, mode="repair")
    control = {"freezes": [freeze(world, 1)], "automatic": automatic}
    await world.call("change_control_change", ref=REF, control=control)
    await damage(world, how)
    assert not await repaired(world, made["id"], 3500.0), "the freeze"
    if automatic == "wait":
        await repaired(world, made["id"], 4000.0)
        await world.until(lambda: has_been_repaired(world, made["id"]))  # however slowly the cloud answers meanwhile
    else:
        assert not await repaired(world, made["id"], 4000.0)
    await world.settle(made["id"])
    status = (await world.call("stack_show", ref=REF))["status"]
    assert status == "COMPLETE"
    await world.stop()
