"""OS::Heat::SwiftSignal with its handle, and OS::Heat::DeployedServer, through the engine."""

from __future__ import annotations

import json
import tracemalloc
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest

from stoker.base.errors import BadValue
from stoker.resources.heat.signals.wait_condition_handle import store_signal
from testing.harness import World

REF = {"name": "web", "id": None}


def template(timeout: int = 300, count: int = 1) -> dict[str, Any]:
    wait = {"handle": {"get_resource": "handle"}, "timeout": timeout, "count": count}
    return {
        "heat_template_version": "2021-04-16",
        "resources": {
            "handle": {"type": "OS::Heat::SwiftSignalHandle"},
            "wait": {"type": "OS::Heat::SwiftSignal", "properties": wait},
        },
        "outputs": {"data": {"value": {"get_attr": ["wait", "data"]}}},
    }


async def begun(world: World, definition: dict[str, Any]) -> tuple[str, str]:
    """Return the ID of a stack that waits for signals, and the URL to send them to."""
    stack = await world.call("stack_create", name="web", template=definition)
    while (shown := (await world.resources("web")).get("handle")) is None or shown["status"] != "COMPLETE":
        await world.turn()
    handle = await world.call("resource_show", ref=REF, name="handle")
    assert handle["attributes"]["curl_cli"] == f"curl -i -X PUT '{handle['attributes']['endpoint']}'"
    return stack["id"], handle["attributes"]["endpoint"]


def send(world: World, url: str, signal: Any) -> None:
    place = urlsplit(url)
    body = b"" if signal is None else json.dumps(signal).encode()
    assert world.served.call("PUT", f"{place.path}?{place.query}", body).status == 201


async def test_signals_are_versions_of_the_object(world: World) -> None:
    stack_id, url = await begun(world, template(count=2))
    send(world, url, {"id": "first", "data": {"size": 3}})
    send(world, url, None)
    stack = await world.settle(stack_id)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert json.loads(world.outputs(stack)["data"]) == {"first": {"size": 3}, "2": None}
    assert (await world.delete("web"))["status"] == "COMPLETE"


@pytest.mark.parametrize(
    ("signals", "why"),
    [
        ([{"status": "FAILURE", "reason": "no disk"}], "SwiftSignalFailure: resources.wait: no disk"),
        ([], "SwiftSignalTimeout: resources.wait: 0 of 1 received"),
    ],
)
async def test_a_failure_and_a_timeout(world: World, signals: list[Any], why: str) -> None:
    stack_id, url = await begun(world, template(timeout=60))
    for signal in signals:
        send(world, url, signal)
    stack = await world.settle(stack_id)
    assert stack["status"] == "FAILED"
    assert why in stack["status_reason"]


@pytest.mark.parametrize(("number", "size"), [(40, 1_000_000), (3, 900_000)])
async def test_many_large_signals_do_not_fill_memory(world: World, number: int, size: int) -> None:
    """The holder of the URL writes many versions of the largest size before the engine looks at them."""
    stack_id, url = await begun(world, template(count=1000))
    for _ in range(number):
        send(world, url, {"data": "x" * size})
    tracemalloc.start()
    stack = await world.settle(stack_id)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert stack["status"] == "FAILED"
    assert "the signals have" in stack["status_reason"] or "The signals of a handle" in stack["status_reason"]
    assert peak < 40 * 1024 * 1024


def test_signals_that_arrive_one_by_one_have_a_limit_together() -> None:
    call: Any = SimpleNamespace(metadata={})
    for _ in range(2):
        store_signal(call, {"data": "x" * 900_000})
    with pytest.raises(BadValue, match="bytes together"):
        store_signal(call, {"data": "x" * 900_000})
    assert len(call.metadata) == 2


async def test_a_handle_of_another_type_is_refused(world: World) -> None:
    definition = template()
    definition["resources"]["handle"] = {"type": "OS::Heat::Value", "properties": {"value": "x"}}
    stack = await world.create("web", definition)
    assert stack["status"] == "FAILED"
    assert "is not the reference of a wait condition handle" in stack["status_reason"]


@pytest.mark.parametrize(
    ("transport", "collector", "key"),
    [
        ("POLL_SERVER_HEAT", "heat", "stack_id"),
        ("POLL_TEMP_URL", "request", "metadata_url"),
        ("ZAQAR_MESSAGE", "zaqar", "queue_id"),
    ],
)
async def test_a_deployed_server_is_configured(world: World, transport: str, collector: str, key: str) -> None:
    def definition(chosen: str) -> dict[str, Any]:
        server = {"type": "OS::Heat::DeployedServer", "properties": {"software_config_transport": chosen}}
        deployment = {
            "config": {"get_resource": "config"},
            "server": {"get_resource": "server"},
            "signal_transport": "NO_SIGNAL",
        }
        return {
            "heat_template_version": "2021-04-16",
            "resources": {
                "server": server,
                "config": {"type": "OS::Heat::SoftwareConfig", "properties": {"config": "true"}},
                "deployment": {"type": "OS::Heat::SoftwareDeployment", "properties": deployment},
            },
            "outputs": {
                "agent": {"value": {"get_attr": ["server", "os_collect_config"]}},
                "name": {"value": {"get_attr": ["server", "name"]}},
            },
        }

    made = await world.create("web", definition(transport))
    assert made["status"] == "COMPLETE", made["status_reason"]
    outputs = world.outputs(made)
    assert outputs["agent"]["collectors"] == [collector, "local"]
    assert outputs["agent"][collector][key]
    assert outputs["name"].startswith("web-server-")
    server = (await world.resources("web"))["server"]["physical_id"]
    deployed = await world.call("software_deployment_list", server_id=server)
    assert [deployment["status"] for deployment in deployed] == ["COMPLETE"]
    other = "POLL_TEMP_URL" if transport == "POLL_SERVER_HEAT" else "POLL_SERVER_HEAT"
    made = await world.update("web", definition(other))
    assert made["status"] == "COMPLETE", made["status_reason"]
    assert (await world.resources("web"))["server"]["physical_id"] == server
    assert (await world.delete("web"))["status"] == "COMPLETE"
