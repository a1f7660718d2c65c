"""Notifications on the operator's message bus: their content and order, and that none is lost."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from oslo_config import cfg

from openstack_emulator.testing import ServedCloud
from stoker.base.config import register_options
from stoker.rpc import messaging
from stoker.rpc.notifications import open_bus
from stoker.store import announcements
from stoker.store.records import NOTIFICATION
from testing.harness import World

_impl_test = importlib.import_module("oslo_messaging.notify._impl_test")  # after ours, which silences its warnings

TEMPLATE = {
    "heat_template_version": "2021-04-16",
    "description": "A random text.",
    "parameters": {"word": {"type": "string", "hidden": True}},
    "resources": {"text": {"type": "OS::Heat::Value", "properties": {"value": {"get_param": "word"}}}},
}


class Bus:
    """Keeps what is sent; refuses `refusals` times."""

    def __init__(self, refusals: int = 0) -> None:
        self.refusals = refusals
        self.sent: list[tuple[str, Mapping[str, Any], bool]] = []

    async def send(self, event_type: str, payload: Mapping[str, Any], *, error: bool) -> None:
        if self.refusals:
            self.refusals -= 1
            raise OSError("the broker is away")
        self.sent.append((event_type, payload, error))

    @property
    def types(self) -> list[str]:
        return [event_type for event_type, _, _ in self.sent]


@pytest.fixture
def bus() -> Bus:
    return Bus()


@pytest.fixture
async def world(served: ServedCloud, tmp_path: Path, bus: Bus) -> AsyncIterator[World]:
    world = await World(tmp_path / "stoker.db", served, bus=bus).start()
    yield world
    await world.stop()


async def test_every_action_is_reported_from_start_to_end(world: World, bus: Bus) -> None:
    stack = await world.create("told", TEMPLATE, parameters={"word": "swordfish"}, tags=["blue", "green"])
    ref = {"name": "told", "id": None}
    for action in ("suspend", "resume", "check"):
        await world.call("stack_action", ref=ref, action=action)
        await world.settle(stack["id"])
    await world.call("snapshot_create", ref=ref, name="first")
    await world.settle(stack["id"])
    await world.update("told", {**TEMPLATE, "description": "Another."}, parameters={"word": "halibut"})
    await world.delete("told")
    expected = [
        f"orchestration.stack.{action}.{phase}"
        for action in ("create", "suspend", "resume", "check", "snapshot", "update", "delete")
        for phase in ("start", "end")
    ]
    await world.until(lambda: len(bus.sent) == len(expected))
    assert bus.types == expected
    assert "swordfish" not in repr(bus.sent)
    assert "halibut" not in repr(bus.sent)
    _, payload, error = bus.sent[1]
    assert not error
    assert dict(payload) == {
        "tenant_id": world.context.project_id,
        "user_id": "demo",
        "user_identity": world.context.user_id,
        "username": "demo",
        "stack_identity": f"arn:openstack:heat::{world.context.project_id}:stacks/told/{stack['id']}",
        "stack_name": "told",
        "state": "CREATE_COMPLETE",
        "state_reason": "Stack CREATE completed successfully",
        "create_at": payload["create_at"],
        "description": "A random text.",
        "updated_at": None,
        "tags": ["blue", "green"],
    }
    assert bus.sent[-1][1]["state"] == "DELETE_COMPLETE"


async def test_failures_and_rollbacks_are_reported_as_such(world: World, bus: Bus) -> None:
    failing = {
        "heat_template_version": "2021-04-16",
        "resources": {"bad": {"type": "OS::Heat::TestResource", "properties": {"fail": True}}},
    }
    await world.create("failing", failing, disable_rollback=False)
    await world.until(lambda: len(bus.sent) == 4)
    assert bus.types == [
        "orchestration.stack.create.start",
        "orchestration.stack.create.error",
        "orchestration.stack.rollback.start",
        "orchestration.stack.rollback.end",
    ]
    assert [error for _, _, error in bus.sent] == [False, True, False, False]


async def test_nested_stacks_and_groups_that_scale_are_reported(world: World, bus: Bus) -> None:
    template = {
        "heat_template_version": "2021-04-16",
        "resources": {
            "group": {
                "type": "OS::Heat::AutoScalingGroup",
                "properties": {"min_size": 1, "max_size": 3, "resource": {"type": "OS::Heat::RandomString"}},
            },
            "more": {
                "type": "OS::Heat::ScalingPolicy",
                "properties": {
                    "adjustment_type": "change_in_capacity",
                    "scaling_adjustment": 1,
                    "auto_scaling_group_id": {"get_resource": "group"},
                },
            },
        },
    }
    stack = await world.create("scaling", template)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    await world.call("resource_signal", ref={"name": "scaling", "id": None}, name="more", details={})
    await world.until(lambda: "orchestration.autoscaling.end" in bus.types)
    scaling = [(kind, payload) for kind, payload, _ in bus.sent if "autoscaling" in kind]
    group = (await world.resources("scaling"))["group"]["nested_name"]
    assert [kind for kind, _ in scaling] == ["orchestration.autoscaling.start", "orchestration.autoscaling.end"]
    names = ("adjustment", "adjustment_type", "capacity", "groupname", "stack_name")
    assert [[payload[name] for name in names] for _, payload in scaling] == [
        [1, "change_in_capacity", 1, group, "scaling"],
        [1, "change_in_capacity", 2, group, "scaling"],
    ]
    nested = [kind for kind, payload, _ in bus.sent if payload["stack_name"] == group]
    assert "orchestration.stack.update.start" in nested


async def test_unavailable_broker_delays_notifications_only(world: World, bus: Bus) -> None:
    bus.refusals = 3
    stack = await world.create("patient", TEMPLATE, parameters={"word": "x"})
    assert stack["status"] == "COMPLETE"
    await world.until(lambda: len(bus.sent) == 2)
    assert bus.types == ["orchestration.stack.create.start", "orchestration.stack.create.end"]


async def test_pending_notifications_are_sent_by_next_engine(world: World, bus: Bus, served: ServedCloud) -> None:
    bus.refusals = 10**6
    await world.create("left", TEMPLATE, parameters={"word": "x"})
    assert await world.database.read(announcements.engines_with_pending) == {world.engine.services.id}
    await world.stop()
    bus.refusals = 0
    await world.start()
    await world.until(lambda: len(bus.sent) == 2)
    assert bus.types == ["orchestration.stack.create.start", "orchestration.stack.create.end"]

    def nothing_waits() -> bool:
        with world.database.engine.connect() as connection:
            return announcements.waiting(connection, world.engine.services.id, NOTIFICATION, 10) == []

    await world.until(nothing_waits)


async def test_pending_notifications_are_dropped_without_bus(world: World, bus: Bus) -> None:
    bus.refusals = 10**6
    await world.create("left", TEMPLATE, parameters={"word": "x"})
    assert await world.database.read(announcements.engines_with_pending) == {world.engine.services.id}
    await world.stop()
    world.bus = None
    await world.start()

    def nothing_waits() -> bool:
        with world.database.engine.connect() as connection:
            return announcements.engines_with_pending(connection) == set()

    await world.until(nothing_waits)


async def test_without_a_bus_nothing_is_recorded(served: ServedCloud, tmp_path: Path) -> None:
    world = await World(tmp_path / "quiet.db", served).start()
    await world.create("quiet", TEMPLATE, parameters={"word": "x"})
    assert await world.database.read(announcements.engines_with_pending) == set()
    await world.stop()


@pytest.fixture
def config() -> Iterator[cfg.ConfigOpts]:
    config = cfg.ConfigOpts()
    register_options(config)
    messaging.register_options(config)
    config([])
    config.set_override("transport_url", "fake://")
    config.set_override("host", "here")
    _impl_test.reset()
    yield config
    _impl_test.reset()


@pytest.mark.parametrize(("publisher", "level", "priority"), [(None, "INFO", "INFO"), ("us", "warn", "WARN")])
async def test_notifications_go_out_through_the_configured_drivers(
    config: cfg.ConfigOpts, publisher: str | None, level: str, priority: str
) -> None:
    config.set_override("driver", ["test"], group="oslo_messaging_notifications")
    config.set_override("default_publisher_id", publisher)
    config.set_override("default_notification_level", level)
    bus = open_bus(config)
    assert bus is not None
    await bus.send("orchestration.stack.create.start", {"stack_name": "a"}, error=False)
    await bus.send("orchestration.stack.create.error", {"stack_name": "a"}, error=True)
    sent = [(message["priority"], message["publisher_id"]) for _, message, _, _ in _impl_test.NOTIFICATIONS]
    assert sent == [(priority, publisher or "orchestration.here"), ("ERROR", publisher or "orchestration.here")]


def test_without_a_driver_there_is_no_bus(config: cfg.ConfigOpts) -> None:
    assert open_bus(config) is None
