"""Objects that their service allows only once: the old one is deleted before its replacement is created."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from testing.harness import World
from tests.engine.test_replacing import bad, outcome, physical, ports, resource, template, user


def connected(**more: Any) -> dict[str, Any]:
    """A router with an interface on a subnet, and a port with an address of it."""
    network, subnet = {"get_resource": "net"}, {"get_resource": "subnet"}
    return template(
        net=resource("OS::Neutron::Net"),
        subnet=resource("OS::Neutron::Subnet", network=network, cidr="10.9.0.0/24"),
        router=resource("OS::Neutron::Router"),
        interface=resource("OS::Neutron::RouterInterface", router={"get_resource": "router"}, subnet=subnet),
        port=resource("OS::Neutron::Port", network=network, fixed_ips=[{"subnet": subnet}]),
        **more,
    )


async def mark_unhealthy(world: World, name: str) -> None:
    await world.call("resource_mark_unhealthy", ref={"name": "web", "id": None}, name=name, mark_unhealthy=True)


async def subnets(world: World) -> list[str]:
    listed = await (await user(world)).list("neutron", "/v2.0/subnets", "subnets", {"cidr": "10.9.0.0/24"})
    return [subnet["id"] for subnet in listed]


async def used(world: World) -> list[str]:
    """The subnets of which ports have addresses, those of routers included."""
    listed = await (await user(world)).list("neutron", "/v2.0/ports", "ports", {})
    return sorted(
        row["subnet_id"]
        for port in listed
        for row in port["fixed_ips"]
        if row["ip_address"].startswith("10.9.0.") and port["device_owner"] != "network:dhcp"
    )


async def test_subnet_is_replaced_after_its_users_released_it(world: World) -> None:
    await world.create("web", connected())
    before = await physical(world, "web")
    await mark_unhealthy(world, "subnet")

    stack = await world.update("web", connected())

    assert outcome(stack) == ("UPDATE", "COMPLETE", "")
    after = await physical(world, "web")
    assert after["subnet"] != before["subnet"] and after["port"] == before["port"]
    assert await subnets(world) == [after["subnet"]]
    assert await used(world) == [after["subnet"]] * 2
    await world.delete("web")


async def test_rollback_recreates_subnet_that_was_deleted_first(world: World) -> None:
    await world.create("web", connected(), disable_rollback=False)
    before = await physical(world, "web")
    await mark_unhealthy(world, "subnet")

    stack = await world.update("web", connected(bad=bad("port", "interface")))

    assert outcome(stack) == ("ROLLBACK", "COMPLETE", "")
    after = await physical(world, "web")
    assert after["port"] == before["port"]
    assert await subnets(world) == [after["subnet"]] and await used(world) == [after["subnet"]] * 2


async def test_refused_new_subnet_is_rolled_back_to_the_old_one(world: World, served: ServedCloud) -> None:
    await world.create("web", connected(), disable_rollback=False)
    await mark_unhealthy(world, "subnet")
    fault = Fault(on="POST /network/v2.0/subnets", do="fail", status=400, times=1)
    served.do(lambda: served.cloud.faults.add(fault))

    stack = await world.update("web", connected())

    assert outcome(stack) == ("ROLLBACK", "COMPLETE", "")
    after = await physical(world, "web")
    assert await subnets(world) == [after["subnet"]] and await used(world) == [after["subnet"]] * 2


async def test_a_deletion_that_is_refused_changes_nothing(world: World) -> None:
    """A port that does not belong to the stack has an address of the subnet. The stack's port gets its address back;
    the router's interface, which would be replaced, comes with the next update.
    """
    await world.create("web", connected(), disable_rollback=False)
    before = await physical(world, "web")
    await mark_unhealthy(world, "subnet")
    body = {"port": {"network_id": before["net"], "fixed_ips": [{"subnet_id": before["subnet"]}]}}
    other = (await (await user(world)).post("neutron", "/v2.0/ports", body))["port"]["id"]

    stack = await world.update("web", connected())

    action, status, reason = outcome(stack)
    assert (action, status) == ("ROLLBACK", "FAILED") and "in use" in reason
    assert await physical(world, "web") == {name: before[name] for name in ("net", "subnet", "router", "port")}
    shown = (await world.resources("web"))["subnet"]
    assert (shown["action"], shown["status"]) == ("CHECK", "FAILED")
    assert await used(world) == [before["subnet"]] * 2

    await (await user(world)).delete("neutron", f"/v2.0/ports/{other}")
    assert outcome(await world.update("web", connected())) == ("UPDATE", "COMPLETE", "")
    after = await physical(world, "web")
    assert await used(world) == [after["subnet"]] * 2
    assert len(await ports(world)) == 1
