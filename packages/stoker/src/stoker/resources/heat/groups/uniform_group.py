"""Groups of interchangeable members: they have random names, and the oldest are removed first; or they have the first
free names of a list, and the last listed are removed first.

`UniformGroup` has a size; `AutoScalingResource` a size that scaling policies change within bounds, at most once per
cooldown. `Call.data` records the adjustment in progress; the metadata, which users can read, records the time of the
last change and whether one is in progress.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from base64 import b32encode
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from stoker.base.errors import ActionInProgress, NotSupported
from stoker.plugins.capabilities import ChildObserver, MessageReceiver
from stoker.plugins.outcome import Outcome
from stoker.plugins.resource import AttributeKey, Call, Member, NoActionRequired, ScalingNotice
from stoker.resources.base import value_at
from stoker.resources.heat.groups.batching import Batch, RollingUpdate, batches, every_change, member_definitions
from stoker.resources.heat.groups.group import GroupResource, read_by_member
from stoker.resources.heat.groups.keys import without_additional_members
from stoker.resources.heat.groups.scaling import (
    EXACT_BY_DEFINITION,
    Adjustment,
    begun,
    changed,
    cooling_down,
    ended,
    new_capacity,
)
from stoker.resources.heat.nested_stacks.nested import member_path, read_member
from stoker.schema.unknown import is_unknown

_UNDER_WAY = "scaling"
_CAPACITY = "capacity"
"""The key of `Call.data` for the size that the group's definition or a policy set last."""
_NAME_LENGTH = 12
_FAILED = "FAILED"


class UniformGroup(GroupResource):
    """A nested stack of members that are all created from one definition."""

    # -- for subclasses --------------------------------------------------------------------

    @abstractmethod
    async def member(self, call: Call) -> Mapping[str, object]:
        """Return the definition of new and updated members."""

    def possible_names(self, properties: Mapping[str, object]) -> list[str] | None:
        """Return the names that members can have, in order; None for random names."""
        return None

    def define(self, properties: Mapping[str, object], member: Mapping[str, object], name: str) -> Mapping[str, object]:
        """Return the definition of one member, which differs from that of all (`member`) in groups with given names."""
        return member

    @abstractmethod
    def size(self, properties: Mapping[str, object], current: int) -> int:
        """Return the size that the properties require of a group whose capacity is `current`."""

    @abstractmethod
    def rolling(self, call: Call) -> RollingUpdate | None:
        """Return the settings for updating members; None leaves existing members unchanged."""

    # -- actions ------------------------------------------------------------------------------------------------

    async def plan(self, call: Call) -> Iterable[Batch]:
        listed = self.possible_names(call.properties)
        members = [member for member in await serving(call) if _may_stay(member.name, listed)]
        size = self.size(call.properties, await capacity(call))
        resize = Batch(size, max(size - len(members), 0))
        rolling = self.rolling(call)
        if rolling is None:
            return [resize]
        define = partial(self.define, call.properties, await self.member(call))
        present = (await self.definitions(call)).items()
        changing = {name for name, entry in present if _may_stay(name, listed) and entry != define(name)}
        if not changing or not members:
            return [resize]
        unchanged = 0
        if listed is not None:
            unchanged = sum(member.name not in changing for member in members)
            rolling = without_additional_members(rolling, len(members))
        rolled = list(batches(len(members), len(members), rolling, every_change, unchanged))
        return rolled if rolled and rolled[-1].size == size else [*rolled, resize]

    async def members_after(self, call: Call, batch: Batch) -> dict[str, object]:
        listed = self.possible_names(call.properties)
        present = await self.definitions(call)
        define = partial(self.define, call.properties, await self.member(call))
        places = {name: -place for place, name in enumerate(listed or ())}

        def turn(member: Member) -> tuple[bool, bool, float, str]:
            """Sort key of removal: failed members first, then outdated ones, then the last listed or the oldest."""
            place = places.get(member.name, member.created_at)
            return member.status != _FAILED, present[member.name] == define(member.name), place, member.name

        there = [
            each for each in await call.engine.child.members() if each.name in present and _may_stay(each.name, listed)
        ]
        former = [(member.name, present[member.name]) for member in sorted(there, key=turn)]
        new_names = random_names() if listed is None else (name for name in listed if name not in dict(former))
        return member_definitions(former, batch, new_names, define)

    async def completed(self, call: Call) -> None:
        call.data[_CAPACITY] = len(await serving(call))

    async def adopt(self, call: Call) -> Outcome:
        """Adopt the members under their existing names."""
        define = partial(self.define, call.properties, await self.member(call))
        listed = self.possible_names(call.properties)
        members = {name: define(name) for name in call.resource.adopted["resources"] if _may_stay(name, listed)}
        return await call.engine.child.run("ADOPT", self.request(members))


class Limits(NamedTuple):
    """The sizes of a group: the minimum and maximum, the one that its properties require (None leaves it to policies).

    `cooldown` is the number of seconds after a change of size during which policies do nothing.
    """

    smallest: int
    largest: int
    desired: int | None
    cooldown: float


class AutoScalingResource(UniformGroup, ChildObserver, MessageReceiver):
    """A group whose size scaling policies change."""

    @abstractmethod
    def limits(self, properties: Mapping[str, object]) -> Limits:
        """Return how policies may change the size."""

    def size(self, properties: Mapping[str, object], current: int) -> int:
        limits = self.limits(properties)
        size = current if limits.desired is None else limits.desired
        return max(limits.smallest, min(limits.largest, size))

    async def completed(self, call: Call) -> None:
        await super().completed(call)
        call.data.pop(_UNDER_WAY, None)
        reason = f"{EXACT_BY_DEFINITION} : {len(await serving(call))}"
        call.metadata = changed(call.metadata, reason, self.limits(call.properties).cooldown, call.now)

    # -- scaling -------------------------------------------------------------------------------------------

    async def receive(self, call: Call, message: object) -> str:
        """Begin a change of size that a policy requests. Raises NoActionRequired when it must not happen now."""
        if not isinstance(message, Adjustment):
            raise NotSupported(f"{self.type_name} accepts only messages of scaling policies.")
        current = len(await serving(call))
        limits = self.limits(call.properties)
        size = new_capacity(current, message, limits.smallest, limits.largest)
        if size == current:
            raise NoActionRequired(
                f"{call.resource.name} has {current} members, and the adjustment does not change that ({message})"
            )
        cooldown = limits.cooldown if message.cooldown is None else message.cooldown
        if until := cooling_down(call.metadata, cooldown, call.now):
            raise NoActionRequired(f"{call.resource.name} is in its cooldown until {until}")
        request = self.request(await self.members_after(call, Batch(size, max(size - current, 0))))
        scaling = {"reason": str(message), "cooldown": cooldown, "type": message.type, "amount": message.amount}
        scaling["size"] = size
        call.report.announced.append(_notice(call, "start", scaling, current))
        try:
            await call.engine.child.begin("UPDATE", request, metadata=begun(call.metadata), data={_UNDER_WAY: scaling})
        except ActionInProgress as error:
            raise NoActionRequired(f"another operation of {call.resource.name} is in progress") from error
        return f"{call.resource.name} changes from {current} to {size} members ({message})"

    async def child_ended(self, call: Call, succeeded: bool) -> None:
        scaling = call.data.pop(_UNDER_WAY, None)
        if scaling is None or not succeeded:
            call.metadata = ended(call.metadata)
        else:
            call.data[_CAPACITY] = scaling.get("size", len(await serving(call)))
            call.metadata = changed(call.metadata, scaling["reason"], scaling["cooldown"], call.now)
        if scaling is not None:
            call.report.announced.append(
                _notice(call, "end" if succeeded else "error", scaling, len(await serving(call)))
            )


def size_problems(sizes: Mapping[str, Any]) -> Iterable[str]:
    """Yield contradictions between the minimum, maximum and desired size, given in this order by their properties.

    Some may be unknown, and the desired size may be None.
    """
    if any(is_unknown(size) for size in sizes.values()):
        return
    (first, smallest), (second, largest), (third, desired) = sizes.items()
    if largest < smallest:
        yield f"{second} ({largest}) is less than {first} ({smallest})"
    elif desired is not None and not smallest <= desired <= largest:
        yield f"{third} ({desired}) is not between {first} ({smallest}) and {second} ({largest})"


_MESSAGES = {
    "start": "Start resizing the group {}",
    "end": "End resizing the group {}",
    "error": "Resizing the group {} failed",
}


def _notice(call: Call, phase: str, scaling: Mapping[str, object], capacity: int) -> ScalingNotice:
    """Return the notification of a scaling operation; `capacity` is the group's size at that time."""
    return ScalingNotice(
        phase,
        {
            "adjustment": scaling["amount"],
            "adjustment_type": scaling["type"],
            "capacity": capacity,
            "groupname": call.physical_name,
            "message": _MESSAGES[phase].format(call.physical_name),
        },
    )


# -- members ----------------------------------------------------------------------------------------------------


def _may_stay(name: str, listed: Collection[str] | None) -> bool:
    return listed is None or name in listed


async def serving(call: Call) -> list[Member]:
    """Return the members that have not failed, in creation order."""
    return [member for member in await call.engine.child.members() if member.status != _FAILED]


async def capacity(call: Call) -> int:
    """Return the number of members that the group should have: the size that a policy has requested counts, and
    failed members are replaced.
    """
    recorded: int | None = call.data.get(_UNDER_WAY, {}).get("size", call.data.get(_CAPACITY))
    return len(await call.engine.child.members()) if recorded is None else recorded


def random_names() -> Iterator[str]:
    """Yield new random names, without end."""
    while True:
        yield b32encode(os.urandom(8))[:_NAME_LENGTH].decode().lower()


async def read_uniform(call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
    """Return attributes of a group whose members are addressed by name or index."""
    members = await serving(call)
    return {key: await _read(call, members, key) for key in keys}


async def _read(call: Call, members: list[Member], key: AttributeKey) -> Any:
    name, path = key[0], key[1:]
    if (one := member_path(key)) is not None:
        which, rest = one
        named = next((member.name for member in members if member.name == which), None)
        if named is None and which.isdecimal() and int(which) < len(members):
            named = members[int(which)].name
        return None if named is None else await read_member(call, named, rest)
    if name in ("outputs", "outputs_list"):
        values = await read_by_member(call, [member.name for member in members], path) if path else None
        return list(values.values()) if values is not None and name == "outputs_list" else values
    shown = {
        "current_size": len(members),
        "refs": [member.reference_id for member in members],
        "refs_map": {member.name: member.reference_id for member in members},
    }
    return value_at(shown.get(str(name)), path)
