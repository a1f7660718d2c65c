"""OS::Neutron::ExtraRoute"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from stoker.plugins.capabilities import ImplicitlyDependent, ReplacementReverter
from stoker.plugins.id_form import IdForm
from stoker.plugins.object_ids import ObjectIds
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call, Graph, Node
from stoker.resources.declare import custom
from stoker.resources.neutron.base import NeutronResource, collection
from stoker.resources.neutron.implicit import ROUTER_GATEWAY, ROUTER_INTERFACE, are_same
from stoker.resources.replacement import belongs_to_successor, conclusive
from stoker.schema.live import FETCHED
from stoker.schema.property import Property, Support

_Routes = list[dict[str, str]]
_FREE = "free"
"""In `call.progress`: the route did not exist before this action, so it is this resource's once it does."""


class ExtraRoute(NeutronResource, ImplicitlyDependent, ReplacementReverter):
    """One route of a router. It is set atomically where Neutron can (extension extraroute-atomic)."""

    type_name = "OS::Neutron::ExtraRoute"
    description = "A route of a router. OS::Neutron::ExtraRouteSet has several."
    collection = collection("router")
    id_is_new = False
    id_form = IdForm.VALUES
    object_ids = ObjectIds()
    named_in = None
    extension = "extraroute"
    support = Support("UNSUPPORTED")
    recovery = Recovery(
        RecoveryMethod.MATCHING_PROPERTIES,
        "That the router does not have the route is recorded before it is added; so it is the resource's if it exists "
        "afterwards.",
    )
    live_otherwise = FETCHED

    properties = {
        "router_id": Property(description="ID of the router.", required=True, constraints=custom("neutron.router")),
        "destination": Property(description="The destination network, as a CIDR.", required=True),
        "nexthop": Property(description="The address of the next hop.", required=True),
    }

    def implicit_requirements(self, node: Node, graph: Graph) -> Iterable[str]:
        router = node.properties.get("router_id")
        for other in graph.of_type(ROUTER_INTERFACE, ROUTER_GATEWAY):
            name = "router" if other.type == ROUTER_INTERFACE else "router_id"
            if are_same(other.properties.get(name), router):
                yield other.name

    async def find(self, call: Call) -> str | None:
        return _physical_id(call) if call.progress.get(_FREE) and await _is_set(call) else None

    async def create(self, call: Call) -> Outcome:
        if call.physical_id is not None:
            return Done()
        if _FREE not in call.progress:
            if await _is_set(call):
                return Failed("the router already has the route", "PhysicalResourceExists")
            call.progress[_FREE] = True
            return InProgress(after=0.0)
        await _add(call)
        return Done(physical_id=_physical_id(call))

    async def revert_replacement(self, call: Call) -> Outcome:
        """Set the route again if the deletion of a replacement has removed it."""
        return await conclusive(self._restored(call))

    async def _restored(self, call: Call) -> Outcome:
        await _add(call)
        return Done()

    async def remove(self, call: Call) -> None:
        if not await belongs_to_successor(call, self.type_name):
            await _remove(call)

    async def show(self, call: Call) -> dict[str, Any] | None:
        """Return None: Neutron has no object for a route."""
        return None

    async def observe(self, call: Call) -> Mapping[str, object] | None:
        call.report.compared.update(call.properties)
        return {} if await _is_set(call) else None

    async def adopt(self, call: Call) -> Outcome:
        if call.physical_id != _physical_id(call) or not await _is_set(call):
            return Failed("the router does not have the route", "NotFound")
        return Done()

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        return not await _is_set(call)


def _physical_id(call: Call) -> str:
    given = call.properties
    return f"{given['router_id']}:{given['destination']}:{given['nexthop']}"


def _route(call: Call) -> dict[str, str]:
    return {name: call.properties[name] for name in ("destination", "nexthop")}


def _path(call: Call) -> str:
    return f"/v2.0/routers/{call.properties['router_id']}"


async def _routes(call: Call) -> _Routes | None:
    """Return the router's routes; None when there is no such router."""
    answer = await call.cloud.get("neutron", _path(call), ok=(404,))
    router = answer.get("router")
    return None if router is None else list(router["routes"])


async def _is_set(call: Call) -> bool:
    return _route(call) in (await _routes(call) or [])


async def _add(call: Call) -> None:
    """Add the route to the router."""
    route = _route(call)
    await _edit(call, "add_extraroutes", lambda routes: routes if route in routes else [*routes, route])


async def _remove(call: Call) -> None:
    """Remove the route; a router that does not exist has none."""
    route = _route(call)
    await _edit(call, "remove_extraroutes", lambda routes: [other for other in routes if other != route], ok=(404,))


async def _edit(call: Call, verb: str, edited: Callable[[_Routes], _Routes], ok: tuple[int, ...] = ()) -> None:
    """Edit the router's routes: with a request that names the change where Neutron has it, else with all routes."""
    if await call.cloud.has_extension("neutron", "extraroute-atomic"):
        await call.cloud.put("neutron", f"{_path(call)}/{verb}", {"router": {"routes": [_route(call)]}}, ok=ok)
        return
    routes = await _routes(call)
    if routes is not None and (changed := edited(routes)) != routes:
        await call.cloud.put("neutron", _path(call), {"router": {"routes": changed}}, ok=ok)
