"""Containers as resources, on the emulated service."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import CloudError
from stoker.cloud.session import Cloud
from stoker.plugins.outcome import Done, Replace
from stoker.plugins.resource import ResourceType
from stoker.resources.zun.container import Container
from stoker.resources.zun.description import command
from stoker.schema.unknown import Unknown
from tests.resources.crash_support import run_crashing
from tests.resources.resource_harness import ActionFailed, BadProperties, Bench

MakeBench = Callable[[type[ResourceType]], Bench]
LATEST = "1.40"


async def shown(cloud: Cloud, key: Any, rest: str = "") -> Any:
    """The container as the newest microversion shows it."""
    return await cloud.get("zun", f"/containers/{key}{rest}", microversion=LATEST)


async def networks_of(cloud: Cloud, key: Any) -> list[str]:
    """The networks that a container is connected to."""
    return [row["net_id"] for row in (await shown(cloud, key, "/network_list"))["networks"]]


def fail(served: ServedCloud, on: str) -> None:
    """Let the next such request put its object into an error state."""
    fault = Fault(on=on, do="error_state", message="No space left", times=1)
    served.do(lambda: served.cloud.faults.add(fault))


async def test_the_life_of_a_container(bench: MakeBench, cloud: Cloud, served: ServedCloud) -> None:
    volume = (await cloud.post("cinder", "/volumes", {"volume": {"size": 1}}))["volume"]["id"]
    served.advance(2.0)
    containers = bench(Container)
    body = {
        "image": "cirros",
        "command": "sh -c 'while true; do sleep 1; done'",
        "cpu": 0.5,
        "memory": 128,
        "environment": {"GREETING": "hello"},
        "labels": {"tier": "web"},
        "workdir": "/srv",
        "hostname": "web",
        "image_driver": "docker",
        "image_pull_policy": "ifnotpresent",
        "restart_policy": "on-failure:2",
        "security_groups": ["default"],
        "hints": {"foo": "bar"},
        "networks": [{"network": "private", "fixed_ip": "10.0.0.50"}],
        "mounts": [{"mount_path": "/data", "volume_id": volume}, {"mount_path": "/more", "volume_size": 1}],
    }
    container = await containers.create(body)
    assert len(containers.entries) > 2, "the container is pending at first"
    found = await shown(cloud, container.physical_id)
    assert (found["status"], found["command"]) == ("Running", ["sh", "-c", "while true; do sleep 1; done"])
    assert found["restart_policy"] == {"Name": "on-failure", "MaximumRetryCount": "2"}
    assert (found["environment"], found["tty"]) == ({"GREETING": "hello"}, False)
    name = containers.call(container, "CHECK", {}).physical_name
    assert await containers.attribute(container, "name") == name
    addresses = await containers.attribute(container, "addresses")
    private = await cloud.find("neutron.network", "private")
    assert addresses["private"] == addresses[private]
    assert addresses["private"][0]["addr"] == "10.0.0.50"
    assert (await cloud.get("cinder", f"/volumes/{volume}"))["volume"]["status"] == "in-use"

    changed = {**body, "cpu": 1, "memory": 256, "name": "renamed"}
    await containers.update(container, changed)
    assert await containers.attribute(container, "name") == "renamed"
    await containers.update(container, {**changed, "name": None})
    assert await containers.attribute(container, "name") == name
    await containers.run("adopt", container)
    await containers.delete(container)
    await containers.delete(container)
    assert await containers.attribute(container, "addresses") == ""
    served.advance(5.0)
    assert [row["id"] for row in await cloud.list("cinder", "/volumes", "volumes")] == [volume]
    with pytest.raises(ActionFailed, match="has no object"):
        await containers.run("adopt", container)


async def test_networks_are_changed_in_place(bench: MakeBench, cloud: Cloud) -> None:
    private, public = [await cloud.find("neutron.network", name) for name in ("private", "public")]
    own = (await cloud.post("neutron", "/v2.0/networks", {"network": {"name": "own"}}))["network"]["id"]
    await cloud.post(
        "neutron", "/v2.0/subnets", {"subnet": {"network_id": own, "ip_version": 4, "cidr": "10.9.0.0/24"}}
    )
    port = (await cloud.post("neutron", "/v2.0/ports", {"port": {"network_id": own, "name": "mine"}}))["port"]["id"]
    containers = bench(Container)
    container = await containers.create({"image": "cirros"})
    key = container.physical_id
    assert await networks_of(cloud, key) == [private]
    before = (await shown(cloud, key, "/network_list"))["networks"][0]["port_id"]

    one = {"image": "cirros", "networks": [{"network": "private"}]}
    await containers.update(container, one)
    both = {"image": "cirros", "networks": [{"network": "private"}, {"port": "mine"}]}
    first = (await shown(cloud, key, "/network_list"))["networks"][0]["port_id"]
    assert first != before
    await containers.update(container, both)
    interfaces = (await shown(cloud, key, "/network_list"))["networks"]
    assert [row["port_id"] for row in interfaces] == [first, port]
    await containers.update(container, {"image": "cirros", "networks": [{"network": "public"}]})
    assert await networks_of(cloud, key) == [public]
    assert (await cloud.get("neutron", f"/v2.0/ports/{port}"))["port"]["device_id"] == "", "the port is still there"
    assert isinstance(await containers.update(container, {"image": "cirros"}), Replace)
    await containers.delete(container)


async def test_a_change_of_networks_survives_crashes(bench: MakeBench, cloud: Cloud) -> None:
    containers = bench(Container)
    container = await containers.create({"image": "cirros", "networks": [{"network": "private"}]})
    wanted = await containers.finalized({"image": "cirros", "networks": [{"network": "public"}]})
    before, container.properties = container.properties, wanted
    progress: dict[str, Any] = {}
    for _ in range(12):
        for lost in (True, False):
            call = containers.call(container, "UPDATE", wanted)
            call.previous, call.changed, call.progress = before, {"networks": wanted["networks"]}, deepcopy(progress)
            outcome = await containers.kind.update(call)
            if not lost:
                progress = call.progress
        if isinstance(outcome, Done):
            break
        containers.advance(getattr(outcome, "after", None) or 0.0)
    assert isinstance(outcome, Done)
    assert await networks_of(cloud, container.physical_id) == [await cloud.find("neutron.network", "public")]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"restart_policy": "maybe"}, "must be one of no, always"),
        ({"restart_policy": "always:3"}, "only on-failure"),
        ({"restart_policy": "on-failure:many"}, "non-negative integer"),
        ({"command": "echo 'a"}, "cannot be split into words"),
        ({"mounts": [{"mount_path": "/a"}]}, r"mounts\[0\]: exactly one of"),
        ({"mounts": [{"mount_path": "/a", "volume_id": "x", "volume_size": 1}]}, "exactly one of"),
        ({"networks": [{"fixed_ip": "10.0.0.9"}]}, r"networks\[0\]: network or port"),
        ({"networks": [{"port": "x", "fixed_ip": "10.0.0.9"}]}, "fixed_ip cannot be used together with port"),
    ],
)
async def test_wrong_properties(bench: MakeBench, given: Any, words: str) -> None:
    with pytest.raises(BadProperties, match=words):
        await bench(Container).finalized({"image": "cirros", **given})


def test_unknown_values_are_not_complained_about() -> None:
    later = Unknown.of("other")
    given = {
        "restart_policy": later,
        "command": later,
        "mounts": [{"mount_path": "/a", "volume_id": later, "volume_size": None}, later],
        "networks": [{"port": later, "network": None, "fixed_ip": "10.0.0.9"}],
    }
    assert list(Container().validate(given)) == []


@pytest.mark.parametrize("version", [None, "1.36"])
async def test_commands_and_terminals(bench: MakeBench, cloud: Cloud, version: str | None) -> None:
    text = """sh -c 'echo "a  b" \\x'"""
    words = ["sh", "-c", 'echo "a  b" \\x']
    terminal = {} if version is None else {"tty": True}
    container = await bench(Container).create({"image": "cirros", "command": text, **terminal})
    found = await shown(cloud, container.physical_id)
    assert (found["command"], found["tty"]) == (words, version is not None)
    assert command("ls", version) == (["ls"] if version else '"ls"')


async def test_a_command_that_ends(bench: MakeBench, served: ServedCloud) -> None:
    containers = bench(Container)
    await containers.create({"image": "cirros", "command": "echo hello"})
    resource = containers.resource("other")
    resource.properties = await containers.finalized({"image": "cirros", "command": "false", "interactive": True})
    await containers.kind.create(containers.call(resource, "CREATE", resource.properties))
    stopped = {"status": "Stopped", "status_detail": "Exited(1) 1 seconds ago"}
    outcome = containers.kind.status_outcome(containers.call(resource, "CREATE", resource.properties), stopped)  # type: ignore[attr-defined]
    assert "the interactive container has stopped: Exited(1)" in outcome.reason


async def test_failures_have_the_reason_of_the_service(bench: MakeBench, cloud: Cloud, served: ServedCloud) -> None:
    containers = bench(Container)
    resource = containers.resource()
    resource.properties = await containers.finalized({"image": "nothing", "image_driver": "glance"})
    with pytest.raises(ActionFailed, match="status Error: Image nothing not found") as caught:
        await containers.run("create", resource)
    assert caught.value.failed.in_error
    await containers.delete(resource)
    with pytest.raises(CloudError, match=r"Quota exceeded for resources: \['memory'\]"):
        await containers.create({"image": "cirros", "memory": 60000})

    busy = containers.resource("busy")
    busy.properties = await containers.finalized({"image": "cirros"})
    outcome = await containers.kind.create(containers.call(busy, "CREATE", busy.properties))
    busy.physical_id = getattr(outcome, "physical_id", None)
    await containers.delete(busy)
    assert len(containers.entries) > 3, "a container that is being created cannot be deleted yet"
    assert await containers.attribute(busy, "name") == ""

    container = await containers.create({"image": "cirros"}, "third")
    fail(served, "DELETE /container/v1/containers/*")
    with pytest.raises(ActionFailed, match="failed to delete the container: No space left"):
        await containers.delete(container)
    await containers.delete(container)
    paused = await containers.create({"image": "cirros"}, "paused")
    await cloud.post("zun", f"/containers/{paused.physical_id}/pause")
    served.advance(2.0)
    with pytest.raises(ActionFailed, match=r"Cannot delete container .* in Paused state"):
        await containers.delete(paused)


@pytest.mark.parametrize("named", [False, True])
async def test_a_container_is_created_once_despite_crashes(bench: MakeBench, cloud: Cloud, named: bool) -> None:
    given = {"image": "cirros", "command": "sleep 9", "cpu": 1, **({"name": "equal"} if named else {})}
    containers = bench(Container)
    resource = containers.resource("größe 1")
    twin = await containers.create(given, "twin")
    await containers.create({**given, "cpu": 2}, "different")
    resource.properties = await containers.finalized(given)
    await run_crashing(containers, "create", resource)
    listed = await cloud.list("zun", "/containers", "containers")
    assert len(listed) == 3
    assert resource.physical_id not in (None, twin.physical_id)
