"""OS::Heat::AutoScalingGroup"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from stoker.base import budget
from stoker.plugins.resource import AttributeKey, Call, ChildRequest
from stoker.resources.declare import between
from stoker.resources.heat.groups import keys
from stoker.resources.heat.groups.batching import RollingUpdate
from stoker.resources.heat.groups.group import BATCH_SIZE, HOT, IN_SERVICE, PAUSE, rolling_of
from stoker.resources.heat.groups.uniform_group import AutoScalingResource, Limits, read_uniform, size_problems
from stoker.resources.heat.nested_stacks.nested import unknowns_as_parameters
from stoker.schema.property import Attribute, Change, Property, Support, Type
from stoker.schema.unknown import is_unknown

_SINCE_7 = Support(version="7.0.0")
_SINCE_2014_2 = Support(version="2014.2")


class AutoScalingGroup(AutoScalingResource):
    """A group of resources created from one definition, whose size scaling policies change."""

    type_name = "OS::Heat::AutoScalingGroup"
    description = "A group of identical resources, whose size scaling policies change."
    support = Support(version="2014.1")
    missing_attribute_is_null = True

    properties = {
        "resource": Property(
            Type.MAP,
            "The definition of a member, in HOT: type, properties, metadata, update_policy …",
            required=True,
            change=Change.UPDATE,
        ),
        **keys.for_each("The names that members can have: new ones get the first that are free."),
        "max_size": Property(
            Type.INTEGER, "Maximum number of members.", required=True, constraints=between(0), change=Change.UPDATE
        ),
        "min_size": Property(
            Type.INTEGER, "Minimum number of members.", required=True, constraints=between(0), change=Change.UPDATE
        ),
        "cooldown": Property(
            Type.INTEGER,
            "Seconds after a change of size during which scaling policies do nothing.",
            change=Change.UPDATE,
        ),
        "desired_capacity": Property(
            Type.INTEGER, "Initial number of members, until a scaling policy changes it.", change=Change.UPDATE
        ),
        "rolling_updates": Property(
            Type.MAP,
            "How members are updated to a new definition.",
            default={"max_batch_size": 1, "min_in_service": 0, "pause_time": 0},
            schema={"min_in_service": IN_SERVICE, "max_batch_size": BATCH_SIZE, "pause_time": PAUSE},
            change=Change.UPDATE,
        ),
    }
    attributes = {
        "outputs": Attribute(
            "Map from member name to the attribute that the path names.",
            Type.MAP,
            support=_SINCE_2014_2,
            needs_path=True,
        ),
        "outputs_list": Attribute(
            "The attribute that the path names for each member, in order of creation.",
            Type.LIST,
            support=_SINCE_2014_2,
            needs_path=True,
        ),
        "current_size": Attribute("Number of members.", Type.INTEGER, support=Support(version="2015.1")),
        "refs": Attribute("Reference IDs of the members.", Type.LIST, support=_SINCE_7),
        "refs_map": Attribute("Map from member name to reference ID.", Type.MAP, support=_SINCE_7),
    }

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        sizes = {name: properties[name] for name in ("min_size", "max_size", "desired_capacity")}
        yield from size_problems({**sizes, "desired_capacity": sizes["desired_capacity"] or None})
        member = properties["resource"]
        if isinstance(member, Mapping) and "type" not in member:
            yield "resource: the definition of a member must have a type"
        given = properties["for_each"]
        if given is None or keys.are_unknown(properties):
            return
        yield from (found := list(keys.problems(given)))
        if found:
            return
        for name in ("min_size", "desired_capacity"):
            size = properties[name]
            if not is_unknown(size) and size is not None and size > len(given):
                yield f"{name} ({size}) is more than the number of names in for_each ({len(given)})"
        if not is_unknown(member):
            yield from keys.definition_problems(self.define(properties, member, name) for name in keys.keys_of(given))

    def child_of(self, properties: Mapping[str, Any]) -> ChildRequest | None:
        smallest, desired = properties["min_size"], properties["desired_capacity"] or None
        size = smallest if desired is None else desired
        return self.sample_of(properties) if is_unknown(size) else self._sketch(properties, size)

    def sample_of(self, properties: Mapping[str, Any]) -> ChildRequest | None:
        listed = properties["for_each"]
        return self._sketch(properties, 1 if listed is None or keys.are_unknown(properties) else len(listed))

    def _sketch(self, properties: Mapping[str, Any], size: int) -> ChildRequest | None:
        """Return the nested stack for validation, with numbers in place of the members' random names."""
        if is_unknown(properties["resource"]) or is_unknown(properties["resource"].get("type")):
            return None
        if keys.are_unknown(properties):
            return None
        budget.members(size)
        member = _member(properties)
        budget.charge_copy(member, size)
        listed = self.possible_names(properties)
        names = map(str, range(size)) if listed is None else listed[:size]
        return unknowns_as_parameters(HOT.template({name: self.define(properties, member, name) for name in names}))

    # -- the group's settings --------------------------------------------------------------------------------

    def limits(self, properties: Mapping[str, Any]) -> Limits:
        largest, listed = properties["max_size"], self.possible_names(properties)
        return Limits(
            properties["min_size"],
            largest if listed is None else min(largest, len(listed)),
            properties["desired_capacity"] or None,
            float(properties["cooldown"] or 0),
        )

    def possible_names(self, properties: Mapping[str, Any]) -> list[str] | None:
        return None if properties["for_each"] is None else keys.keys_of(properties["for_each"])

    def define(self, properties: Mapping[str, object], member: Mapping[str, object], name: str) -> Mapping[str, object]:
        return member if properties["for_each"] is None else keys.filled_in(member, properties, name)

    def rolling(self, call: Call) -> RollingUpdate | None:
        return rolling_of(call.properties["rolling_updates"])

    async def member(self, call: Call) -> Mapping[str, object]:
        return _member(call.properties)

    # -- reading ------------------------------------------------------------------------------------------------

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        return await read_uniform(call, keys)


def _member(properties: Mapping[str, Any]) -> dict[str, object]:
    """Return the definition of every member, without properties that are null."""
    definition = dict(properties["resource"])
    if isinstance(definition.get("properties"), Mapping):
        definition["properties"] = {
            name: value for name, value in definition["properties"].items() if value is not None
        }
    return definition
