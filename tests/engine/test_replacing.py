"""A resource replaced by another that wants the same name, port or address; and a rollback to the old one."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.cloud.credentials import TokenCredential
from stoker.cloud.session import Cloud
from testing.harness import World

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


async def addresses(world: World) -> dict[str, str]:
    """The device of each address."""
    return {row["ip_address"]: port["device_id"] for port in (await ports(world)).values() for row in port["fixed_ips"]}


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


async def test_failed_server_creation_returns_port_to_old_server(world: World, served: ServedCloud) -> None:
    await world.create("web", with_port("key1"), disable_rollback=False)
    before = await physical(world, "web")
    served.do(lambda: served.cloud.faults.add(Fault(on=SERVER, do="fail", status=400)))

    stack = await world.update("web", with_port("key2"))

    assert outcome(stack) == ("ROLLBACK", "COMPLETE", "")
    assert await physical(world, "web") == before
    assert await servers(world) == [before["server"]]
    assert {key: port["device_id"] for key, port in (await ports(world)).items()} == {before["port"]: before["server"]}


async def test_failed_new_server_returns_the_port(world: World, served: ServedCloud) -> None:
    await world.create("web", with_port("key1"), disable_rollback=False)
    before = await physical(world, "web")
    served.do(lambda: served.cloud.faults.add(Fault(on=SERVER, do="error_state")))

    stack = await world.update("web", with_port("key2"))

    assert outcome(stack) == ("ROLLBACK", "COMPLETE", "")
    assert await physical(world, "web") == before
    assert await servers(world) == [before["server"]]
    assert {key: port["device_id"] for key, port in (await ports(world)).items()} == {before["port"]: before["server"]}


async def test_rollback_returns_the_port_of_new_server(world: World) -> None:
    await world.create("web", with_port("key1"), disable_rollback=False)
    before = await physical(world, "web")
    definition = with_port("key2")
    definition["resources"]["bad"] = bad("server")

    stack = await world.update("web", definition)

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


async def test_a_replaced_server_keeps_an_address_that_nova_was_asked_for(world: World) -> None:
    place = {"network": "private", "fixed_ip": ADDRESS}
    await world.create("web", networked("key1", place), disable_rollback=False)
    before = await physical(world, "web")

    stack = await world.update("web", networked("key2", place))

    assert outcome(stack) == ("UPDATE", "COMPLETE", "")
    after = await physical(world, "web")
    assert await addresses(world) == {ADDRESS: after["server"]}

    definition = networked("key1", place, bad=bad("server"))
    assert outcome(await world.update("web", definition)) == ("ROLLBACK", "COMPLETE", "")
    assert await physical(world, "web") == after
    assert await servers(world) == [after["server"]] != [before["server"]]
    assert await addresses(world) == {ADDRESS: after["server"]}


async def test_a_replaced_server_keeps_the_address_of_a_port_that_was_made_for_it(world: World) -> None:
    place = {"network": "private", "fixed_ip": ADDRESS, "port_extra_properties": {"mac_address": "fa:16:3e:00:00:01"}}
    await world.create("web", networked("key1", place), disable_rollback=False)

    stack = await world.update("web", networked("key2", place))

    assert outcome(stack) == ("UPDATE", "COMPLETE", "")
    after = await physical(world, "web")
    assert await addresses(world) == {ADDRESS: after["server"]}

    definition = networked("key1", place, bad=bad("server"))
    assert outcome(await world.update("web", definition)) == ("ROLLBACK", "COMPLETE", "")
    assert await physical(world, "web") == after
    assert await addresses(world) == {ADDRESS: after["server"]}
    await world.delete("web")
    assert await ports(world) == {}


def addressed(mac: str, **resources: Any) -> dict[str, Any]:
    """A port with an address of its own."""
    port = resource(
        "OS::Neutron::Port",
        network="private",
        mac_address=f"fa:16:3e:00:00:{mac}",
        fixed_ips=[{"ip_address": ADDRESS}],
    )
    return template(port=port, **resources)


async def test_a_replaced_port_keeps_its_address(world: World) -> None:
    await world.create("web", addressed("01"))
    before = await physical(world, "web")

    stack = await world.update("web", addressed("02"))

    assert outcome(stack) == ("UPDATE", "COMPLETE", "")
    after = await physical(world, "web")
    assert after["port"] != before["port"]
    assert {key: port["fixed_ips"][0]["ip_address"] for key, port in (await ports(world)).items()} == {
        after["port"]: ADDRESS
    }


async def test_the_old_port_gets_its_address_back(world: World) -> None:
    await world.create("web", addressed("01"), disable_rollback=False)
    before = await physical(world, "web")

    stack = await world.update("web", addressed("02", bad=bad("port")))

    assert outcome(stack) == ("ROLLBACK", "COMPLETE", "")
    assert await physical(world, "web") == before
    assert {key: port["fixed_ips"][0]["ip_address"] for key, port in (await ports(world)).items()} == {
        before["port"]: ADDRESS
    }


async def test_the_old_port_gets_its_address_back_when_there_is_no_new_one(world: World, served: ServedCloud) -> None:
    await world.create("web", addressed("01"), disable_rollback=False)
    before = await physical(world, "web")
    served.do(lambda: served.cloud.faults.add(Fault(on="POST /network/v2.0/ports", do="fail", status=400)))

    stack = await world.update("web", addressed("02"))

    assert outcome(stack) == ("ROLLBACK", "COMPLETE", "")
    assert [(key, port["fixed_ips"][0]["ip_address"]) for key, port in (await ports(world)).items()] == [
        (before["port"], ADDRESS)
    ]


def named_key(public_key: str | None, **more: Any) -> dict[str, Any]:
    return template(key=resource("OS::Nova::KeyPair", name="mine", public_key=public_key), **more)


async def public_keys(world: World) -> dict[str, str]:
    listed = (await (await user(world)).get("nova", "/os-keypairs"))["keypairs"]
    return {row["keypair"]["name"]: row["keypair"]["public_key"] for row in listed}


async def test_a_keypair_is_replaced_under_its_name(world: World) -> None:
    await world.create("web", named_key(FIRST_KEY))

    stack = await world.update("web", named_key(SECOND_KEY))

    assert outcome(stack) == ("UPDATE", "COMPLETE", "")
    assert await public_keys(world) == {"mine": SECOND_KEY}
    await world.delete("web")
    assert await public_keys(world) == {}


async def test_the_old_keypair_comes_back_when_the_update_fails(world: World) -> None:
    await world.create("web", named_key(None), disable_rollback=False)
    before = await public_keys(world)

    stack = await world.update("web", named_key(SECOND_KEY, bad=bad("key")))

    assert outcome(stack) == ("ROLLBACK", "COMPLETE", "")
    assert await public_keys(world) == before
    await world.delete("web")
    assert await public_keys(world) == {}


async def test_the_old_keypair_comes_back_when_the_new_one_is_refused(world: World) -> None:
    await world.create("web", named_key(FIRST_KEY), disable_rollback=False)

    stack = await world.update("web", named_key("nonsense"))

    assert outcome(stack) == ("ROLLBACK", "COMPLETE", "")
    assert await public_keys(world) == {"mine": FIRST_KEY}


def guarded(description: str, **more: Any) -> dict[str, Any]:
    group = resource("OS::Neutron::SecurityGroup", name="web")
    rule = resource(
        "OS::Neutron::SecurityGroupRule",
        security_group={"get_resource": "group"},
        port_range_min=80,
        port_range_max=80,
        description=description,
    )
    return template(group=group, rule=rule, **more)


async def rules(world: World) -> dict[str, str]:
    """What is said of each rule for port 80, by id."""
    params = {"port_range_min": 80}
    listed = await (await user(world)).list("neutron", "/v2.0/security-group-rules", "security_group_rules", params)
    return {rule["id"]: rule["description"] for rule in listed}


async def test_a_rule_that_is_marked_as_unhealthy_is_replaced_by_an_equal_one(world: World) -> None:
    await world.create("web", guarded("open"))
    before = await physical(world, "web")
    await world.call("resource_mark_unhealthy", ref={"name": "web", "id": None}, name="rule", mark_unhealthy=True)

    stack = await world.update("web", guarded("open"))

    assert outcome(stack) == ("UPDATE", "COMPLETE", "")
    after = await physical(world, "web")
    assert after["rule"] != before["rule"]
    assert await rules(world) == {after["rule"]: "open"}


async def test_the_old_rule_comes_back_when_the_update_fails(world: World) -> None:
    await world.create("web", guarded("open"), disable_rollback=False)

    stack = await world.update("web", guarded("wide open", bad=bad("rule")))

    assert outcome(stack) == ("ROLLBACK", "COMPLETE", "")
    assert await rules(world) == {(await physical(world, "web"))["rule"]: "open"}


def with_subnet(cidr: str, **more: Any) -> dict[str, Any]:
    """A port that has its address from a subnet, and whatever else."""
    network, subnet = {"get_resource": "net"}, {"get_resource": "subnet"}
    return template(
        net=resource("OS::Neutron::Net"),
        subnet=resource("OS::Neutron::Subnet", network=network, cidr=cidr),
        port=resource("OS::Neutron::Port", network=network, fixed_ips=[{"subnet": subnet}]),
        **more,
    )


async def subnets_of_ports(world: World) -> list[str]:
    return [row["subnet_id"] for port in (await ports(world)).values() for row in port["fixed_ips"]]


async def test_rollback_returns_objects_from_replacement(world: World) -> None:
    """The former subnet was complete all the time; the port was changed in place, from one to the other."""
    await world.create("web", with_subnet("10.9.0.0/24"), disable_rollback=False)
    before = await physical(world, "web")

    stack = await world.update("web", with_subnet("10.9.1.0/24", bad=bad("port")))

    assert outcome(stack) == ("ROLLBACK", "COMPLETE", "")
    assert await physical(world, "web") == before
    assert await subnets_of_ports(world) == [before["subnet"]]


async def test_return_to_first_template_returns_objects_from_replacement(
    world: World,
) -> None:
    await world.create("web", with_subnet("10.9.0.0/24"))
    before = await physical(world, "web")
    assert (await world.update("web", with_subnet("10.9.1.0/24", bad=bad("port"))))["status"] == "FAILED"

    stack = await world.update("web", with_subnet("10.9.0.0/24"))

    assert outcome(stack) == ("UPDATE", "COMPLETE", "")
    assert await physical(world, "web") == before
    assert await subnets_of_ports(world) == [before["subnet"]]
