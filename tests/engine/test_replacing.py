"""A resource replaced by another that wants the same name, port or address; and a rollback to the old one."""

from __future__ import annotations

from typing import Any

from world import World

from stoker.cloud.credentials import TokenCredential
from stoker.cloud.session import Cloud
from stoker.emulator.core.faults import Fault
from stoker.emulator.testing import ServedCloud

SERVER = "POST /compute/v2.1/servers"
ADDRESS = "10.0.0.42"
FIRST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f one"
SECOND_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB8eHRwbGhkYFxYVFBMSERAPDg0MCwoJCAcGBQQDAgEA two"


def template(**resources: Any) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": resources}


def resource(type_: str, **properties: Any) -> dict[str, Any]:
    return {"type": type_, "properties": properties}


def keys() -> dict[str, Any]:
    return {name: resource("OS::Nova::KeyPair", name=name, public_key=FIRST_KEY) for name in ("key1", "key2")}


def networked(key: str, *networks: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A server with that key on these networks, and whatever else."""
    server = resource(
        "OS::Nova::Server", image="cirros", flavor="m1.nano", key_name={"get_resource": key}, networks=list(networks)
    )
    return template(**keys(), server=server, **more)


def with_port(key: str) -> dict[str, Any]:
    """A server with that key in a port of its own."""
    return networked(key, {"port": {"get_resource": "port"}}, port=resource("OS::Neutron::Port", network="private"))


def bad(*after: str) -> dict[str, Any]:
    """A resource that fails."""
    body = resource("OS::Heat::TestResource", fail=True)
    return {**body, "depends_on": list(after)}


async def user(world: World) -> Cloud:
    return await world.pool.cloud(TokenCredential(world.served.token("demo", "demo")))


async def ports(world: World) -> dict[str, dict[str, Any]]:
    """The project's ports by id, but those of routers and DHCP servers."""
    listed = await (await user(world)).list("neutron", "/v2.0/ports", "ports", {})
    return {port["id"]: port for port in listed if not port["device_owner"].startswith("network:")}


async def servers(world: World) -> list[str]:
    return [server["id"] for server in (await (await user(world)).get("nova", "/servers"))["servers"]]


async def physical(world: World, name: str) -> dict[str, str]:
    return {row: shown["physical_id"] for row, shown in (await world.resources(name)).items()}


def outcome(stack: dict[str, Any]) -> tuple[str, str, str]:
    succeeded = stack["status"] == "COMPLETE"
    return stack["action"], stack["status"], "" if succeeded else stack["status_reason"]


async def test_a_replaced_server_keeps_its_port(world: World) -> None:
    await world.create("web", with_port("key1"))
    before = await physical(world, "web")

    stack = await world.update("web", with_port("key2"))

    assert outcome(stack) == ("UPDATE", "COMPLETE", "")
    after = await physical(world, "web")
    assert after["port"] == before["port"]
    assert after["server"] != before["server"]
    assert await servers(world) == [after["server"]]
    assert {key: port["device_id"] for key, port in (await ports(world)).items()} == {after["port"]: after["server"]}
    await world.delete("web")
    assert await ports(world) == {}


async def test_when_the_new_server_cannot_be_made_the_old_one_gets_its_port_back(
    world: World, served: ServedCloud
) -> None:
    await world.create("web", with_port("key1"), disable_rollback=False)
    before = await physical(world, "web")
    served.do(lambda: served.cloud.faults.add(Fault(on=SERVER, do="fail", status=400)))

    stack = await world.update("web", with_port("key2"))

    assert outcome(stack) == ("ROLLBACK", "COMPLETE", "")
    assert await physical(world, "web") == before
    assert await servers(world) == [before["server"]]
    assert {key: port["device_id"] for key, port in (await ports(world)).items()} == {before["port"]: before["server"]}


async def test_a_new_server_that_broke_gives_the_port_back(world: World, served: ServedCloud) -> None:
    await world.create("web", with_port("key1"), disable_rollback=False)
    before = await physical(world, "web")
    served.do(lambda: served.cloud.faults.add(Fault(on=SERVER, do="error_state")))

    stack = await world.update("web", with_port("key2"))

    assert outcome(stack) == ("ROLLBACK", "COMPLETE", "")
    assert await physical(world, "web") == before
    assert await servers(world) == [before["server"]]
    assert {key: port["device_id"] for key, port in (await ports(world)).items()} == {before["port"]: before["server"]}


async def test_a_new_server_that_works_gives_the_port_back_when_something_else_fails(world: World) -> None:
    await world.create("web", with_port("key1"), disable_rollback=False)
    before = await physical(world, "web")
    wanted = with_port("key2")
    wanted["resources"]["bad"] = bad("server")

    stack = await world.update("web", wanted)

    assert outcome(stack) == ("ROLLBACK", "COMPLETE", "")
    assert await physical(world, "web") == before
    assert await servers(world) == [before["server"]]
    assert {key: port["device_id"] for key, port in (await ports(world)).items()} == {before["port"]: before["server"]}


async def test_a_failed_replacement_can_be_tried_again(world: World, served: ServedCloud) -> None:
    await world.create("web", with_port("key1"))
    before = await physical(world, "web")
    rule = served.do(lambda: served.cloud.faults.add(Fault(on=SERVER, do="error_state")))
    assert (await world.update("web", with_port("key2")))["status"] == "FAILED"
    served.do(lambda: served.cloud.faults.remove(rule.id))

    stack = await world.update("web", with_port("key2"))

    assert outcome(stack) == ("UPDATE", "COMPLETE", "")
    after = await physical(world, "web")
    assert after["port"] == before["port"]
    assert await servers(world) == [after["server"]]
    assert {key: port["device_id"] for key, port in (await ports(world)).items()} == {after["port"]: after["server"]}
