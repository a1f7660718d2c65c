"""Signals that are stored in the object store or in a queue until a wait condition collects them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.messaging.rules.composition import Messaging
from openstack_emulator.objectstore.rules.composition import ObjectStore
from testing.harness import World

REF = {"name": "web", "id": None}
Send = Callable[[bytes], None]


def template(transport: str, count: int = 1) -> dict[str, Any]:
    handle = {"type": "OS::Heat::WaitConditionHandle", "properties": {"signal_transport": transport}}
    properties = {"handle": {"get_resource": "handle"}, "timeout": 600, "count": count}
    return {
        "heat_template_version": "2018-08-31",
        "resources": {"handle": handle, "wait": {"type": "OS::Heat::WaitCondition", "properties": properties}},
        "outputs": {"data": {"value": {"get_attr": ["wait", "data"]}}},
    }


async def create_waiting_stack(world: World, definition: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the ID of a stack whose condition waits, and what senders need."""
    stack = await world.call("stack_create", name="web", template=definition)
    while (shown := (await world.resources("web")).get("handle")) is None or shown["status"] != "COMPLETE":
        await world.turn()
    handle = await world.call("resource_show", ref=REF, name="handle")
    return stack["id"], json.loads(handle["attributes"]["signal"])


def to_object(world: World, destination: Mapping[str, Any]) -> Send:
    place = urlsplit(destination["alarm_url"])

    def send(body: bytes) -> None:
        assert world.served.call("PUT", f"{place.path}?{place.query}", body).status == 201

    return send


def to_queue(world: World, destination: Mapping[str, Any]) -> Send:
    user = {"id": destination["user_id"], "password": destination["password"]}
    identity = {"methods": ["password"], "password": {"user": user}}
    scope = {"project": {"id": destination["project_id"]}}
    opened = world.served.call("POST", "/identity/v3/auth/tokens", {"auth": {"identity": identity, "scope": scope}})
    headers = {"Client-ID": "1f0a9d3e-6d0b-5c8c-9a53-0f6d1b7c2e41", "X-Auth-Token": opened.headers["x-subject-token"]}
    catalog = opened.json["token"]["catalog"]
    (url,) = [service["endpoints"][0]["url"] for service in catalog if service["type"] == "messaging"]
    path = f"{urlsplit(url).path}/v2/queues/{destination['queue_id']}/messages"

    def send(body: bytes) -> None:
        messages = {"messages": [{"body": json.loads(body or b"{}"), "ttl": 600}]}
        assert world.served.call("POST", path, messages, headers=headers).status == 201

    return send


SENDERS = {"TEMP_URL_SIGNAL": to_object, "ZAQAR_SIGNAL": to_queue}


@pytest.mark.parametrize("transport", SENDERS)
async def test_queued_signals_are_collected_once_and_deleted_with_handle(world: World, transport: str) -> None:
    stack_id, destination = await create_waiting_stack(world, template(transport, count=3))
    send = SENDERS[transport](world, destination)
    send(b'{"data": "here!", "id": "mine", "reason": "ready"}')
    send(b"")
    while len(await world.call("resource_metadata", ref=REF, name="handle")) < 2:
        await world.turn()
    send(b'{"data": [1, 2]}')
    stack = await world.settle(stack_id)

    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert json.loads(world.outputs(stack)["data"]) == {"mine": "here!", "2": None, "3": [1, 2]}
    assert await world.call("resource_metadata", ref=REF, name="handle") == {
        "mine": {"data": "here!", "reason": "ready", "status": "SUCCESS"},
        "2": {"data": None, "reason": "Signal 2 received", "status": "SUCCESS"},
        "3": {"data": [1, 2], "reason": "Signal 3 received", "status": "SUCCESS"},
    }
    events = await world.call("event_list", ref=REF)
    assert [event["status_reason"] for event in events if event["action"] == "SIGNAL"] == [
        "status:SUCCESS reason:ready",
        "status:SUCCESS reason:Signal 2 received",
        "status:SUCCESS reason:Signal 3 received",
    ]

    await world.call("stack_action", ref=REF, action="suspend")
    await world.settle(stack_id)
    assert (await world.delete("web"))["status"] == "COMPLETE"
    assert world.in_cloud(lambda: stored_signals(world)) == ([], [])


def stored_signals(world: World) -> tuple[list[Any], list[Any]]:
    cloud = world.served.cloud
    return list(cloud.of(ObjectStore).containers.rows), list(cloud.of(Messaging).queues.rows)


@pytest.mark.parametrize("transport", SENDERS)
async def test_signals_of_several_pages_are_collected(world: World, transport: str) -> None:
    stack_id, destination = await create_waiting_stack(world, template(transport, count=25))
    send = SENDERS[transport](world, destination)
    for number in range(25):
        send(json.dumps({"data": number}).encode())
    stack = await world.settle(stack_id)
    assert json.loads(world.outputs(stack)["data"]) == {str(number + 1): number for number in range(25)}


@pytest.mark.parametrize("transport", SENDERS)
async def test_stored_failure_signal_fails_the_condition(world: World, transport: str) -> None:
    stack_id, destination = await create_waiting_stack(world, template(transport))
    SENDERS[transport](world, destination)(b'{"status": "FAILURE", "reason": "no space left"}')
    stack = await world.settle(stack_id)
    assert stack["status"] == "FAILED"
    assert "WaitConditionFailure: resources.wait: no space left" in stack["status_reason"]


@pytest.mark.parametrize("body", [b"not JSON", b'["SUCCESS"]', b'{"status": "well"}', b" " * 1_048_577])
async def test_an_invalid_signal_fails_the_condition(world: World, body: bytes) -> None:
    stack_id, destination = await create_waiting_stack(world, template("TEMP_URL_SIGNAL"))
    to_object(world, destination)(body)
    stack = await world.settle(stack_id)
    assert stack["status"] == "FAILED"
    assert "signal" in stack["status_reason"]


async def test_stack_deletion_ignores_missing_queue_user(world: World) -> None:
    stack_id, destination = await create_waiting_stack(world, template("ZAQAR_SIGNAL"))
    to_queue(world, destination)(b"{}")
    await world.settle(stack_id)
    token = world.served.token("admin", "admin")
    assert world.served.call("DELETE", f"/identity/v3/users/{destination['user_id']}", token=token).status == 204
    assert (await world.delete("web"))["status"] == "COMPLETE"


@pytest.mark.parametrize(
    ("transport", "place"),
    [("TEMP_URL_SIGNAL", "/object-store/*/web-handle-*"), ("ZAQAR_SIGNAL", "/messaging/v2/queues/*")],
)
async def test_signal_queue_is_deleted_by_later_attempt(world: World, transport: str, place: str) -> None:
    """The first request is answered as if the object did not exist, by a response that does not name it."""
    stack_id, destination = await create_waiting_stack(world, template(transport))
    SENDERS[transport](world, destination)(b"")
    assert (await world.settle(stack_id))["status"] == "COMPLETE"
    assert world.in_cloud(lambda: stored_signals(world)) != ([], [])
    fault = Fault(on=f"DELETE {place}", do="fail", status=404, message="The resource could not be found.", times=1)
    world.served.do(lambda: world.served.cloud.faults.add(fault))
    assert (await world.delete("web"))["status"] == "COMPLETE"
    assert fault.hits == 1
    assert world.in_cloud(lambda: stored_signals(world)) == ([], [])
