"""Base of resource types whose object is a nested stack."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping

from stoker.plugins.capabilities import (
    Abandonable,
    ParentOfEqualMembers,
    ParentOfStack,
    Resumable,
    SnapshotParticipant,
    Suspendable,
)
from stoker.plugins.outcome import Done, Failed, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import AttributeKey, Call, ChildRequest, ResourceType
from stoker.plugins.unknowns import as_parameters

_MEMBER = "resource."
_KEEP = ChildRequest()


class NestedStackResource(
    ResourceType, Abandonable, ParentOfEqualMembers, ParentOfStack, Resumable, SnapshotParticipant, Suspendable
):
    """A resource whose object is a nested stack: every action is an operation of the child, run by the engine."""

    nested = True
    path_in_attribute = True
    always_replace_on_check_failed = False
    recovery = Recovery(
        RecoveryMethod.RECORD,
        "The nested stack is recorded under its parent resource, so a repeated action continues with the same stack.",
    )

    @abstractmethod
    def child_of(self, properties: Mapping[str, object]) -> ChildRequest | None:
        """Return the request for the nested stack that these property values define; some may be unknown.

        None when the stack cannot be determined yet. Pure: validation and preview use it.
        """

    def sample_of(self, properties: Mapping[str, object]) -> ChildRequest | None:
        """Like `child_of`, with one of several identical members only, which suffices for validation."""
        return self.child_of(properties)

    @abstractmethod
    async def create(self, call: Call) -> Outcome:
        """Create the child."""

    @abstractmethod
    async def update(self, call: Call) -> Outcome:
        """Update the child to the current properties."""

    async def delete(self, call: Call) -> Outcome:
        return await call.engine.child.run("DELETE", _KEEP)

    async def check(self, call: Call) -> Outcome:
        return await _forward(call, "CHECK")

    async def observe(self, call: Call) -> Mapping[str, object] | None:
        return None if await call.engine.child.template() is None else {}

    async def suspend(self, call: Call) -> Outcome:
        return await _forward(call, "SUSPEND")

    async def resume(self, call: Call) -> Outcome:
        return await _forward(call, "RESUME")

    async def snapshot(self, call: Call) -> Outcome:
        return await _forward(call, "SNAPSHOT")

    async def adopt(self, call: Call) -> Outcome:
        request = self.child_of(call.properties)
        if request is None:
            return Failed(f"the nested stack of {call.resource.name} depends on values that are not known yet", "Error")
        return await call.engine.child.run("ADOPT", request)

    async def abandon(self, call: Call) -> Outcome:
        return await call.engine.child.run("ABANDON", _KEEP)


async def _forward(call: Call, action: str) -> Outcome:
    if call.physical_id is None:
        return Failed(f"cannot {action.lower()} {call.resource.name}: it has not been created", "Error")
    outcome = await call.engine.child.run(action, _KEEP)
    return Done(note=outcome.note) if isinstance(outcome, Done) else outcome


def unknowns_as_parameters(template: Mapping[str, object]) -> ChildRequest:
    """Return the request for a template built from values, with a parameter for each unknown one."""
    plain, parameters = as_parameters(template)
    return ChildRequest(plain, parameters=parameters)


def member_path(key: AttributeKey) -> tuple[str, AttributeKey] | None:
    """Return `(member, attribute and path)` of a key like `resource.<member>.<attribute>`; None for other keys.

    The attribute may also be the next part of the path; it is empty when the key names the member itself.
    """
    head = str(key[0])
    if not head.startswith(_MEMBER):
        return None
    name, _, attribute = head.removeprefix(_MEMBER).partition(".")
    return name, (attribute, *key[1:]) if attribute else key[1:]


async def read_member(call: Call, name: str, key: AttributeKey) -> object:
    """Return a member's attribute, or with an empty key its reference ID; None when there is no such member."""
    if key:
        return await call.engine.child.member_attribute(name, key)
    return next((member.reference_id for member in await call.engine.child.members() if member.name == name), None)


async def read_members(call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
    """Return the values of those keys that name a single member."""
    named = {key: found for key in keys if (found := member_path(key)) is not None}
    return {key: await read_member(call, name, rest) for key, (name, rest) in named.items()}
