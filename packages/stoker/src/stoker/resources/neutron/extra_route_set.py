"""OS::Neutron::ExtraRouteSet"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stoker.plugins.capabilities import ImplicitlyDependent
from stoker.plugins.exclusion import Exclusion
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call, Graph, Node
from stoker.resources.declare import custom
from stoker.resources.neutron.base import NeutronResource, collection, ip_address
from stoker.resources.neutron.implicit import ROUTER_INTERFACE, are_same
from stoker.schema.live import FETCHED
from stoker.schema.property import Change, Property, Support, Type

Routes = Sequence[Mapping[str, Any]]

_FREE = "free"
"""In `call.progress`: the routes did not exist before this action, so they are this resource's once they do."""


class ExtraRouteSet(NeutronResource, ImplicitlyDependent):
    """Routes of a router beside those that others have set: they are added and removed, never overwritten.

    Neutron has no object for them; the physical ID is the router's.
    """

    type_name = "OS::Neutron::ExtraRouteSet"
    description = "Additional routes of a router, which leave routes set elsewhere unchanged."
    collection = collection("router")
    id_is_new = False
    extension = "extraroute-atomic"
    exclusion = Exclusion.by(("router",))
    support = Support(version="14.0.0")
    recovery = Recovery(
        RecoveryMethod.MATCHING_PROPERTIES,
        "That the router has none of the routes is recorded before they are added; so they are the resource's if they "
        "exist afterwards.",
    )
    live_otherwise = FETCHED

    properties = {
        "router": Property(description="ID of the router.", required=True, constraints=custom("neutron.router")),
        "routes": Property(
            Type.LIST,
            "The routes.",
            default=[],
            items=Property(
                Type.MAP,
                "A route.",
                schema={
                    "destination": Property(
                        description="The destination network, as a CIDR.",
                        required=True,
                        constraints=custom("net_cidr"),
                    ),
                    "nexthop": ip_address("The address of the next hop.", required=True),
                },
            ),
            change=Change.UPDATE,
        ),
    }

    def implicit_requirements(self, node: Node, graph: Graph) -> Iterable[str]:
        for interface in graph.of_type(ROUTER_INTERFACE):
            if are_same(interface.properties.get("router"), node.properties.get("router")):
                yield interface.name

    async def find(self, call: Call) -> str | None:
        there = call.progress.get(_FREE) and not await _missing(call, call.properties["routes"])
        return str(call.properties["router"]) if there else None

    async def create(self, call: Call) -> Outcome:
        if call.physical_id is not None:
            return Done()
        return await self._put(call, [], call.properties["routes"])

    async def update(self, call: Call) -> Outcome:
        before, after = (call.previous or {}).get("routes") or [], call.properties["routes"]
        return await self._put(call, _without(before, after), _without(after, before))

    async def _put(self, call: Call, removed: Routes, added: Routes) -> Outcome:
        """Remove and add routes, once it is recorded that the router does not have those to add yet."""
        if _FREE not in call.progress:
            taken = _without(added, await _missing(call, added))
            if taken:
                return Failed(f"the router already has the routes {_described(taken)}", "PhysicalResourceExists")
            call.progress[_FREE] = True
            return InProgress(after=0.0)
        await _request(call, "remove_extraroutes", removed)
        await _request(call, "add_extraroutes", added)
        return Done(physical_id=str(call.properties["router"]))

    async def remove(self, call: Call) -> None:
        await _request(call, "remove_extraroutes", call.properties["routes"])

    async def show(self, call: Call) -> dict[str, Any] | None:
        """Return None: Neutron has no object for routes."""
        return None

    async def observe(self, call: Call) -> Mapping[str, object] | None:
        call.report.compared.update(call.properties)
        missing = await _missing(call, call.properties["routes"])
        return {"routes": _without(call.properties["routes"], missing)} if missing else {}

    async def adopt(self, call: Call) -> Outcome:
        if call.physical_id != call.properties["router"] or await _missing(call, call.properties["routes"]):
            return Failed("the router does not have the routes", "NotFound")
        return Done()

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        """Routes that were created can be set again without replacement."""
        return call.physical_id is None


def _path(call: Call) -> str:
    return f"/v2.0/routers/{call.properties['router']}"


async def _request(call: Call, verb: str, routes: Routes) -> None:
    if routes:
        await call.cloud.put("neutron", f"{_path(call)}/{verb}", {"router": {"routes": list(routes)}})


async def _missing(call: Call, routes: Routes) -> Routes:
    """Return those of the routes that the router does not have. Raises CloudError when it does not exist."""
    router = (await call.cloud.get("neutron", _path(call)))["router"]
    return _without(routes, router["routes"])


def _without(routes: Routes, others: Routes) -> Routes:
    known = {_key(route) for route in others}
    return [route for route in routes if _key(route) not in known]


def _key(route: Mapping[str, object]) -> tuple[object, object]:
    return route["destination"], route["nexthop"]


def _described(routes: Routes) -> str:
    return ", ".join(f"{route['destination']} by {route['nexthop']}" for route in routes)
