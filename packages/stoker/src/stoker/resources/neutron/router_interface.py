"""OS::Neutron::RouterInterface"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.plugins.exclusion import Exclusion
from stoker.plugins.object_ids import ObjectIds
from stoker.plugins.outcome import Done, Failed, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call
from stoker.resources.base import unrecorded
from stoker.resources.declare import custom
from stoker.resources.neutron.allowances import ROUTER_INTERFACE
from stoker.resources.neutron.base import NeutronResource, collection
from stoker.resources.neutron.conflicts import ROUTER_RANGES
from stoker.resources.replacement import belongs_to_successor
from stoker.schema.live import FETCHED
from stoker.schema.property import Property, Support

_HIDDEN = Support("HIDDEN", "6.0.0", previous=Support("DEPRECATED", "2015.1", previous=Support(version="2013.1")))
_ROUTER = custom("neutron.router")
_SUBNET = custom("neutron.subnet")
_PORT = custom("neutron.port")


class RouterInterface(NeutronResource):
    """A router's interface on a subnet, or with a given port.

    Only one router can have the subnet's gateway address. An interface with a given port is not deleted before its
    replacement is created, because Neutron deletes the port with it.
    """

    type_name = "OS::Neutron::RouterInterface"
    description = "Connects a router to a subnet, with the subnet's gateway address or with a port."
    consumes = ROUTER_INTERFACE
    conflicts = (ROUTER_RANGES,)
    collection = collection("router")
    identity = None
    id_is_new = False
    object_ids = ObjectIds()
    extension = "router"
    exclusion = Exclusion.by(("subnet",))
    recovery = Recovery(
        RecoveryMethod.MATCHING_PROPERTIES,
        "The router has a port on the subnet that was created since the action began, or uses the given port, and no "
        "other resource has that interface.",
    )
    live_otherwise = FETCHED

    properties = {
        "router": Property(
            description="The router, by name or ID.",
            required=True,
            reference="neutron.router",
            replaces="router_id",
        ),
        "router_id": Property(description="Older name of router.", constraints=_ROUTER, support=_HIDDEN),
        "subnet_id": Property(
            description="Older name of subnet.",
            constraints=_SUBNET,
            support=Support("HIDDEN", "5.0.0", previous=Support("DEPRECATED", "2014.2")),
        ),
        "subnet": Property(
            description="The subnet, by name or ID; it must have a gateway address.",
            reference="neutron.subnet",
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
            description="The port to use, by name or ID.",
            support=Support(version="2015.1"),
            reference="neutron.port",
            replaces="port_id",
        ),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        if (properties.get("subnet") is None) == (properties.get("port") is None):
            yield "exactly one of subnet and port must be given"

    async def find(self, call: Call) -> str | None:
        taken = call.properties["port"] is not None
        if not any(taken or self.made_by(call, {}, port) for port in await _ports(call)):
            return None
        return next(iter(await unrecorded(call, [_physical_id(call.properties)])), None)

    async def create(self, call: Call) -> Outcome:
        if call.physical_id is None:
            await _request(call, "add_router_interface", _physical_id(call.properties))
        return Done(physical_id=_physical_id(call.properties))

    async def remove(self, call: Call) -> None:
        if await belongs_to_successor(call, self.type_name):
            return
        await _request(call, "remove_router_interface", str(call.physical_id))

    async def show(self, call: Call) -> dict[str, Any] | None:
        """Return None: Neutron has no object for an interface."""
        return None

    async def observe(self, call: Call) -> Mapping[str, object] | None:
        call.report.compared.update(call.properties)
        return {} if await _ports(call) else None

    async def adopt(self, call: Call) -> Outcome:
        if call.physical_id != _physical_id(call.properties) or not await _ports(call):
            return Failed("the router has no such interface", "NotFound")
        return Done()

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        return not await _ports(call)


def _physical_id(properties: Mapping[str, object]) -> str:
    key = "port" if properties["subnet"] is None else "subnet"
    return f"{properties['router']}:{key}_id={properties[key]}"


async def _ports(call: Call) -> list[Any]:
    """Return the router's ports that match the interface: one at most."""
    properties = call.properties
    params = {"device_id": properties["router"], "id": properties["port"]}
    if properties["subnet"] is not None:
        params["fixed_ips"] = f"subnet_id={properties['subnet']}"
    return await call.cloud.list("neutron", "/v2.0/ports", "ports", params)


async def _request(call: Call, verb: str, physical_id: str) -> None:
    """Add or remove the interface with a physical ID; in old stacks the ID lacks the key and denotes a subnet."""
    router, _, what = physical_id.partition(":")
    key, _, identifier = what.rpartition("=")
    await call.cloud.put("neutron", f"/v2.0/routers/{router}/{verb}", {key or "subnet_id": identifier}, once=True)
