"""OS::Neutron::FloatingIPAssociation"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.plugins.capabilities import ImplicitlyDependent, ReplacementReverter
from stoker.plugins.outcome import Done, Failed, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call, Graph, Node
from stoker.resources.base import unrecorded
from stoker.resources.declare import custom
from stoker.resources.neutron.base import NeutronResource, collection, ip_address
from stoker.resources.neutron.implicit import interfaces_behind
from stoker.resources.replacement import belongs_to_successor, conclusive
from stoker.schema.live import FETCHED
from stoker.schema.property import Change, Property


class FloatingIPAssociation(NeutronResource, ImplicitlyDependent, ReplacementReverter):
    """The association of a floating IP with a port.

    Its physical ID names both ends, which distinguishes an association that now belongs to another resource from one
    that no resource has recorded.
    """

    type_name = "OS::Neutron::FloatingIPAssociation"
    description = "Associates an existing floating IP with a port."
    collection = collection("floatingip")
    id_is_new = False
    recovery = Recovery(
        RecoveryMethod.MATCHING_PROPERTIES,
        "The floating IP is associated with the port, and no other resource has that association.",
    )
    live_otherwise = FETCHED

    properties = {
        "floatingip_id": Property(description="ID of the floating IP.", required=True, change=Change.UPDATE),
        "port_id": Property(
            description="ID of the port.", required=True, constraints=custom("neutron.port"), change=Change.UPDATE
        ),
        "fixed_ip_address": ip_address(
            "The fixed address of the port to use, if it has several.", change=Change.UPDATE
        ),
    }

    def implicit_requirements(self, node: Node, graph: Graph) -> Iterable[str]:
        return interfaces_behind(node, graph)

    async def find(self, call: Call) -> str | None:
        if not await _is_associated(call, call.properties):
            return None
        return next(iter(await unrecorded(call, [_physical_id(call.properties)])), None)

    async def create(self, call: Call) -> Outcome:
        if call.physical_id is None:
            await _associate(call, call.properties)
        return Done(physical_id=_physical_id(call.properties))

    async def update(self, call: Call) -> Outcome:
        before = call.previous or call.properties
        if before["floatingip_id"] != call.properties["floatingip_id"]:
            await _disassociate(call, before)
        await _associate(call, call.properties)
        return Done(physical_id=_physical_id(call.properties))

    async def revert_replacement(self, call: Call) -> Outcome:
        """Associate the floating IP again; `prepare_for_replacement` does nothing, since it need not be disassociated
        first.
        """
        return await conclusive(self._restored(call))

    async def _restored(self, call: Call) -> Outcome:
        if not await _is_associated(call, call.properties):
            await _associate(call, call.properties)
        return Done()

    async def remove(self, call: Call) -> None:
        # Another resource may have associated the address in the same update, even with the same port: that must stay.
        if await _is_associated(call, call.properties) and not await belongs_to_successor(call, self.type_name):
            await _disassociate(call, call.properties)

    async def show(self, call: Call) -> dict[str, Any] | None:
        """Return None: Neutron has no object for an association."""
        return None

    async def observe(self, call: Call) -> Mapping[str, object] | None:
        call.report.compared.update(call.properties)
        return {} if await _is_associated(call, call.properties) else None

    async def adopt(self, call: Call) -> Outcome:
        if not await _is_associated(call, call.properties):
            return Failed("the floating IP is not associated with the port", "NotFound")
        return Done()

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        """An association that was created can be set again without replacement."""
        return call.physical_id is None


def _physical_id(properties: Mapping[str, object]) -> str:
    return f"{properties['floatingip_id']}:port_id={properties['port_id']}"


def _path(properties: Mapping[str, object]) -> str:
    return f"/v2.0/floatingips/{properties['floatingip_id']}"


async def _is_associated(call: Call, properties: Mapping[str, object]) -> bool:
    answer = await call.cloud.get("neutron", _path(properties), ok=(404,))
    return bool((answer.get("floatingip") or {}).get("port_id") == properties["port_id"])


async def _associate(call: Call, properties: Mapping[str, object]) -> None:
    ends = {name: properties[name] for name in ("port_id", "fixed_ip_address") if properties[name] is not None}
    await call.cloud.put("neutron", _path(properties), {"floatingip": ends})


async def _disassociate(call: Call, properties: Mapping[str, object]) -> None:
    await call.cloud.put("neutron", _path(properties), {"floatingip": {"port_id": None}}, ok=(404,))
