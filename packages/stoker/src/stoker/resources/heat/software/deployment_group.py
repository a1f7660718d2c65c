"""OS::Heat::SoftwareDeploymentGroup and related types: one deployment for each of several servers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from stoker.plugins.outcome import Done, InProgress, Outcome
from stoker.plugins.resource import AttributeKey, Call, ChildRequest
from stoker.resources.base import value_at
from stoker.resources.declare import between
from stoker.resources.heat.nested_stacks.nested import (
    NestedStackResource,
    member_path,
    read_members,
    unknowns_as_parameters,
)
from stoker.resources.heat.pause import seconds_left
from stoker.resources.heat.software.software_deployment import (
    COMMON_PROPERTIES,
    COMPLETE,
    STRUCTURED_PROPERTIES,
    with_default_transport,
)
from stoker.schema.property import Attribute, Change, Finalizer, Property, Support, Type
from stoker.schema.unknown import is_unknown

_STANDARD = {
    "deploy_stdouts": "deploy_stdout",
    "deploy_stderrs": "deploy_stderr",
    "deploy_status_codes": "deploy_status_code",
}
_BATCHES = Property(
    Type.MAP,
    "Apply the configuration in batches of servers.",
    schema={
        "max_batch_size": Property(Type.INTEGER, "Number of servers per batch.", default=1, constraints=between(1)),
        "pause_time": Property(Type.NUMBER, "Seconds between batches.", default=0, constraints=between(0)),
    },
    support=Support(version="7.0.0"),
)


def _template(members: Mapping[str, object]) -> dict[str, Any]:
    """Return the nested template that contains the members."""
    return {"heat_template_version": "2015-04-30", "resources": dict(members)}


async def _definitions(call: Call) -> Mapping[str, object]:
    """Return the members that the nested template contains now."""
    return (await call.engine.child.template() or {}).get("resources") or {}


class SoftwareDeploymentGroup(NestedStackResource):
    """A deployment for each of several servers. Its members have the names that the map of servers gives."""

    type_name = "OS::Heat::SoftwareDeploymentGroup"
    description = "Applies a software configuration to several servers."
    support = Support(version="5.0.0")
    any_attribute = True
    member_type: ClassVar[str] = "OS::Heat::SoftwareDeployment"

    properties = {
        "servers": Property(Type.MAP, "Map from a name to the ID of a server.", required=True, change=Change.UPDATE),
        **COMMON_PROPERTIES,
    }
    attributes = {
        "deploy_stdouts": Attribute("Map from the server's name to standard output.", Type.MAP),
        "deploy_stderrs": Attribute("Map from the server's name to standard error.", Type.MAP),
        "deploy_status_codes": Attribute("Map from the server's name to the exit code.", Type.MAP),
    }
    update_policy = {"batch_create": _BATCHES, "rolling_update": _BATCHES}

    def configure(self, options: Mapping[str, object]) -> None:
        self.properties = with_default_transport(type(self).properties, options)

    # -- the nested template ----------------------------------------------------------------------------------

    def child_of(self, properties: Mapping[str, Any]) -> ChildRequest | None:
        servers = properties["servers"]
        if is_unknown(servers):
            return None
        return unknowns_as_parameters(_template({name: self._member(properties, name) for name in servers}))

    def sample_of(self, properties: Mapping[str, Any]) -> ChildRequest | None:
        servers = properties["servers"]
        if is_unknown(servers) or not servers:
            return None
        name = next(iter(servers))
        return unknowns_as_parameters(_template({name: self._member(properties, name)}))

    def _member(self, properties: Mapping[str, Any], name: str) -> dict[str, object]:
        shared = {key: value for key, value in properties.items() if key != "servers" and value is not None}
        return {"type": self.member_type, "properties": {**shared, "server": properties["servers"][name]}}

    # -- actions ----------------------------------------------------------------------------------------------

    async def create(self, call: Call) -> Outcome:
        return await self._in_batches(call, "CREATE", "batch_create")

    async def update(self, call: Call) -> Outcome:
        return await self._in_batches(call, "UPDATE", "rolling_update")

    async def _in_batches(self, call: Call, action: str, policy_name: str) -> Outcome:
        """Update the members to the new definition in batches; without a policy, all at once."""
        policy = Finalizer().properties(self.update_policy, call.resource.update_policy)[policy_name]
        finished: int = call.progress.get("finished", 0)
        if finished and (left := seconds_left(call, policy["pause_time"], "pauses_from")):
            return InProgress(after=left)
        if "order" not in call.progress:
            call.progress["order"], call.progress["failed"] = await self._order(call)
        order: list[str] = call.progress["order"]
        size = policy["max_batch_size"] if policy else max(len(order), 1)
        reached = set(order[: max(size, call.progress["failed"]) + finished * size])
        request = await self._part(call, reached, finished)
        outcome = await call.engine.child.run(action if not finished else "UPDATE", request)
        if not isinstance(outcome, Done) or len(reached) == len(order):
            return outcome
        call.progress["finished"], call.progress["pauses_from"] = finished + 1, call.elapsed
        return InProgress(after=policy["pause_time"])

    async def _order(self, call: Call) -> tuple[list[str], int]:
        """Return the servers in the order in which they get the new definition, and how many of them have failed.

        Members whose last action did not succeed come first, and all of them belong to the first batch: every update of
        the nested stack deploys to them again, and with the former definition they would fail before their turn.
        """
        succeeded = {
            one.name for one in await call.engine.child.members() if one.status == COMPLETE and one.action != "INIT"
        }
        failed = (await _definitions(call)).keys() - succeeded
        order = sorted(call.properties["servers"], key=lambda name: name not in failed)
        return order, len(failed.intersection(order))

    async def _part(self, call: Call, reached: Collection[str], round_: int) -> ChildRequest:
        """Return the nested stack in which the `reached` servers have the new definition, the others the former one."""
        former = await _definitions(call)
        members = {
            name: self._member(call.properties, name) if name in reached else former[name]
            for name in call.properties["servers"]
            if name in reached or name in former
        }
        return ChildRequest(_template(members), round=round_)

    # -- reading --------------------------------------------------------------------------------------------

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        found = await read_members(call, keys)
        names = [member.name for member in await call.engine.child.members()]
        for key in keys:
            if member_path(key) is None:
                attribute = _STANDARD.get(str(key[0]), str(key[0]))
                values = {name: await call.engine.child.member_attribute(name, (attribute,)) for name in names}
                found[key] = value_at(values, key[1:])
        return found


class StructuredDeploymentGroup(SoftwareDeploymentGroup):
    """A structured deployment for each of several servers."""

    type_name = "OS::Heat::StructuredDeploymentGroup"
    description = "Applies a structured configuration to several servers."
    member_type = "OS::Heat::StructuredDeployment"
    properties = {**SoftwareDeploymentGroup.properties, **STRUCTURED_PROPERTIES}


def _superseded_by(type_name: str) -> Support:
    return Support("HIDDEN", "7.0.0", previous=Support("DEPRECATED", "2014.2"), substitutes=(type_name,))


class SoftwareDeployments(SoftwareDeploymentGroup):
    """The older name of a group of deployments."""

    type_name = "OS::Heat::SoftwareDeployments"
    support = _superseded_by(SoftwareDeploymentGroup.type_name)


class StructuredDeployments(StructuredDeploymentGroup):
    """The older name of a group of structured deployments."""

    type_name = "OS::Heat::StructuredDeployments"
    support = _superseded_by(StructuredDeploymentGroup.type_name)
