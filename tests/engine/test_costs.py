"""The monthly costs of plans, with the operator's prices; what has no price, or is not known yet, is named."""

from __future__ import annotations

from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import Invalid
from stoker.cli.views.plans import plan_lines
from stoker.console.plan_view import cost_lines
from stoker.engine.price_list import PriceList
from stoker.engine.settings import EngineSettings
from stoker.plugins.registry import Registry
from testing.harness import World

PRICES = """
currency: EUR
hours_per_month: 100
prices:
  flavor: {m1.tiny: 0.1, m1.small: "0.2"}
  volume: {default: 0.01, lvmdriver-1: 0.02}
  floating_ip: 0.005
  router: 0.03
  types: {"OS::Neutron::*": 0, OS::Nova::KeyPair: 0, OS::Neutron::Net: 0.001}
"""


@pytest.fixture
async def world(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    world = World(tmp_path / "stoker.db", served, settings=EngineSettings(prices=prices(tmp_path, PRICES)))
    yield await world.start()
    await world.stop()


def prices(directory: Path, text: str, name: str = "prices.yaml") -> PriceList:
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return PriceList.read(str(path))


def template(**resources: Any) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": resources}


def server(flavor: Any = "m1.tiny", **properties: Any) -> dict[str, Any]:
    given = {"image": "cirros", "flavor": flavor, "networks": [{"network": "private"}], **properties}
    return {"type": "OS::Nova::Server", "properties": given}


def volume(size: Any, **properties: Any) -> dict[str, Any]:
    return {"type": "OS::Cinder::Volume", "properties": {"size": size, **properties}}


def group(count: int, member: dict[str, Any]) -> dict[str, Any]:
    return {"type": "OS::Heat::ResourceGroup", "properties": {"count": count, "resource_def": member}}


async def costs(world: World, body: Any, name: str | None = None) -> dict[str, Any]:
    """The costs of the plan of a new stack, or of a change of the stack `name`."""
    if name is None:
        plan = (await world.call("stack_preview", name="new", template=body))["plan"]
    else:
        plan = (await world.call("stack_update_preview", ref={"name": name, "id": None}, template=body))["plan"]
    found: dict[str, Any] = plan["costs"]
    return found


def sums(costs: dict[str, Any]) -> tuple[str, str, str]:
    return costs["before"], costs["after"], costs["change"]


async def test_creation_cost_includes_nested_stacks(world: World) -> None:
    found = await costs(
        world,
        template(
            servers=group(3, server("m1.small")),
            disks=group(2, group(2, volume(5))),
            fast=volume(10, volume_type="lvmdriver-1"),
            net={"type": "OS::Neutron::Net"},
            router={"type": "OS::Neutron::Router"},
            rules={"type": "OS::Neutron::SecurityGroup"},
            word={"type": "OS::Heat::RandomString"},
        ),
    )
    # 3 * 0.2 + 4 * 5 * 0.02 (the default type of the service has a price) + 10 * 0.02 + 0.001 + 0.03, for 100 hours
    assert sums(found) == ("0.00", "123.10", "123.10")
    assert (found["currency"], found["not_counted"], found["uncounted"]) == ("EUR", {}, [])
    assert {"path": "servers.1", "before": "0.00", "after": "20.00"} in found["resources"]


async def test_update_shows_cost_before_and_after(world: World) -> None:
    await world.create("web", template(kept=group(2, server()), more=group(1, volume(5)), lone=server()))
    unchanged = await costs(
        world, template(kept=group(2, server()), more=group(1, volume(5)), lone=server()), name="web"
    )
    assert sums(unchanged) == ("40.00", "40.00", "0.00")
    larger = template(kept=group(2, server()), more=group(3, volume(5)), lone=server("m1.small"))
    found = await costs(world, larger, name="web")
    assert sums(found) == ("40.00", "70.00", "30.00")
    paths = {each["path"]: (each["before"], each["after"]) for each in found["resources"]}
    assert paths == {"more.1": ("0.00", "10.00"), "more.2": ("0.00", "10.00"), "lone": ("10.00", "20.00")}


async def test_replacement_cost_counts_once_and_retained_objects_are_named(world: World) -> None:
    kept = {**volume(10), "deletion_policy": "Retain"}
    await world.create("web", template(lone=server(), kept=kept, gone=volume(5)))
    found = await costs(world, template(lone=server(image="cirros", name="other", flavor="m1.small")), name="web")
    assert sums(found) == ("40.00", "20.00", "-20.00")
    assert found["retained"] == "20.00"
    renamed = await costs(
        world, template(lone=server(networks=[{"network": "public"}]), kept=kept, gone=volume(5)), "web"
    )
    assert sums(renamed) == ("40.00", "40.00", "0.00")


async def test_deletion_plan_shows_saved_costs(world: World) -> None:
    await world.create("web", template(lone=server(), disks=group(2, volume(5))))
    asked = {"ref": {"name": "web", "id": None}, "action": "delete"}
    assert sums((await world.call("stack_action_preview", **asked))["plan"]["costs"]) == ("30.00", "0.00", "-30.00")


async def test_unpriced_and_unknown_costs_are_named(world: World) -> None:
    found = await costs(
        world,
        template(
            queue={"type": "OS::Zaqar::Queue"},
            tall=server("m1.medium"),
            first=volume(1),
            copy={"type": "OS::Cinder::Volume", "properties": {"source_volid": {"get_resource": "first"}}},
            address={
                "type": "OS::Octavia::LoadBalancer",
                "properties": {"vip_subnet": "private-subnet"},
            },
            listed=server({"get_attr": ["said", "value"]}),
            said={"type": "OS::Heat::Value", "properties": {"value": {"get_attr": ["first", "volume_type"]}}},
        ),
    )
    assert found["after"] == "2.00"
    reported = {(each["why"], each["type"], each["item"], each["name"]): each["paths"] for each in found["uncounted"]}
    assert reported == {
        ("no-price", "OS::Zaqar::Queue", "", ""): ["queue"],
        ("no-price", "OS::Nova::Server", "flavor", "m1.medium"): ["tall"],
        ("not-known", "OS::Cinder::Volume", "volume", ""): ["copy"],
        ("no-price", "OS::Octavia::LoadBalancer", "load_balancer", ""): ["address"],
        ("not-known", "OS::Nova::Server", "flavor", ""): ["listed"],
    }
    assert found["not_counted"] == {"no-price": 3, "not-known": 2}


async def test_the_sentences_about_costs(world: World) -> None:
    body = template(tall=server("m1.medium"), other=server("m1.medium"), first=volume(1), lone=server())
    plan = (await world.call("stack_preview", name="new", template=body))["plan"]
    assert cost_lines(plan) == [
        "Costs per month: 12.00 EUR, 12.00 EUR more than now.",
        "Not counted: 2 resources without a price: tall (OS::Nova::Server: flavor m1.medium), "
        "other (OS::Nova::Server: flavor m1.medium).",
    ]
    printed = [line.plain for line in plan_lines("new", plan, Console(width=200))]
    assert set(cost_lines(plan)) <= set(printed)
    await world.create("web", template(first=volume(1)))
    kept = await world.call("stack_update_preview", ref={"name": "web", "id": None}, template=template(first=volume(1)))
    assert cost_lines(kept["plan"]) == ["Costs per month: 2.00 EUR, as now."]


async def test_unlisted_flavor_names_are_looked_up(world: World) -> None:
    cloud = await world.engine.services.credentials.of_caller(world.context)
    flavors = {each["name"]: each["id"] for each in await cloud.list("nova", "/flavors/detail", "flavors")}
    assert (await costs(world, template(by_id=server(flavors["m1.tiny"]))))["after"] == "10.00"
    fault = Fault(on="GET /compute/*flavors/detail*", do="fail", status=403)
    world.in_cloud(lambda: world.served.cloud.faults.add(fault))
    quiet = await costs(world, template(by_id=server(flavors["m1.tiny"]), by_name=server()))
    assert (quiet["after"], quiet["not_counted"]) == ("10.00", {"not-read": 1})


async def test_boot_volumes_are_charged(world: World) -> None:
    disks = [
        {"image": "cirros", "volume_size": 3, "boot_index": 1},
        {"volume_size": 2, "volume_type": "lvmdriver-1", "image": "cirros", "boot_index": -1},
        {"swap_size": 64},
    ]
    found = await costs(world, template(lone=server(block_device_mapping_v2=disks)))
    assert found["after"] == "20.00"


async def test_plans_have_no_costs_without_price_list(served: ServedCloud, tmp_path: Path) -> None:
    world = await World(tmp_path / "plain.db", served).start()
    try:
        assert "costs" not in (await world.call("stack_preview", name="new", template=template(one=volume(1))))["plan"]
    finally:
        await world.stop()


def test_csv_price_list_equals_yaml_price_list(tmp_path: Path) -> None:
    table = """item,name,price,currency
flavor,m1.tiny,0.1,EUR
flavor,m1.small,0.2,EUR

volume,default,0.01,EUR
volume,lvmdriver-1,0.02,EUR
# addresses
floating_ip,,0.005,EUR
router,,0.03,EUR
types,OS::Neutron::*,0,EUR
types,OS::Nova::KeyPair,0,EUR
types,OS::Neutron::Net,0.001,EUR
"""
    read, document = prices(tmp_path, table, "prices.csv"), prices(tmp_path, PRICES)
    assert (read.items, dict(read.types), read.currency) == (document.items, dict(document.types), document.currency)
    assert read.hours_per_month == Decimal(730)
    assert read.of_type("OS::Neutron::Net") == Decimal("0.001") and read.of_type("OS::Neutron::Port") == 0


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("currency: EUR\n", ["the list has no prices"]),
        ("prices: {router: 1}\n", ["the currency is missing"]),
        ("currency: EUR\nprices:\n  roter: 1\n", [":3:3: unknown item 'roter'; did you mean 'router'?"]),
        (
            "currency: EUR\nprices:\n  flavor:\n    a: -1\n    b: many\n",
            [":4:5: the price of flavor a", ":5:5: the price"],
        ),
        ("currency: EUR\nprices: {router: .nan}\n", ["'.nan' is not a finite number"]),
        ("currency: EUR\nprices: {router: yes}\n", ["the price of router must be a number"]),
        ("currency: EUR\nprices: {router: {a: 1}}\n", ["router has one price, without names"]),
        ("currency: [EUR]\nprices: {router: 1}\n", [":1:1: the currency must be a code"]),
        ("currency: EUR\nhours_per_month: 0\nprices: {router: 1}\n", [":2:1: hours_per_month must be more than 0"]),
        ("currency: EUR\nprices: {types: {'OS::*::Net': 1}}\n", ["a * can only be the last character"]),
        ("currency: EUR\nprice: {router: 1}\n", [":2:1: unknown section 'price'; did you mean 'prices'?"]),
        ("currency: EUR\nprices: [1]\n", [":2:1: prices must be a map"]),
    ],
)
def test_a_wrong_list_is_refused_with_its_lines(tmp_path: Path, text: str, problems: list[str]) -> None:
    with pytest.raises(Invalid) as refused:
        prices(tmp_path, text)
    lines = refused.value.message.splitlines()
    assert len(lines) == len(problems), lines
    for line, problem in zip(lines, problems, strict=True):
        assert line.startswith(str(tmp_path / "prices.yaml")) and problem in line


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("item,price\nrouter,1\n", ":1:1: the first line must name the columns"),
        ("item,name,price,currency\nrouter,1,EUR\n", ":2:1: the line has 3 values"),
        ("item,name,price,currency\nrouter,,1,EUR\nrouter,,2,EUR\n", ":3:1: the price of router is given twice"),
        ("item,name,price,currency\nrouter,,1,EUR\nshare,,2,USD\n", ":3:1: the list has two currencies"),
        ("item,name,price,currency\nshare,a,1,EUR\nshare,,2,EUR\n", ":3:1: share has a price without a name"),
        ('item,name,price,currency\n"router,,1,EUR\n', ": not a table"),
    ],
)
def test_a_wrong_table_is_refused_with_its_lines(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(Invalid, match=r"prices\.csv") as refused:
        prices(tmp_path, text, "prices.csv")
    assert problem in refused.value.message


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        (
            "OS::Nova::Server",
            ":3:11: OS::Nova::Server is charged by flavor, volume, so a price of the type has no effect",
        ),
        ("OS::Neutron::Nett", ":3:11: unknown resource type 'OS::Neutron::Nett': did you mean 'OS::Neutron::Net'?"),
        ("OS::Newtron::*", ":3:11: no resource type begins with 'OS::Newtron::'"),
    ],
)
def test_a_price_of_a_type_that_has_no_effect_is_refused(tmp_path: Path, name: str, problem: str) -> None:
    listed = prices(tmp_path, f"currency: EUR\nprices:\n  types: {{{name}: 1}}\n")
    with pytest.raises(Invalid) as refused:
        listed.check_types(Registry.from_entry_points({}).types, "prices.yaml")
    assert refused.value.message == f"prices.yaml{problem}"


def test_a_list_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="cannot be read"):
        PriceList.read(str(tmp_path / "none.yaml"))
