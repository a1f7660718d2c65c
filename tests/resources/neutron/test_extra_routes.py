"""OS::Neutron::ExtraRouteSet on the emulated network service."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stoker.cloud.session import Cloud
from stoker.plugins.outcome import Done, InProgress
from stoker.plugins.resource import Neighbour
from stoker.resources.neutron.extra_route_set import ExtraRouteSet
from stoker.schema.unknown import Unknown
from tests.resources.neutron.neutron_graphs import Definition
from tests.resources.resource_harness import ActionFailed, Alone, BadProperties, Bench, Resource


def via(*numbers: int) -> list[dict[str, str]]:
    return [{"destination": f"10.9.{number}.0/24", "nexthop": f"10.1.0.{number}"} for number in numbers]


@pytest.fixture
def sets(bench: Any) -> Bench:
    made: Bench = bench(ExtraRouteSet)
    return made


@pytest.fixture
def routes(router_path: Any, cloud: Cloud) -> Any:
    """Reads the router's routes by the numbers that `via` made them of."""

    async def read() -> list[int]:
        shown = (await cloud.get("neutron", f"/v2.0/routers/{router_path.router}"))["router"]["routes"]
        return sorted(int(route["nexthop"].rpartition(".")[2]) for route in shown)

    return read


async def test_lifecycle(sets: Bench, router_path: Any, routes: Any) -> None:
    first = await sets.create({"router": router_path.router, "routes": via(10, 11)}, "first")
    assert first.physical_id == sets.reference(first) == router_path.router
    second = await sets.create({"router": router_path.router, "routes": via(20)}, "second")
    assert await routes() == [10, 11, 20]
    await sets.update(first, {"router": router_path.router, "routes": via(11, 12)})
    assert await routes() == [11, 12, 20]
    await sets.delete(second)
    await sets.delete(second)
    await sets.update(first, {"router": router_path.router})
    assert await routes() == []
    await sets.delete(first)


async def test_foreign_routes_are_kept(sets: Bench, router_path: Any, routes: Any) -> None:
    first = await sets.create({"router": router_path.router, "routes": via(10)}, "first")
    with pytest.raises(ActionFailed, match=r"already has the routes 10\.9\.10\.0/24 by 10\.1\.0\.10"):
        await sets.create({"router": router_path.router, "routes": via(10, 11)}, "second")
    second = await sets.create({"router": router_path.router, "routes": via(11)}, "second")
    with pytest.raises(ActionFailed, match="already has the routes"):
        await sets.update(second, {"router": router_path.router, "routes": via(11, 10)})
    await sets.delete(first)
    assert await routes() == [11]


async def test_an_interrupted_creation_is_found(sets: Bench, router_path: Any) -> None:
    resource = sets.resource()
    call = sets.call(resource, "CREATE", await sets.finalized({"router": router_path.router, "routes": via(10)}))
    assert await sets.kind.create(call) == InProgress(after=0.0)
    assert await sets.kind.find(call) is None
    await sets.kind.create(call)
    assert await sets.kind.find(call) == router_path.router
    stranger = replace(call, progress={})
    assert await sets.kind.find(stranger) is None, "nobody has recorded that the routes were free"


class Successor(Alone):
    """A stack in which another resource has taken over the name."""

    def __init__(self, resource: Resource) -> None:
        self.resource = resource

    async def by_name(self, name: str) -> Neighbour | None:
        found = self.resource
        return Neighbour(found.name, "", found.physical_id, {}, found.data, found.properties)


async def test_a_replacement_keeps_its_routes(sets: Bench, router_path: Any, routes: Any) -> None:
    old = await sets.create({"router": router_path.router, "routes": via(10, 11)}, "set")
    await sets.replaced(old, {"router": router_path.router, "routes": via(11, 12)})
    assert await routes() == [11, 12]


async def test_missing_routes_are_detected(sets: Bench, router_path: Any, cloud: Cloud) -> None:
    resource = await sets.create({"router": router_path.router, "routes": via(10, 11)})
    call = sets.call(resource, "CHECK", resource.properties)
    assert await sets.kind.observe(call) == {}
    assert await sets.kind.adopt(call) == Done()
    await cloud.put(
        "neutron", f"/v2.0/routers/{router_path.router}/remove_extraroutes", {"router": {"routes": via(11)}}
    )
    assert await sets.kind.observe(call) == {"routes": via(10)}
    assert await sets.kind.adopt(call) != Done()


async def test_rules(sets: Bench, router_path: Any) -> None:
    with pytest.raises(BadProperties, match="nexthop"):
        await sets.finalized({"router": router_path.router, "routes": [{"destination": "10.9.1.0/24"}]})


def test_interfaces_of_the_router_come_first() -> None:
    router = Unknown.of("router")
    definition = Definition(
        foot=("OS::Neutron::RouterInterface", {"router": router}),
        other=("OS::Neutron::RouterInterface", {"router": "other"}),
        set=("OS::Neutron::ExtraRouteSet", {"router": router}),
    )
    assert definition.requirements(ExtraRouteSet, "set") == {"foot"}
