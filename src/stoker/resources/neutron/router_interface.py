"""OS::Neutron::RouterInterface"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.resource import Call
from stoker.resources.base import unrecorded
from stoker.resources.declare import custom
from stoker.resources.neutron.base import NeutronResource, collection
from stoker.schema.property import Property, Support

_HIDDEN = Support("HIDDEN", "6.0.0", previous=Support("DEPRECATED", "2015.1", previous=Support(version="2013.1")))
_ROUTER = custom("neutron.router")
_SUBNET = custom("neutron.subnet")
_PORT = custom("neutron.port")


class RouterInterface(NeutronResource):
    """A router's foot on a subnet, or in a port."""

    type_name = "OS::Neutron::RouterInterface"
    description = "Joins a router to a subnet, by the subnet's gateway address or by a port."
    collection = collection("router")
    extension = "router"
    recovery = (
        "By the router's port on the subnet, which must have been made since the action began, or by the port being "
        "in the router; no other resource may have it."
    )

    properties = {
        "router": Property(
            description="The router, by name or id.",
            required=True,
            constraints=_ROUTER,
            resolve="neutron.router",
            replaces="router_id",
        ),
        "router_id": Property(description="Older name of router.", constraints=_ROUTER, support=_HIDDEN),
        "subnet_id": Property(
            description="Older name of subnet.",
            constraints=_SUBNET,
            support=Support("HIDDEN", "5.0.0", previous=Support("DEPRECATED", "2014.2")),
        ),
        "subnet": Property(
            description="The subnet, by name or id; it must have a gateway address.",
            constraints=_SUBNET,
            resolve="neutron.subnet",
            replaces="subnet_id",
        ),
        "port_id": Property(
            description="Older name of port.",
            constraints=_PORT,
            support=Support(
                "HIDDEN", "6.0.0", previous=Support("DEPRECATED", "2015.1", previous=Support(version="2014.1"))
            ),
        ),
        "port": Property(
            description="The port to take, by name or id.",
            constraints=_PORT,
            support=Support(version="2015.1"),
            resolve="neutron.port",
            replaces="port_id",
        ),
    }

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        if (properties.get("subnet") is None) == (properties.get("port") is None):
            yield "exactly one of subnet and port must be given"

    async def find(self, call: Call) -> str | None:
        taken = call.properties["port"] is not None
        if not any(taken or self.made_by(call, {}, port) for port in await _ports(call)):
            return None
        return next(iter(await unrecorded(call, [_physical_id(call.properties)])), None)

    async def create(self, call: Call) -> Outcome:
        if call.physical_id is None:
            await _ask(call, "add_router_interface", _physical_id(call.properties))
        return Done(physical_id=_physical_id(call.properties))

    async def remove(self, call: Call) -> None:
        await _ask(call, "remove_router_interface", str(call.physical_id))

    async def show(self, call: Call) -> dict[str, Any] | None:
        """Nothing: Neutron has no object for an interface."""
        return None

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        return not await _ports(call)


def _physical_id(properties: Mapping[str, Any]) -> str:
    key = "port" if properties["subnet"] is None else "subnet"
    return f"{properties['router']}:{key}_id={properties[key]}"


async def _ports(call: Call) -> list[Any]:
    """The router's ports that the interface may be: one at most."""
    properties = call.properties
    params = {"device_id": properties["router"], "id": properties["port"]}
    if properties["subnet"] is not None:
        params["fixed_ips"] = f"subnet_id={properties['subnet']}"
    return await call.cloud.list("neutron", "/v2.0/ports", "ports", params)


async def _ask(call: Call, verb: str, physical_id: str) -> None:
    """Add or remove what the id stands for; ids of old stacks lack the key, and mean a subnet."""
    router, _, what = physical_id.partition(":")
    key, _, identifier = what.rpartition("=")
    await call.cloud.put("neutron", f"/v2.0/routers/{router}/{verb}", {key or "subnet_id": identifier})
