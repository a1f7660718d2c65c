"""OS::Heat::ResourceGroup

Its members are named by an index, or by the keys of `for_each`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import count as counting
from itertools import islice
from typing import Any

from stoker.base import budget
from stoker.plugins.outcome import Outcome
from stoker.plugins.resource import AttributeKey, Call, ChildRequest, Member
from stoker.resources.base import value_at
from stoker.resources.declare import between, length, one_of
from stoker.resources.heat.groups import keys
from stoker.resources.heat.groups.batching import Batch, batches, lasting_changes, member_definitions
from stoker.resources.heat.groups.group import (
    BATCH_SIZE,
    HOT,
    IN_SERVICE,
    PAUSE,
    GroupResource,
    read_group,
    rolling_of,
)
from stoker.resources.heat.nested_stacks.nested import unknowns_as_parameters
from stoker.schema.property import Attribute, Change, Finalizer, Property, Support, Type
from stoker.schema.unknown import is_unknown

_SKIPPED = "name_blacklist"
_SINCE_5 = Support(version="5.0.0")


class ResourceGroup(GroupResource):
    """A group of members created from one definition."""

    type_name = "OS::Heat::ResourceGroup"
    any_attribute = True
    description = "A group of resources created from one definition."
    support = Support(version="2014.1")

    properties = {
        "count": Property(Type.INTEGER, "Number of members.", default=1, constraints=between(0), change=Change.UPDATE),
        "index_var": Property(
            description="The string that is replaced by the member's name (its index) in the definition's properties.",
            default="%index%",
            constraints=length(3),
            support=Support(version="2014.2"),
        ),
        **keys.for_each("One member for each, in place of count.", excludes="count"),
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
            "Members to remove, whose names are not used again.",
            default=[],
            items=Property(
                Type.MAP,
                schema={
                    "resource_list": Property(Type.LIST, "Members, by name or reference ID.", default=[]),
                },
            ),
            change=Change.UPDATE,
            support=Support(version="2015.1"),
        ),
        "removal_policies_mode": Property(
            description="Whether removal policies add to those of earlier updates (append) or replace them (update).",
            default="append",
            constraints=one_of("append", "update"),
            change=Change.UPDATE,
            support=Support(version="10.0.0"),
        ),
    }
    attributes = {
        "refs": Attribute("Reference IDs of the members.", Type.LIST),
        "refs_map": Attribute("Map from member name to reference ID.", Type.MAP, support=Support(version="7.0.0")),
        "attributes": Attribute(
            "Map from member name to the attribute that the path names.",
            Type.MAP,
            support=Support(version="2014.2"),
            needs_path=True,
        ),
        "removed_rsrc_list": Attribute("Names that are not used again.", Type.LIST, support=Support(version="7.0.0")),
    }
    update_policy = {
        "batch_create": Property(
            Type.MAP,
            "Create the members in batches.",
            schema={"max_batch_size": BATCH_SIZE, "pause_time": PAUSE},
            support=_SINCE_5,
        ),
        "rolling_update": Property(
            Type.MAP,
            "Update the members to a new definition in batches.",
            schema={
                "max_batch_size": BATCH_SIZE,
                "min_in_service": IN_SERVICE,
                "pause_time": PAUSE,
            },
            support=_SINCE_5,
        ),
    }

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        given = properties["for_each"]
        if given is None or keys.are_unknown(properties):
            return
        yield from (found := list(keys.problems(given)))
        if not found and _is_known(properties):
            yield from keys.definition_problems(member_definition(properties, name) for name in keys.keys_of(given))

    # -- the nested template ----------------------------------------------------------------------------------

    def child_of(self, properties: Mapping[str, object]) -> ChildRequest | None:
        if properties["for_each"] is None and is_unknown(properties["count"]):
            return self.sample_of(properties)
        if keys.are_unknown(properties):
            return None
        return _sketch(properties, member_names(properties, {str(entry) for entry in _to_remove(properties)}))

    def sample_of(self, properties: Mapping[str, Any]) -> ChildRequest | None:
        if properties["for_each"] is not None:  # members have values of their own
            return None if keys.are_unknown(properties) else _sketch(properties, keys.keys_of(properties["for_each"]))
        return None if properties["count"] == 0 else _sketch(properties, ["0"])

    # -- actions ----------------------------------------------------------------------------------------------

    async def plan(self, call: Call) -> Iterable[Batch]:
        """Plan removals and batches now: a removal policy may name a member by an ID that a later batch removes."""
        if call.action == "CREATE":
            _skip(call, {str(entry) for entry in _to_remove(call.properties)})
            count = len(member_names(call.properties, _skipped(call)))
            policy = self._policy(call, "batch_create") if count else None
            # The empty stack comes first, so that every batch of members is an update of the same stack.
            planned = batches(count, 0, rolling_of(policy), lasting_changes) if policy else ()
            return [Batch(0, 0), *planned] if policy else [Batch(count, count)]
        _skip(call, removed_names(call.properties, await call.engine.child.members(), _skipped(call)))
        names, skipped = member_names(call.properties, _skipped(call)), _skipped(call)
        former = await self.definitions(call)
        present = {name: former[name] for name in former if may_have(call.properties, skipped, name)}
        whole = Batch(len(names), max(len(names), len(present)))
        policy = self._policy(call, "rolling_update")
        if policy is None:
            return [whole]
        changing = [name for name, entry in present.items() if entry != member_definition(call.properties, name)]
        if not changing:
            return [whole]
        rolling, unchanged = rolling_of(policy), 0
        if call.properties["for_each"] is not None:
            rolling, unchanged = keys.without_additional_members(rolling, len(names)), len(present) - len(changing)
        return batches(len(names), len(present), rolling, lasting_changes, unchanged)

    async def members_after(self, call: Call, batch: Batch) -> dict[str, object]:
        budget.members(batch.size)
        possible = possible_names(call.properties, _skipped(call), batch.size)
        count = len(member_names(call.properties, _skipped(call)))
        present = await self.definitions(call)
        former = [(name, present[name]) for name in sorted(present.keys() & possible, key=_by_turn(possible, count))]
        new_names = (name for name in possible if name not in present)
        return member_definitions(former, batch, new_names, partial(member_definition, call.properties))

    async def adopt(self, call: Call) -> Outcome:
        """Adopt the members; names that removal policies excluded stay excluded."""
        names = member_names(call.properties, _skipped(call))
        return await call.engine.child.run(
            "ADOPT", self.request({name: member_definition(call.properties, name) for name in names})
        )

    def _policy(self, call: Call, name: str) -> Mapping[str, object] | None:
        policy: Mapping[str, object] | None = Finalizer().properties(self.update_policy, call.resource.update_policy)[
            name
        ]
        return policy

    # -- reading --------------------------------------------------------------------------------------------

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        found = await read_group(call, await _members(call), keys)
        for key in keys:
            if key[0] == "removed_rsrc_list":
                found[key] = value_at(sorted(_skipped(call)), key[1:])
        return found


# -- names ----------------------------------------------------------------------------------------------------


def names(skipped: Collection[str]) -> Iterator[str]:
    """Yield indexes as member names in order, without end."""
    return (name for name in map(str, counting()) if name not in skipped)


def member_names(properties: Mapping[str, Any], skipped: Collection[str]) -> list[str]:
    """Return the names of all members that the group should have, in order."""
    if properties["for_each"] is None:
        budget.members(properties["count"])
    return possible_names(properties, skipped, properties["count"])


def possible_names(properties: Mapping[str, Any], skipped: Collection[str], size: int) -> list[str]:
    """Return the names among which are those of `size` members during an update, in order."""
    if properties["for_each"] is None:
        return list(islice(names(skipped), size))
    return [name for name in keys.keys_of(properties["for_each"]) if name not in skipped]


def may_have(properties: Mapping[str, Any], skipped: Collection[str], name: str) -> bool:
    """Return whether the group can have a member of this name."""
    return name not in skipped and (properties["for_each"] is None or name in properties["for_each"])


def removed_names(properties: Mapping[str, object], members: list[Member], skipped: Collection[str]) -> set[str]:
    """Return the names that are excluded after an update; `skipped` are those excluded before."""
    known = {member.name for member in members} | set(skipped)
    by_reference = {member.reference_id: member.name for member in members if isinstance(member.reference_id, str)}
    found = set(skipped) if properties["removal_policies_mode"] == "append" else set()
    for entry in _to_remove(properties):
        if str(entry) in known:
            found.add(str(entry))
        elif isinstance(entry, str) and entry in by_reference:
            found.add(by_reference[entry])
    return found


def _to_remove(properties: Mapping[str, Any]) -> list[object]:
    """Return the members that policies name, as far as they are known."""
    policies = [] if is_unknown(properties["removal_policies"]) else properties["removal_policies"] or []
    lists = [policy["resource_list"] for policy in policies if not is_unknown(policy)]
    return [entry for entries in lists if not is_unknown(entries) for entry in entries or []]


def _skipped(call: Call) -> set[str]:
    return set(filter(None, call.data.get(_SKIPPED, "").split(",")))


def _skip(call: Call, skipped: Collection[str]) -> None:
    call.data[_SKIPPED] = ",".join(sorted(skipped))


# -- definitions ----------------------------------------------------------------------------------------------


def member_definition(properties: Mapping[str, Any], name: str) -> dict[str, object]:
    """Return one member's entry in the nested template, with its name and value filled in.

    Raises BadValue for a part of its value that does not exist.
    """
    declared = properties["resource_def"]
    budget.charge_copy(declared)
    given = {key: value for key, value in (declared["properties"] or {}).items() if value is not None}
    definition: dict[str, Any] = {
        "type": declared["type"],
        "properties": with_index(given, properties["index_var"], name),
    }
    if declared["metadata"]:
        definition["metadata"] = declared["metadata"]
    return definition if properties["for_each"] is None else keys.filled_in(definition, properties, name)


def with_index(value: object, variable: str, name: str) -> object:
    """Return `value` with the variable replaced in every string except the keys of maps."""
    if isinstance(value, str):
        return value.replace(variable, name)
    if isinstance(value, Mapping):
        return {key: with_index(inner, variable, name) for key, inner in value.items()}
    if isinstance(value, list):
        return [with_index(inner, variable, name) for inner in value]
    return value


def _is_known(properties: Mapping[str, Any]) -> bool:
    """Return whether it is known what kind of members the group has."""
    definition = properties["resource_def"]
    return not (is_unknown(definition) or is_unknown(definition["type"]) or is_unknown(properties["index_var"]))


def _sketch(properties: Mapping[str, object], names: Collection[str]) -> ChildRequest | None:
    if not _is_known(properties):
        return None
    return unknowns_as_parameters(HOT.template({name: member_definition(properties, name) for name in names}))


def _by_turn(names: list[str], target: int) -> Callable[[str], int]:
    """Return the sort key of a member's turn to change: highest index first, members beyond the target last."""
    turns = {name: target - index if index < target else len(names) for index, name in enumerate(names)}
    return turns.__getitem__


async def _members(call: Call) -> dict[str, Member]:
    """Return the group's members in the order of their names."""
    existing = {member.name: member for member in await call.engine.child.members()}
    if call.properties["for_each"] is None:
        highest = max((int(name) for name in existing if name.isdecimal()), default=-1)
        names = possible_names(call.properties, _skipped(call), min(call.properties["count"], highest + 1))
    else:
        names = member_names(call.properties, _skipped(call))
    return {name: existing[name] for name in names if name in existing}
