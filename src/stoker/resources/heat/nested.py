"""What resource types have in common whose object is a stack of ours."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping
from typing import Any

from stoker.plugins.outcome import Done, Failed, Outcome
from stoker.plugins.recovery import FoundBy, Recovery
from stoker.plugins.resource import AttributeKey, Call, ChildRequest, ResourceType
from stoker.plugins.unknowns import as_parameters

_MEMBER = "resource."
_KEEP = ChildRequest()


class NestedStackResource(ResourceType):
    """The object is a nested stack: every action is an operation of the child, which the engine runs."""

    nested = True
    path_in_attribute = True
    always_replace_on_check_failed = False
    recovery = Recovery(
        FoundBy.RECORD,
        "The nested stack is recorded under its parent resource, so running it again goes on with the same one.",
    )

    @abstractmethod
    def child_of(self, properties: Mapping[str, Any]) -> ChildRequest | None:
        """The nested stack that these property values ask for; unknown values may be among them.

        None when nothing can be said about it. Pure: this is what validation and preview look into.
        """

    def sample_of(self, properties: Mapping[str, Any]) -> ChildRequest | None:
        """As `child_of`, with one of a number of equal members only: enough to validate them all."""
        return self.child_of(properties)

    @abstractmethod
    async def create(self, call: Call) -> Outcome:
        """Bring the child about."""

    @abstractmethod
    async def update(self, call: Call) -> Outcome:
        """Bring the child to what the properties say now."""

    async def delete(self, call: Call) -> Outcome:
        return await call.child.run("DELETE", _KEEP)

    async def check(self, call: Call) -> Outcome:
        return await self._forward(call, "CHECK")

    async def observe(self, call: Call) -> Mapping[str, Any] | None:
        return None if await call.child.template() is None else {}

    async def suspend(self, call: Call) -> Outcome:
        return await self._forward(call, "SUSPEND")

    async def resume(self, call: Call) -> Outcome:
        return await self._forward(call, "RESUME")

    async def snapshot(self, call: Call) -> Outcome:
        return await self._forward(call, "SNAPSHOT")

    async def adopt(self, call: Call) -> Outcome:
        request = self.child_of(call.properties)
        if request is None:
            return Failed(f"what {call.name} holds depends on what is not known", "Error")
        return await call.child.run("ADOPT", request)

    async def abandon(self, call: Call) -> Outcome:
        return await call.child.run("ABANDON", _KEEP)

    async def _forward(self, call: Call, action: str) -> Outcome:
        if call.physical_id is None:
            return Failed(f"{call.name} has not been created, so there is nothing to {action.lower()}", "Error")
        outcome = await call.child.run(action, _KEEP)
        return Done(note=outcome.note) if isinstance(outcome, Done) else outcome


def unknowns_as_parameters(template: Mapping[str, Any]) -> ChildRequest:
    """A request for a template that was built from values, some of them unknown: those come as parameters."""
    plain, parameters = as_parameters(template)
    return ChildRequest(plain, parameters=parameters)


def member_path(key: AttributeKey) -> tuple[str, AttributeKey] | None:
    """`(member, attribute and path)` that a key like `resource.<member>.<attribute>` names; None for other keys.

    The attribute may also follow as the path's next part, and is empty when the key means the member itself.
    """
    head = str(key[0])
    if not head.startswith(_MEMBER):
        return None
    name, _, attribute = head.removeprefix(_MEMBER).partition(".")
    return name, (attribute, *key[1:]) if attribute else key[1:]


async def read_member(call: Call, name: str, key: AttributeKey) -> Any:
    """A member's attribute, or with an empty key its reference id; None when there is no such member."""
    if key:
        return await call.child.member_attribute(name, key)
    return next((member.reference_id for member in await call.child.members() if member.name == name), None)


async def read_members(call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, Any]:
    """Values of those keys that name one member."""
    named = {key: found for key in keys if (found := member_path(key)) is not None}
    return {key: await read_member(call, name, rest) for key, (name, rest) in named.items()}
