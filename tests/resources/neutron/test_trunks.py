"""OS::Neutron::Trunk on the emulated network service."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.cloud.session import Cloud
from stoker.resources.neutron.port import Port
from stoker.resources.neutron.trunk import Trunk
from tests.resources.resource_harness import BadProperties, Bench, Resource


@pytest.fixture
async def ports(bench: Any, site: Any) -> list[str]:
    """Ids of a port for a trunk, and of three to go through it."""
    made = [await bench(Port).create({"network": site.network, "name": f"p{number}"}) for number in range(4)]
    return [str(port.physical_id) for port in made]


@pytest.fixture
def trunks(bench: Any) -> Bench:
    made: Bench = bench(Trunk)
    return made


def through(port: str, number: int) -> dict[str, Any]:
    return {"port": port, "segmentation_type": "vlan", "segmentation_id": number}


async def shown(cloud: Cloud, trunk: Resource) -> dict[str, Any]:
    body: dict[str, Any] = (await cloud.get("neutron", f"/v2.0/trunks/{trunk.physical_id}"))["trunk"]
    return body


async def marks(cloud: Cloud, trunk: Resource) -> dict[str, int]:
    return {sub["port_id"]: sub["segmentation_id"] for sub in (await shown(cloud, trunk))["sub_ports"]}


async def test_lifecycle(trunks: Bench, ports: list[str], cloud: Cloud) -> None:
    parent, one, two, three = ports
    trunk = await trunks.create({"port": "p0", "sub_ports": [through("p1", 10)]})
    made = await shown(cloud, trunk)
    assert (made["port_id"], made["name"].startswith("web-thing-")) == (parent, True)
    assert trunks.reference(trunk) == trunk.physical_id
    assert await trunks.attribute(trunk, "port_id") == parent

    theirs = {"port_id": three, "segmentation_type": "vlan", "segmentation_id": 30}
    await cloud.put("neutron", f"/v2.0/trunks/{trunk.physical_id}/add_subports", {"sub_ports": [theirs]})
    body = {"port": parent, "name": "main", "sub_ports": [through(one, 11), through(two, 20)]}
    await trunks.update(trunk, body)
    assert (await shown(cloud, trunk))["name"] == "main"
    assert await marks(cloud, trunk) == {one: 11, two: 20, three: 30}, "what somebody else has added stays"

    await trunks.update(trunk, {"port": parent, "name": "main"})
    assert await marks(cloud, trunk) == {three: 30}
    await trunks.delete(trunk)
    await trunks.delete(trunk)
    assert await cloud.list("neutron", "/v2.0/trunks", "trunks") == []


async def test_sub_ports_change_while_the_trunk_is_up(trunks: Bench, ports: list[str], cloud: Cloud) -> None:
    parent, one, two, _ = ports
    trunk = await trunks.create({"port": parent, "sub_ports": [through(one, 10)]})
    down = {"port": parent, "admin_state_up": False, "sub_ports": [through(two, 10)]}
    await trunks.update(trunk, down)
    assert ((await shown(cloud, trunk))["admin_state_up"], await marks(cloud, trunk)) == (False, {two: 10})
    await trunks.update(trunk, down | {"admin_state_up": True, "sub_ports": []})
    assert ((await shown(cloud, trunk))["admin_state_up"], await marks(cloud, trunk)) == (True, {})


async def test_missing_sub_ports_are_detected(trunks: Bench, ports: list[str], cloud: Cloud) -> None:
    kept, lost = through(ports[1], 10), through(ports[2], 20)
    trunk = await trunks.create({"port": ports[0], "sub_ports": [kept, lost]})
    path = f"/v2.0/trunks/{trunk.physical_id}/remove_subports"
    await cloud.put("neutron", path, {"sub_ports": [{"port_id": ports[2]}]})
    assert await trunks.kind.observe(trunks.call(trunk, "CHECK", trunk.properties)) == {"sub_ports": [kept]}


async def test_an_interrupted_creation_is_found(trunks: Bench, ports: list[str], cloud: Cloud) -> None:
    found = await trunks.crash_after_create({"port": ports[0], "sub_ports": [through(ports[1], 10)]})
    assert [trunk["id"] for trunk in await cloud.list("neutron", "/v2.0/trunks", "trunks")] == [found.physical_id]


async def test_trunk_is_replaced_on_the_same_port(trunks: Bench, ports: list[str], cloud: Cloud) -> None:
    body = {"port": ports[0], "sub_ports": [through(ports[1], 10)]}
    new = await trunks.replaced(await trunks.create(body), body)
    assert [one["id"] for one in await cloud.list("neutron", "/v2.0/trunks", "trunks")] == [new.physical_id]


@pytest.mark.parametrize("sub_port", [through("p1", 0), through("p1", 4095), {"port": "p1", "segmentation_id": 1}])
async def test_rules(trunks: Bench, ports: list[str], sub_port: dict[str, Any]) -> None:
    with pytest.raises(BadProperties):
        await trunks.finalized({"port": "p0", "sub_ports": [sub_port]})
