"""The search over all stacks: by IDs, names, addresses and types, from what is recorded."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select, update

from stoker.base.errors import BadValue, Forbidden
from stoker.store.tables import resources, search_terms
from testing.harness import World

SHOP: dict[str, Any] = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "net": {"type": "OS::Neutron::Net"},
        "subnet": {
            "type": "OS::Neutron::Subnet",
            "properties": {"network": {"get_resource": "net"}, "cidr": "10.9.0.0/24"},
        },
        "v6": {
            "type": "OS::Neutron::Subnet",
            "properties": {"network": {"get_resource": "net"}, "cidr": "fd00:0:0:9::/64", "ip_version": 6},
        },
        "port": {
            "type": "OS::Neutron::Port",
            "properties": {
                "network": {"get_resource": "net"},
                "name": "front",
                "fixed_ips": [
                    {"subnet": {"get_resource": "subnet"}, "ip_address": "10.9.0.77"},
                    {"subnet": {"get_resource": "v6"}, "ip_address": "fd00:0:0:9::aa"},
                ],
            },
        },
        "server": {
            "type": "OS::Nova::Server",
            "properties": {
                "name": "web1",
                "flavor": "m1.small",
                "image": "cirros",
                "networks": [{"port": {"get_resource": "port"}}],
            },
        },
        "address": {"type": "OS::Neutron::FloatingIP", "properties": {"floating_network": "public"}},
    },
}
GROUP: dict[str, Any] = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "group": {
            "type": "OS::Heat::ResourceGroup",
            "properties": {"count": 2, "resource_def": {"type": "member.yaml", "properties": {"index": "%index%"}}},
        }
    },
}
NESTED = """
heat_template_version: 2021-04-16
parameters: {index: {type: string}}
resources:
  volume: {type: OS::Cinder::Volume, properties: {size: 1, name: {list_join: ["-", [data, {get_param: index}]]}}}
"""


async def found(world: World, **search: Any) -> list[str]:
    """The stacks and paths of what is found."""
    page = await world.call("resource_find", **search)
    return sorted(f"{each['stack_name']}: {each['path']}" for each in page["resources"])


@pytest.fixture
async def shop(world: World) -> dict[str, Any]:
    stack = await world.create("shop", SHOP)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    return stack


async def test_search_by_every_kind_of_term(world: World, shop: dict[str, Any]) -> None:
    had = await world.resources("shop")
    floating = world.in_cloud(lambda: None) or (await world.call("resource_find", name="address"))["resources"][0]

    assert await found(world, text=had["server"]["physical_id"]) == ["shop: server"]
    assert await found(world, id=had["net"]["physical_id"]) == ["shop: net"]
    assert await found(world, text="web1") == ["shop: server"]
    assert await found(world, name="front") == ["shop: port"]
    assert await found(world, name="server") == ["shop: server"]
    assert await found(world, text="10.9.0.77") == ["shop: port", "shop: server"]
    assert await found(world, address="FD00:0000:0::9:0:0:0:aa".replace("::9", ":9")) == ["shop: port", "shop: server"]
    assert await found(world, type="OS::Neutron::Subnet") == ["shop: subnet", "shop: v6"]
    assert await found(world, text="10.9.0.77", type="OS::Nova::Server") == ["shop: server"]
    assert floating["owns"] is True and floating["status"] == "COMPLETE"


async def test_generated_names_and_floating_addresses(world: World, shop: dict[str, Any]) -> None:
    show = await world.call("resource_show", ref={"name": "shop", "id": None}, name="address")
    assert await found(world, text=show["attributes"]["floating_ip_address"]) == ["shop: address"]
    net = await world.call("resource_show", ref={"name": "shop", "id": None}, name="net")
    assert net["attributes"]["name"].startswith("shop-net-")
    assert await found(world, text=net["attributes"]["name"]) == ["shop: net"]


async def test_paths_of_nested_stacks(world: World) -> None:
    stack = await world.create("estate", GROUP, files={"member.yaml": NESTED})
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    page = await world.call("resource_find", text="data-1")
    [volume] = page["resources"]
    assert (volume["path"], volume["stack_name"]) == ("group.1.volume", "estate")
    assert volume["nested_stack_id"] != volume["stack_id"] == stack["id"]
    assert await found(world, name="volume") == ["estate: group.0.volume", "estate: group.1.volume"]


async def test_search_terms_follow_updates_and_deletions(world: World, shop: dict[str, Any]) -> None:
    changed: dict[str, Any] = {**SHOP, "resources": {name: dict(each) for name, each in SHOP["resources"].items()}}
    changed["resources"]["server"]["properties"] = {**SHOP["resources"]["server"]["properties"], "name": "web2"}
    changed["resources"]["port"]["properties"] = {
        **SHOP["resources"]["port"]["properties"],
        "fixed_ips": [{"subnet": {"get_resource": "subnet"}, "ip_address": "10.9.0.78"}],
    }
    await world.update("shop", changed)
    assert await found(world, text="web1") == []
    assert await found(world, text="web2") == ["shop: server"]
    assert "shop: port" not in await found(world, text="10.9.0.77")
    assert "shop: port" in await found(world, text="10.9.0.78")

    await world.delete("shop")
    assert (
        await found(world, text="web2") == await found(world, text="10.9.0.78") == await found(world, name="net") == []
    )
    assert await world.database.read(lambda connection: connection.execute(select(search_terms)).all()) == []


async def test_resources_of_earlier_release_are_unsearchable_until_checked(world: World, shop: dict[str, Any]) -> None:
    def forget(connection: Any) -> None:
        connection.execute(search_terms.delete())
        connection.execute(update(resources).values(searchable=None))
        connection.commit()

    await world.database.read(forget)
    page = await world.call("resource_find", text="10.9.0.77")
    assert page["resources"] == []
    assert page["unsearchable"] == len(SHOP["resources"])
    assert (await world.call("resource_find", type="OS::Nova::Server"))["unsearchable"] == 0

    await world.call("stack_action", ref={"name": "shop", "id": None}, action="check")
    await world.settle(shop["id"])
    page = await world.call("resource_find", text="10.9.0.77")
    assert sorted(each["path"] for each in page["resources"]) == ["port", "server"]
    assert page["unsearchable"] == 0


async def test_pages(world: World, shop: dict[str, Any]) -> None:
    names, marker = [], None
    while True:
        page = await world.call("resource_find", type="OS::Neutron::Subnet", limit=1, marker=marker)
        names += [each["name"] for each in page["resources"]]
        marker = page["next"]
        if marker is None:
            break
    assert sorted(names) == ["subnet", "v6"]


async def test_a_name_with_a_secret_is_not_recorded(world: World) -> None:
    template = {
        "heat_template_version": "2021-04-16",
        "parameters": {"key": {"type": "string", "hidden": True}},
        "resources": {
            "net": {
                "type": "OS::Neutron::Net",
                "properties": {"name": {"list_join": ["-", ["n", {"get_param": "key"}]]}},
            }
        },
    }
    await world.create("quiet", template, parameters={"key": "hunter2hunter2"})
    assert await found(world, text="n-hunter2hunter2") == []
    rows = await world.database.read(
        lambda connection: connection.execute(select(search_terms.c.value)).scalars().all()
    )
    assert not any("hunter2" in value for value in rows)


@pytest.mark.parametrize(
    "search", [{}, {"text": "a", "name": "b"}, {"address": "10.0.0"}, {"id": "a", "address": "::1"}]
)
async def test_types_that_cannot_be_searched(world: World, search: dict[str, str]) -> None:
    with pytest.raises(BadValue):
        await world.call("resource_find", **search)


async def test_only_administrators_search_all_projects(world: World) -> None:
    with pytest.raises(Forbidden):
        await world.call("resource_find", text="a", global_tenant=True)
