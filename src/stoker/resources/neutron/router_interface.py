"""OS::Neutron::RouterInterface"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.base.errors import CloudError
from stoker.plugins.outcome import Again, Done, Failed, Outcome
from stoker.plugins.recovery import FoundBy, Recovery
from stoker.plugins.resource import Call
from stoker.resources.base import unrecorded
from stoker.resources.declare import custom
from stoker.resources.neutron.base import NeutronResource, collection
from stoker.resources.replacing import conclusive, has_passed_on, is_recorded
from stoker.schema.property import Property, Support

_HIDDEN = Support("HIDDEN", "6.0.0", previous=Support("DEPRECATED", "2015.1", previous=Support(version="2013.1")))
_ROUTER = custom("neutron.router")
_SUBNET = custom("neutron.subnet")
_PORT = custom("neutron.port")
_GIVEN_UP = "given_up"
"""In `call.data`: the interface has been removed from the router in favor of its replacement."""


class RouterInterface(NeutronResource):
    """A router's interface on a subnet, or with a given port."""

    type_name = "OS::Neutron::RouterInterface"
    description = "Connects a router to a subnet, with the subnet's gateway address or with a port."
    collection = collection("router")
    id_is_new = False
    extension = "router"
    recovery = Recovery(
        FoundBy.LIKENESS,
        "The router has a port on the subnet that was created since the action began, or uses the given port, and no "
        "other resource has that interface.",
    )

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

    async def prepare_for_replacement(self, call: Call) -> Outcome:
        """Remove the interface, since only one router can have the subnet's gateway address.

        An interface with a given port stays, because Neutron deletes the port with it. So does one that floating IPs
        or routes still need; then the replacement cannot have its address.
        """
        if call.properties["subnet"] is None:
            return Done()
        if _GIVEN_UP not in call.data:
            call.data[_GIVEN_UP] = True
            return Again(after=0.0)
        try:
            await _ask(call, "remove_router_interface", str(call.physical_id))
        except CloudError as error:
            if error.conflict:
                del call.data[_GIVEN_UP]
            elif not error.not_found:
                raise
        return Done()

    async def revert_replacement(self, call: Call) -> Outcome:
        """Add the interface again, once the replacement's is removed."""
        return await conclusive(self._restored(call)) if _GIVEN_UP in call.data else Done()

    async def _restored(self, call: Call) -> Outcome:
        subnet = call.properties["subnet"]
        for port in await call.cloud.list("neutron", "/v2.0/ports", "ports", {"fixed_ips": f"subnet_id={subnet}"}):
            router = port["device_id"]
            interfaces = {f"{router}:subnet_id={subnet}", f"{router}:port_id={port['id']}"} - {call.physical_id}
            if any([await is_recorded(call, interface) for interface in interfaces]):
                await _ask(call, "remove_router_interface", f"{router}:port_id={port['id']}")
        if not await _ports(call):
            await _ask(call, "add_router_interface", str(call.physical_id))
        del call.data[_GIVEN_UP]
        return Done()

    async def remove(self, call: Call) -> None:
        if await has_passed_on(call, self.type_name):
            return
        await _ask(call, "remove_router_interface", str(call.physical_id))

    async def show(self, call: Call) -> dict[str, Any] | None:
        """Return None: Neutron has no object for an interface."""
        return None

    async def observe(self, call: Call) -> Mapping[str, Any] | None:
        return {} if await _ports(call) else None

    async def adopt(self, call: Call) -> Outcome:
        if call.physical_id != _physical_id(call.properties) or not await _ports(call):
            return Failed("the router has no such interface", "NotFound")
        return Done()

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        return not await _ports(call)


def _physical_id(properties: Mapping[str, Any]) -> str:
    key = "port" if properties["subnet"] is None else "subnet"
    return f"{properties['router']}:{key}_id={properties[key]}"


async def _ports(call: Call) -> list[Any]:
    """Return the router's ports that match the interface: one at most."""
    properties = call.properties
    params = {"device_id": properties["router"], "id": properties["port"]}
    if properties["subnet"] is not None:
        params["fixed_ips"] = f"subnet_id={properties['subnet']}"
    return await call.cloud.list("neutron", "/v2.0/ports", "ports", params)


async def _ask(call: Call, verb: str, physical_id: str) -> None:
    """Add or remove the interface with a physical ID; in old stacks the ID lacks the key and denotes a subnet."""
    router, _, what = physical_id.partition(":")
    key, _, identifier = what.rpartition("=")
    await call.cloud.put("neutron", f"/v2.0/routers/{router}/{verb}", {key or "subnet_id": identifier}, once=True)
