"""The association of a floating IP with the interface of a server, in the form of APIs older than Neutron's."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from stoker.base.errors import CloudError
from stoker.plugins.capabilities import ReplacementReverter
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call, ResourceType, Snapshot
from stoker.resources.replacement import conclusive
from stoker.schema.live import FETCHED

_ENDS = "ends"
"""In `call.data`: the IDs of both ends of the association. Those that were taken over from Heat have none."""


@dataclass(frozen=True, slots=True)
class AssociationEnds:
    """What is associated: IDs of a floating IP and of a port, and the port's address, None if it has only one."""

    floating_ip: str
    port: str
    address: str | None = None


class AddressAssociation(ResourceType, ReplacementReverter):
    """An association whose ends are looked up when it is created or updated, and recorded."""

    service = "nova"
    live_otherwise = FETCHED
    recovery = Recovery(
        RecoveryMethod.NOTHING,
        "An address has one association at most; associating it again with the same port has no effect.",
    )

    @abstractmethod
    async def ends(self, call: Call) -> AssociationEnds:
        """Look up what the properties refer to. Raises CloudError if it does not exist."""

    @abstractmethod
    def identifier(self, call: Call) -> str:
        """Return the physical ID."""

    async def prepare(self, call: Call, floating_ip: Mapping[str, object], port: str) -> None:
        """Make it possible to associate the floating IP, which is given as Neutron shows it."""

    def reference_id(self, resource: Snapshot) -> object:
        return resource.physical_name if resource.physical_id is not None else resource.name

    async def create(self, call: Call) -> Outcome:
        """Record both ends first, so that a deletion after an interruption knows what to disassociate."""
        if _ENDS not in call.data:
            call.data[_ENDS] = asdict(await self.ends(call))
            return InProgress(after=0.0)
        await self._associate(call)
        return Done(physical_id=self.identifier(call))

    async def update(self, call: Call) -> Outcome:
        """Record the new ends, then disassociate the earlier floating IP if it is another one, and associate again."""
        if "earlier" not in call.progress:
            earlier = await self._recorded_ends(call)
            call.progress["earlier"] = earlier.floating_ip if earlier is not None else None
            call.data[_ENDS] = asdict(await self.ends(call))
            return InProgress(after=0.0)
        earlier = call.progress["earlier"]
        if earlier not in (None, call.data[_ENDS]["floating_ip"]):
            await _set_port(call, earlier, None)
        await self._associate(call)
        return Done(physical_id=self.identifier(call))

    async def revert_replacement(self, call: Call) -> Outcome:
        """Associate the address again, which a replacement may have associated with another port."""
        return await conclusive(self.create(call))

    async def delete(self, call: Call) -> Outcome:
        """Disassociate the address, unless another resource has associated it meanwhile."""
        ends = await self._recorded_ends(call)
        if ends is not None and await _are_associated(call, ends) and not await _is_passed_on(call, ends):
            await _set_port(call, ends.floating_ip, None)
        return Done()

    async def check(self, call: Call) -> Outcome:
        return Done() if await self._is_associated(call) else Failed("the address is not associated", "NotFound")

    async def observe(self, call: Call) -> Mapping[str, object] | None:
        call.report.compared.update(call.properties)
        return {} if await self._is_associated(call) else None

    async def adopt(self, call: Call) -> Outcome:
        call.data[_ENDS] = asdict(await self.ends(call))
        if call.physical_id != self.identifier(call):
            return Failed(f"the association is {self.identifier(call)}, not {call.physical_id}", "NotFound")
        return await self.check(call)

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        return call.physical_id is None

    async def _recorded_ends(self, call: Call) -> AssociationEnds | None:
        """Return the ends that were recorded, or else those that the properties refer to; None without either."""
        if _ENDS in call.data:
            return AssociationEnds(**call.data[_ENDS])
        if call.physical_id is None:
            return None
        try:
            return await self.ends(call if call.previous is None else replace(call, properties=call.previous))
        except CloudError as error:
            if error.not_found:
                return None
            raise

    async def _is_associated(self, call: Call) -> bool:
        ends = await self._recorded_ends(call)
        return ends is not None and await _are_associated(call, ends)

    async def _associate(self, call: Call) -> None:
        ends = AssociationEnds(**call.data[_ENDS])
        floating_ip = (await call.cloud.get("neutron", _path(ends.floating_ip)))["floatingip"]
        if floating_ip["port_id"] == ends.port:
            return
        await self.prepare(call, floating_ip, ends.port)
        await _set_port(call, ends.floating_ip, ends.port, ends.address)


def _path(floating_ip: str) -> str:
    return f"/v2.0/floatingips/{floating_ip}"


async def _set_port(call: Call, floating_ip: str, port: str | None, address: str | None = None) -> None:
    """Associate the floating IP, or disassociate it if `port` is None; one that does not exist has no association."""
    body = {"port_id": port} | ({} if address is None else {"fixed_ip_address": address})
    await call.cloud.put("neutron", _path(floating_ip), {"floatingip": body}, ok=() if port else (404,))


async def _are_associated(call: Call, ends: AssociationEnds) -> bool:
    answer = await call.cloud.get("neutron", _path(ends.floating_ip), ok=(404,))
    return bool((answer.get("floatingip") or {}).get("port_id") == ends.port)


async def _is_passed_on(call: Call, ends: AssociationEnds) -> bool:
    """Return whether another association of the stack has the same two ends."""
    others = await call.engine.neighbours.of_type(call.resource.type)
    return any(other.data is not call.data and other.data.get(_ENDS) == asdict(ends) for other in others)
