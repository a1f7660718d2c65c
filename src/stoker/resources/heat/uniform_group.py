"""Groups whose members are all alike: they bear random names, and the oldest go first.

`UniformGroup` has a size; `AutoScalingResource` one that scaling policies change within bounds, at most once in a
while. What has been asked for by a policy and is under way is kept in `Call.data`, the time of the last change and
whether there is one under way in the metadata, where everybody may see them.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from base64 import b32encode
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from stoker.base.errors import ActionInProgress, NotSupported
from stoker.plugins.outcome import Outcome
from stoker.plugins.resource import AttributeKey, Call, Member, NoActionRequired, ScalingNotice
from stoker.resources.base import dig
from stoker.resources.heat.batching import Batch, Rolling, batches, every_change, member_definitions
from stoker.resources.heat.group import GroupResource, read_by_member
from stoker.resources.heat.nested import member_path, read_member
from stoker.resources.heat.scaling import (
    EXACT_BY_DEFINITION,
    Adjustment,
    begun,
    changed,
    cooling_down,
    ended,
    new_capacity,
)
from stoker.schema.unknown import is_unknown

_UNDER_WAY = "scaling"
_CAPACITY = "capacity"
"""The key of `Call.data` for the size that the group was brought to last, by its definition or by a policy."""
_NAME_LENGTH = 12
_FAILED = "FAILED"


class UniformGroup(GroupResource):
    """A nested stack of members that are all made from one definition."""

    # -- what a kind of group says of itself --------------------------------------------------------------------

    @abstractmethod
    async def member(self, call: Call) -> Mapping[str, Any]:
        """The definition that members have from now on."""

    @abstractmethod
    def size(self, properties: Mapping[str, Any], current: int) -> int:
        """The size that the properties ask of a group that is to have `current` members."""

    @abstractmethod
    def rolling(self, call: Call) -> Rolling | None:
        """How members get a new definition; None leaves those that there are as they are."""

    # -- actions ------------------------------------------------------------------------------------------------

    async def plan(self, call: Call) -> Iterable[Batch]:
        members = await serving(call)
        size = self.size(call.properties, await capacity(call))
        resize = Batch(size, max(size - len(members), 0))
        rolling = self.rolling(call)
        if rolling is None:
            return [resize]
        wanted = await self.member(call)
        outdated = any(entry != wanted for entry in (await self.definitions(call)).values())
        rolled = list(batches(len(members), len(members), rolling, every_change)) if outdated else []
        return rolled if rolled and rolled[-1].size == size else [*rolled, resize]

    async def members_after(self, call: Call, batch: Batch) -> dict[str, Any]:
        present = await self.definitions(call)
        wanted = await self.member(call)

        def turn(member: Member) -> tuple[bool, bool, float, str]:
            """Who goes first: what has failed, what has a former definition, what has been there longest."""
            return member.status != _FAILED, present[member.name] == wanted, member.created_at, member.name

        there = sorted((member for member in await call.child.members() if member.name in present), key=turn)
        former = [(member.name, present[member.name]) for member in there]
        return member_definitions(former, batch, random_names(), lambda name: wanted)

    async def completed(self, call: Call) -> None:
        call.data[_CAPACITY] = len(await serving(call))

    async def adopt(self, call: Call) -> Outcome:
        """Members keep the names that they have."""
        members = dict.fromkeys(call.adopted["resources"], await self.member(call))
        return await call.child.run("ADOPT", self.request(members))


class AutoScalingResource(UniformGroup):
    """A group of a size that scaling policies change."""

    @abstractmethod
    def bounds(self, properties: Mapping[str, Any]) -> tuple[int, int]:
        """The least and the most members that there may be."""

    @abstractmethod
    def desired(self, properties: Mapping[str, Any]) -> int | None:
        """How many members the properties ask for; None leaves that to the policies."""

    @abstractmethod
    def cooldown(self, properties: Mapping[str, Any]) -> float:
        """For how many seconds policies do nothing once the size has changed."""

    def size(self, properties: Mapping[str, Any], current: int) -> int:
        smallest, largest = self.bounds(properties)
        desired = self.desired(properties)
        return max(smallest, min(largest, current if desired is None else desired))

    def size_problems(self, properties: Mapping[str, Any], names: tuple[str, str, str]) -> Iterable[str]:
        """Complaints about sizes that contradict one another; `names` are the properties' for least, most, desired."""
        (smallest, largest), desired = self.bounds(properties), self.desired(properties)
        if any(is_unknown(value) for value in (smallest, largest, desired)):
            return
        if largest < smallest:
            yield f"{names[1]} ({largest}) is less than {names[0]} ({smallest})"
        elif desired is not None and not smallest <= desired <= largest:
            yield f"{names[2]} ({desired}) is not between {names[0]} ({smallest}) and {names[1]} ({largest})"

    async def completed(self, call: Call) -> None:
        await super().completed(call)
        call.data.pop(_UNDER_WAY, None)
        reason = f"{EXACT_BY_DEFINITION} : {len(await serving(call))}"
        call.metadata = changed(call.metadata, reason, self.cooldown(call.properties), call.now)

    # -- being told to scale --------------------------------------------------------------------------------------

    async def receive(self, call: Call, message: Any) -> str:
        """Begin to change the size as a policy asks. Raises NoActionRequired (facts: heat.yaml, adjust.refuse)."""
        if not isinstance(message, Adjustment):
            raise NotSupported(f"{self.type_name} can only be told to scale.")
        current = len(await serving(call))
        size = new_capacity(current, message, *self.bounds(call.properties))
        if size == current:
            raise NoActionRequired(f"{call.name} has {current} members and keeps them ({message})")
        cooldown = self.cooldown(call.properties) if message.cooldown is None else message.cooldown
        if until := cooling_down(call.metadata, cooldown, call.now):
            raise NoActionRequired(f"{call.name} does not change its size before {until}")
        request = self.request(await self.members_after(call, Batch(size, max(size - current, 0))))
        asked = {"reason": str(message), "cooldown": cooldown, "type": message.type, "amount": message.amount}
        asked["size"] = size
        call.announced.append(_notice(call, "start", asked, current))
        try:
            await call.child.begin("UPDATE", request, metadata=begun(call.metadata), data={_UNDER_WAY: asked})
        except ActionInProgress as error:
            raise NoActionRequired(f"{call.name} is changing already") from error
        return f"{call.name} goes from {current} to {size} members ({message})"

    async def child_ended(self, call: Call, succeeded: bool) -> None:
        asked = call.data.pop(_UNDER_WAY, None)
        if asked is None or not succeeded:
            call.metadata = ended(call.metadata)
        else:
            call.data[_CAPACITY] = asked.get("size", len(await serving(call)))
            call.metadata = changed(call.metadata, asked["reason"], asked["cooldown"], call.now)
        if asked is not None:
            call.announced.append(_notice(call, "end" if succeeded else "error", asked, len(await serving(call))))


_SAYINGS = {
    "start": "Start resizing the group {}",
    "end": "End resizing the group {}",
    "error": "Resizing the group {} failed",
}


def _notice(call: Call, phase: str, asked: Mapping[str, Any], capacity: int) -> ScalingNotice:
    """What others are told of a group that does what a policy asked; `capacity` is its size at that moment."""
    return ScalingNotice(
        phase,
        {
            "adjustment": asked["amount"],
            "adjustment_type": asked["type"],
            "capacity": capacity,
            "groupname": call.physical_name,
            "message": _SAYINGS[phase].format(call.physical_name),
        },
    )


# -- members ----------------------------------------------------------------------------------------------------


async def serving(call: Call) -> list[Member]:
    """The members that have not failed, in creation order."""
    return [member for member in await call.child.members() if member.status != _FAILED]


async def capacity(call: Call) -> int:
    """How many members the group is to have while nothing else is asked for: what a policy has begun is taken over, and
    members that have failed are replaced.
    """
    recorded: int | None = call.data.get(_UNDER_WAY, {}).get("size", call.data.get(_CAPACITY))
    return len(await call.child.members()) if recorded is None else recorded


def random_names() -> Iterator[str]:
    """Names that no member has had, without end."""
    while True:
        yield b32encode(os.urandom(8))[:_NAME_LENGTH].decode().lower()


async def read_uniform(call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, Any]:
    """Attributes of a group of nameless members (facts: heat.yaml, OS::Heat::AutoScalingGroup, attrs)."""
    members = await serving(call)
    return {key: await _read(call, members, key) for key in keys}


async def _read(call: Call, members: list[Member], key: AttributeKey) -> Any:
    name, path = key[0], key[1:]
    if (one := member_path(key)) is not None:
        index, rest = one
        numbered = members[int(index)] if index.isdecimal() and int(index) < len(members) else None
        return None if numbered is None else await read_member(call, numbered.name, rest)
    if name in ("outputs", "outputs_list"):
        values = await read_by_member(call, [member.name for member in members], path) if path else None
        return list(values.values()) if values is not None and name == "outputs_list" else values
    shown = {
        "current_size": len(members),
        "refs": [member.reference_id for member in members],
        "refs_map": {member.name: member.reference_id for member in members},
    }
    return dig(shown.get(str(name)), path)
