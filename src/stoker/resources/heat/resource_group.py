"""OS::Heat::ResourceGroup"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from itertools import count as counting
from itertools import islice
from typing import Any

from stoker.plugins.outcome import Again, Done, Failed, Outcome
from stoker.plugins.resource import AttributeKey, Call, ChildRequest, Member
from stoker.resources.base import dig
from stoker.resources.declare import between, length, one_of
from stoker.resources.heat.group import Batch, batches, group_template, lasting_changes, member_definitions
from stoker.resources.heat.nested import NestedStackResource, member_path, read_members, unknowns_as_parameters
from stoker.resources.heat.pause import seconds_left
from stoker.schema.property import Attribute, Change, Finalizer, Property, Support, Type
from stoker.schema.unknown import is_unknown

_SKIPPED = "name_blacklist"
_SINCE_5 = Support(version="5.0.0")
_BATCH_SIZE = Property(Type.INTEGER, "How many members change at a time.", default=1, constraints=between(1))
_PAUSE = Property(Type.NUMBER, "Seconds between batches.", default=0, constraints=between(0))


class ResourceGroup(NestedStackResource):
    """A number of members made from one definition, named by their index."""

    type_name = "OS::Heat::ResourceGroup"
    any_attribute = True
    description = "A number of resources made from one definition."
    support = Support(version="2014.1")

    properties = {
        "count": Property(
            Type.INTEGER, "How many members there are.", default=1, constraints=between(0), change=Change.UPDATE
        ),
        "index_var": Property(
            description="The text that stands for the member's index in the definition's properties.",
            default="%index%",
            constraints=length(3),
            support=Support(version="2014.2"),
        ),
        "resource_def": Property(
            Type.MAP,
            "The definition of a member.",
            required=True,
            change=Change.UPDATE,
            schema={
                "type": Property(description="The type of the members.", required=True),
                "properties": Property(Type.MAP, "Their properties."),
                "metadata": Property(Type.MAP, "Their metadata.", support=_SINCE_5),
            },
        ),
        "removal_policies": Property(
            Type.LIST,
            "Members that shall go, and whose names shall not be used again.",
            default=[],
            items=Property(
                Type.MAP,
                schema={
                    "resource_list": Property(Type.LIST, "Members by their names or their reference ids.", default=[]),
                },
            ),
            change=Change.UPDATE,
            support=Support(version="2015.1"),
        ),
        "removal_policies_mode": Property(
            description="Whether removal policies add to those of earlier updates or take their place.",
            default="append",
            constraints=one_of("append", "update"),
            change=Change.UPDATE,
            support=Support(version="10.0.0"),
        ),
    }
    attributes = {
        "refs": Attribute("Reference ids of the members.", Type.LIST),
        "refs_map": Attribute("Reference ids of the members, by name.", Type.MAP, support=Support(version="7.0.0")),
        "attributes": Attribute(
            "The attribute that the path names, by member.", Type.MAP, support=Support(version="2014.2")
        ),
        "removed_rsrc_list": Attribute("Names that are not used again.", Type.LIST, support=Support(version="7.0.0")),
    }
    update_policy = {
        "batch_create": Property(
            Type.MAP,
            "Create the members in batches.",
            schema={"max_batch_size": _BATCH_SIZE, "pause_time": _PAUSE},
            support=_SINCE_5,
        ),
        "rolling_update": Property(
            Type.MAP,
            "Give the members a new definition in batches.",
            schema={
                "max_batch_size": _BATCH_SIZE,
                "min_in_service": Property(
                    Type.INTEGER, "How many members stay untouched at any time.", default=0, constraints=between(0)
                ),
                "pause_time": _PAUSE,
            },
            support=_SINCE_5,
        ),
    }

    # -- the nested template ----------------------------------------------------------------------------------

    def child_of(self, properties: Mapping[str, Any]) -> ChildRequest | None:
        if is_unknown(properties["count"]):
            return self.sample_of(properties)
        skipped = {str(entry) for entry in _to_remove(properties)}
        return _sketch(properties, islice(names(skipped), properties["count"]))

    def sample_of(self, properties: Mapping[str, Any]) -> ChildRequest | None:
        return None if properties["count"] == 0 else _sketch(properties, ["0"])

    # -- actions ----------------------------------------------------------------------------------------------

    async def create(self, call: Call) -> Outcome:
        _skip(call, {str(entry) for entry in _to_remove(call.properties)})
        policy = self._policy(call, "batch_create")
        if policy is None or call.properties["count"] == 0:
            return await call.child.run("CREATE", _whole(call))
        if not call.progress.get("began"):
            outcome = await call.child.run("CREATE", ChildRequest(group_template({})))
            if not isinstance(outcome, Done):
                return outcome
            call.progress["began"] = True
            _plan(call, batches(call.properties["count"], 0, policy["max_batch_size"], 0, lasting_changes))
            return Again(after=0.0)
        return await _roll(call, policy["pause_time"])

    async def update(self, call: Call) -> Outcome:
        policy = self._policy(call, "rolling_update") if "resource_def" in call.changed else None
        if "batches" not in call.progress:
            return await self._prepare(call, policy)
        if not call.progress["batches"]:
            return await call.child.run("UPDATE", _whole(call))
        return await _roll(call, policy["pause_time"] if policy else 0.0)

    async def _prepare(self, call: Call, policy: Mapping[str, Any] | None) -> Outcome:
        """Settle who goes and in which batches, once: later, members that name themselves by their id may be gone."""
        members = await call.child.members()
        _skip(call, removed_names(call.properties, members, _skipped(call)))
        planned: Iterator[Batch] = iter(())
        if policy is not None:
            current = sum(member.name not in _skipped(call) for member in members)
            in_service = policy["min_in_service"]
            target = call.properties["count"]
            planned = batches(target, current, policy["max_batch_size"], in_service, lasting_changes)
        _plan(call, planned)
        pauses = (len(call.progress["batches"]) - 1) * (policy["pause_time"] if policy else 0)
        if call.stack.deadline is not None and call.now + pauses >= call.stack.deadline:
            return Failed(f"pausing {pauses} seconds between batches takes longer than the stack may", "ValueError")
        return Again(after=0.0)

    def _policy(self, call: Call, name: str) -> Mapping[str, Any] | None:
        policy: Mapping[str, Any] | None = Finalizer().properties(self.update_policy, call.update_policy)[name]
        return policy

    # -- looking ----------------------------------------------------------------------------------------------

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, Any]:
        found = await read_members(call, keys)
        members = await _members(call)
        for key in keys:
            if member_path(key) is None:
                found[key] = await self._attribute(call, members, key)
        return found

    async def _attribute(self, call: Call, members: Mapping[str, Member], key: AttributeKey) -> Any:
        name, path = key[0], key[1:]
        if name == "refs":
            return dig([member.reference_id for member in members.values()], path)
        if name == "refs_map":
            return dig({member.name: member.reference_id for member in members.values()}, path)
        if name == "removed_rsrc_list":
            return dig(sorted(_skipped(call)), path)
        if name == "attributes":
            return {member: await call.child.member_attribute(member, path) for member in members} if path else None
        if name == "show":
            return None
        return [await call.child.member_attribute(member, key) for member in members]


# -- names ----------------------------------------------------------------------------------------------------


def names(skipped: Collection[str]) -> Iterator[str]:
    """Member names in order, without end."""
    return (name for name in map(str, counting()) if name not in skipped)


def removed_names(properties: Mapping[str, Any], members: list[Member], skipped: Collection[str]) -> set[str]:
    """Names that must not be used after an update, `skipped` being those from before (facts: removal_policies)."""
    known = {member.name for member in members} | set(skipped)
    by_reference = {member.reference_id: member.name for member in members if isinstance(member.reference_id, str)}
    found = set(skipped) if properties["removal_policies_mode"] == "append" else set()
    for entry in _to_remove(properties):
        if str(entry) in known:
            found.add(str(entry))
        elif isinstance(entry, str) and entry in by_reference:
            found.add(by_reference[entry])
    return found


def _to_remove(properties: Mapping[str, Any]) -> list[Any]:
    return [entry for policy in properties["removal_policies"] or [] for entry in policy["resource_list"] or []]


def _skipped(call: Call) -> set[str]:
    return set(filter(None, call.data.get(_SKIPPED, "").split(",")))


def _skip(call: Call, skipped: Collection[str]) -> None:
    call.data[_SKIPPED] = ",".join(sorted(skipped))


# -- definitions ----------------------------------------------------------------------------------------------


def member_definition(properties: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The entry of one member in the nested template, its index put in."""
    wanted = properties["resource_def"]
    given = {key: value for key, value in (wanted["properties"] or {}).items() if value is not None}
    definition = {"type": wanted["type"], "properties": with_index(given, properties["index_var"], name)}
    return {**definition, "metadata": wanted["metadata"]} if wanted["metadata"] else definition


def with_index(value: Any, variable: str, name: str) -> Any:
    """`value` with the variable replaced in every text but the keys of maps."""
    if isinstance(value, str):
        return value.replace(variable, name)
    if isinstance(value, Mapping):
        return {key: with_index(inner, variable, name) for key, inner in value.items()}
    if isinstance(value, list):
        return [with_index(inner, variable, name) for inner in value]
    return value


def _sketch(properties: Mapping[str, Any], wanted: Collection[str] | Iterator[str]) -> ChildRequest | None:
    if is_unknown(properties["resource_def"]) or is_unknown(properties["resource_def"]["type"]):
        return None
    template = group_template({name: member_definition(properties, name) for name in wanted})
    return unknowns_as_parameters(template)


def _whole(call: Call) -> ChildRequest:
    """All members at once, all with the new definition."""
    wanted = islice(names(_skipped(call)), call.properties["count"])
    return ChildRequest(group_template({name: member_definition(call.properties, name) for name in wanted}))


# -- batches --------------------------------------------------------------------------------------------------


def _plan(call: Call, planned: Iterator[Batch]) -> None:
    call.progress["batches"] = [list(batch) for batch in planned]
    call.progress["finished"] = 0


async def _roll(call: Call, pause: float) -> Outcome:
    """Go on with the planned batches. The first request of an action is round 0, so they count from 1."""
    finished, planned = call.progress["finished"], call.progress["batches"]
    if finished and (left := seconds_left(call, pause, call.progress["paused_at"])):
        return Again(after=left)
    outcome = await call.child.run("UPDATE", await _part(call, Batch(*planned[finished]), finished + 1))
    if not isinstance(outcome, Done) or finished + 1 == len(planned):
        return outcome
    call.progress["finished"] = finished + 1
    call.progress["paused_at"] = call.now
    return Again(after=pause)


async def _part(call: Call, batch: Batch, round_: int) -> ChildRequest:
    """The nested stack after a batch."""
    skipped = _skipped(call)
    wanted = list(islice(names(skipped), batch.size))
    template = await call.child.template() or {}
    alive = {member.name for member in await call.child.members()} - skipped
    former = [(name, entry) for name, entry in (template.get("resources") or {}).items() if name in alive]
    former.sort(key=lambda item: _turn(item[0], wanted, call.properties["count"]))
    new_names = (name for name in wanted if name not in alive)
    define = partial(member_definition, call.properties)
    return ChildRequest(group_template(member_definitions(former, batch, new_names, define)), round=round_)


def _turn(name: str, wanted: list[str], target: int) -> int:
    """When a member's turn comes: those not wanted first, then the highest index, those beyond the target last."""
    if name not in wanted:
        return 0
    index = wanted.index(name)
    return target - index if index < target else len(wanted)


async def _members(call: Call) -> dict[str, Member]:
    """The group's members in the order of their names."""
    existing = {member.name: member for member in await call.child.members()}
    wanted = islice(names(_skipped(call)), call.properties["count"])
    return {name: existing[name] for name in wanted if name in existing}
