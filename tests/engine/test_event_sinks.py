"""Events of stacks in queues that their environments name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stoker.base.errors import StackValidationFailed
from stoker.cloud import messaging
from testing.harness import World

TEMPLATE = {
    "heat_template_version": "2021-04-16",
    "parameters": {"word": {"type": "string", "hidden": True}},
    "resources": {
        "text": {"type": "OS::Heat::Value", "properties": {"value": {"get_param": "word"}}},
        "group": {
            "type": "OS::Heat::ResourceGroup",
            "properties": {"count": 1, "resource_def": {"type": "OS::Heat::RandomString"}},
        },
    },
}
SINK = {"type": "zaqar-queue", "target": "events", "ttl": 600}
FIELDS = ("resource_name", "resource_action", "resource_status")


class Reader:
    """Takes the messages out of a queue of the project, by a client of its own: the engine's waits for its clock."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.got: list[dict[str, Any]] = []

    async def until(self, enough: Callable[[list[tuple[str, ...]]], bool]) -> list[dict[str, Any]]:
        """Return all messages, as soon as they report enough events."""
        path, headers = "/messaging/v2/queues/events/messages?pop=20", {"Client-ID": messaging.CLIENT_ID}
        for _ in range(2000):
            popped = self.world.served.call("DELETE", path, token=self.world.context.token, headers=headers).json
            self.got += [message["body"] for message in popped["messages"]]
            reported = [tuple(each["payload"][field] for field in FIELDS) for each in self.got]
            if enough(reported):
                return self.got
            await self.world.turn()
        raise AssertionError(f"no message reported it; the messages are {reported}")

    async def until_reported(self, *event: str) -> list[dict[str, Any]]:
        return await self.until(lambda reported: event in reported)


async def create(world: World, name: str, **sink: Any) -> dict[str, Any]:
    environment = {"event_sinks": [{**SINK, **sink}]}
    return await world.create(name, TEMPLATE, parameters={"word": "swordfish"}, environment=environment)


async def test_every_event_of_the_tree_is_sent_once_and_in_order(world: World) -> None:
    stack = await create(world, "sunk")
    recorded = await world.call("event_list", ref={"name": "sunk", "id": None}, nested_depth=5)
    got = await Reader(world).until(lambda reported: len(reported) >= len(recorded))
    assert sorted(each["id"] for each in got) == sorted(event["id"] for event in recorded)
    own = [event["id"] for event in recorded if event["stack_id"] == stack["id"]]
    assert [each["id"] for each in got if each["payload"]["stack_id"] == stack["id"]] == own
    first = got[0]
    assert (first["type"], first["version"]) == ("os.heat.event", "0.1")
    assert set(first["payload"]) == {
        *FIELDS, "physical_resource_id", "stack_id", "resource_status_reason", "resource_type",
        "resource_properties", "version",
    }  # fmt: skip
    assert "swordfish" not in repr(got)


async def test_stack_end_is_reported_before_credential_deletion(world: World) -> None:
    await create(world, "ending")
    reader = Reader(world)
    await reader.until_reported("ending", "CREATE", "COMPLETE")
    keystone = world.engine.services.credentials
    released: list[str] = []
    release = keystone.release

    async def watched(stack: Any) -> None:
        released.append(stack.name)
        await release(stack)

    keystone.release = watched  # type: ignore[method-assign]
    await world.delete("ending")
    await reader.until_reported("ending", "DELETE", "COMPLETE")
    await world.until(lambda: released == ["ending"])


async def test_unavailable_sink_delays_events_only(world: World) -> None:
    fault = {"on": "POST /messaging/*", "do": "fail", "status": 503, "times": 3}
    assert world.served.call("POST", "/control/faults", fault).status == 201
    stack = await create(world, "patient")
    assert stack["status"] == "COMPLETE"
    got = await Reader(world).until_reported("patient", "CREATE", "COMPLETE")
    assert got[0]["payload"]["resource_status"] == "IN_PROGRESS"


async def test_refusing_sink_is_abandoned(world: World) -> None:
    fault = {"on": "POST /messaging/*", "do": "fail", "status": 403, "times": 1}
    assert world.served.call("POST", "/control/faults", fault).status == 201
    stack = await create(world, "refused")
    assert stack["status"] == "COMPLETE"
    await world.until(lambda: world.served.call("GET", "/control/faults").json["faults"][0]["hits"] == 1)
    await world.call("stack_action", ref={"name": "refused", "id": None}, action="check")
    await Reader(world).until_reported("refused", "CHECK", "COMPLETE")


@pytest.mark.parametrize(
    ("sink", "reported"),
    [
        ({"type": "kafka"}, "zaqar-queue"),
        ({"target": ""}, "target"),
        ({"target": "not good"}, "target"),
        ({"ttl": 5}, "ttl"),
        ({"colour": "red"}, "colour"),
    ],
)
async def test_sinks_that_cannot_be_used_are_refused(world: World, sink: dict[str, Any], reported: str) -> None:
    with pytest.raises(StackValidationFailed, match=reported):
        await create(world, "bad", **sink)
