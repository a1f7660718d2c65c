"""OS::Heat::InstanceGroup and AWS::AutoScaling::AutoScalingGroup: groups of instances.

Their members are OS::Heat::ScaledResource, which is AWS::EC2::Instance unless the environment maps it to another type.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any, ClassVar

from stoker.base.errors import BadValue, StokerError
from stoker.plugins.outcome import Outcome
from stoker.plugins.resource import AttributeKey, Call, ChildRequest
from stoker.resources.aws.instance_schema import TAGS
from stoker.resources.aws.launch import TYPE_NAME as LAUNCH_CONFIGURATION
from stoker.resources.aws.launch import launched_by, like_instance
from stoker.resources.aws.registration import register
from stoker.resources.aws.signalled_creation import GROUP_CREATION_POLICY, SIGNALS, SignalledCreation
from stoker.resources.base import value_at
from stoker.resources.declare import custom, one_of
from stoker.resources.durations import seconds_of
from stoker.resources.heat.groups.batching import Batch, RollingUpdate
from stoker.resources.heat.groups.group import CFN, read_by_member
from stoker.resources.heat.groups.uniform_group import AutoScalingResource, Limits, UniformGroup, serving, size_problems
from stoker.schema.property import Attribute, Change, Finalizer, Property, Support, Type
from stoker.schema.unknown import is_unknown

LOG = logging.getLogger(__name__)

MEMBER = "OS::Heat::ScaledResource"
_MEMBER_TYPE = {MEMBER: "AWS::EC2::Instance"}
_LONGEST_PAUSE = 3600.0
_METERED = "metering."

ROLLING = Property(
    Type.MAP,
    "How instances are updated to a new launch configuration; without it, only added instances get it.",
    schema={
        "MinInstancesInService": Property(
            Type.INTEGER, "Minimum number of instances in service at any time.", default=0
        ),
        "MaxBatchSize": Property(Type.INTEGER, "Maximum number of instances that change at a time.", default=1),
        "PauseTime": Property(description="Time between batches, such as PT30S; at most an hour.", default="PT0S"),
    },
)
_BALANCERS = Property(Type.LIST, "Load balancers of the same stack, with which the instances are registered.")
_INSTANCE_LIST = {
    "InstanceList": Attribute("Addresses of the instances, separated by commas; null for none.", Type.STRING)
}


class _Instances(UniformGroup):
    """Base of both groups of instances."""

    policy_name: ClassVar[str]
    form = CFN
    registry = _MEMBER_TYPE
    references_only = {"LaunchConfigurationName": "a launch configuration"}
    advice = {
        "for_each": "its instances are equal, and have random names that stay whatever becomes of the others; groups "
        "with for_each are OS::Heat::AutoScalingGroup and OS::Heat::ResourceGroup"
    }
    attributes = _INSTANCE_LIST

    def child_of(self, properties: Mapping[str, object]) -> ChildRequest | None:
        """Return None: the members' properties are in another resource."""
        return None

    async def plan(self, call: Call) -> Iterable[Batch]:
        """Return the batches as for other groups, after an empty nested stack: members are tagged with its ID."""
        planned = await super().plan(call)
        return [Batch(0, 0), *planned] if call.action == "CREATE" else planned

    def rolling(self, call: Call) -> RollingUpdate | None:
        policy = Finalizer().properties(self.update_policy, call.resource.update_policy)[self.policy_name]
        if policy is None:
            return None
        return RollingUpdate(
            max(policy["MaxBatchSize"], 1), policy["MinInstancesInService"], pause_of(policy["PauseTime"])
        )

    # -- load balancers -----------------------------------------------------------------------------------------

    async def batch_begins(self, call: Call, members: Mapping[str, object]) -> None:
        """Leave members that the batch changes or removes out of the load balancers."""
        if call.properties["LoadBalancerNames"] and call.physical_id is not None:
            present = await self.definitions(call)
            serve = await serving(call)
            await register(call, [one.reference_id for one in serve if present.get(one.name) == members.get(one.name)])

    async def batch_done(self, call: Call) -> None:
        await register(call, [member.reference_id for member in await serving(call)])

    async def delete(self, call: Call) -> Outcome:
        with suppress(BadValue):  # a group whose load balancer does not exist is deleted, too
            await register(call, [])
        return await super().delete(call)

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        names = [member.name for member in await serving(call)]
        addresses = [str(found) for found in (await read_by_member(call, names, ("PublicIp",))).values() if found]
        listed = ",".join(addresses) or None
        return {key: value_at(listed, key[1:]) if key[0] == "InstanceList" else None for key in keys}


class InstanceGroup(_Instances):
    """A group of identical instances."""

    type_name = "OS::Heat::InstanceGroup"
    description = "A group of identical instances."
    policy_name = "RollingUpdate"
    update_policy = {policy_name: ROLLING}

    properties = {
        "AvailabilityZones": Property(Type.LIST, "Has no effect."),
        "LaunchConfigurationName": Property(
            description="The launch configuration of the instances.", required=True, change=Change.UPDATE
        ),
        "Size": Property(Type.INTEGER, "Number of instances.", required=True, change=Change.UPDATE),
        "LoadBalancerNames": _BALANCERS,
        "Tags": TAGS,
    }

    def size(self, properties: Mapping[str, Any], current: int) -> int:
        size: int = properties["Size"]
        return size

    async def member(self, call: Call) -> Mapping[str, object]:
        return instance(await launch_properties(call), _tags(call))


class AutoScalingGroup(SignalledCreation, _Instances, AutoScalingResource):
    """A group of identical instances, whose size scaling policies change."""

    type_name = "AWS::AutoScaling::AutoScalingGroup"
    description = "A group of identical instances, whose size scaling policies change."
    support = Support(version="2014.1")
    policy_name = "AutoScalingRollingUpdate"
    update_policy = {policy_name: ROLLING}
    creation_policy = GROUP_CREATION_POLICY

    properties = {
        "AvailabilityZones": Property(Type.LIST, "Has no effect."),
        "LaunchConfigurationName": Property(
            description="The launch configuration of the instances.", change=Change.UPDATE
        ),
        "InstanceId": Property(
            description="A server whose settings the instances get, instead of a launch configuration.",
            constraints=custom("nova.server"),
        ),
        "MaxSize": Property(Type.INTEGER, "Maximum number of instances.", required=True, change=Change.UPDATE),
        "MinSize": Property(Type.INTEGER, "Minimum number of instances.", required=True, change=Change.UPDATE),
        "Cooldown": Property(
            Type.INTEGER,
            "Seconds after a change of size during which scaling policies do nothing.",
            change=Change.UPDATE,
        ),
        "DesiredCapacity": Property(
            Type.INTEGER, "Initial number of instances, until a scaling policy changes it.", change=Change.UPDATE
        ),
        "HealthCheckGracePeriod": Property(Type.INTEGER, "Not supported.", implemented=False),
        "HealthCheckType": Property(description="Not supported.", implemented=False, constraints=one_of("EC2", "ELB")),
        "LoadBalancerNames": _BALANCERS,
        "VPCZoneIdentifier": Property(Type.LIST, "The subnet of the instances, at most one.", items=Property()),
        "Tags": TAGS,
    }

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        given = [name for name in ("InstanceId", "LaunchConfigurationName") if properties[name] is not None]
        if len(given) != 1:
            yield "exactly one of InstanceId and LaunchConfigurationName must be given"
        zones = properties["VPCZoneIdentifier"]
        if not is_unknown(zones) and len(zones or []) > 1:
            yield "VPCZoneIdentifier: more than one subnet is not supported"
        if not is_unknown(properties["MinSize"]) and properties["MinSize"] < 0:
            yield f"MinSize ({properties['MinSize']}) is negative"
        yield from size_problems({name: properties[name] for name in ("MinSize", "MaxSize", "DesiredCapacity")})

    async def child_ended(self, call: Call, succeeded: bool) -> None:
        await super().child_ended(call, succeeded)
        try:
            await self.batch_done(call)
        except StokerError as error:
            LOG.warning(
                "cannot register the instances of %s in stack %s: %s",
                call.resource.name,
                call.stack.name,
                error.message,
            )

    async def update(self, call: Call) -> Outcome:
        """As other groups; a creation that has not had its signals yet is completed by the update."""
        change = super().update
        return await self.signalled(change, call) if SIGNALS in call.data else await change(call)

    def limits(self, properties: Mapping[str, Any]) -> Limits:
        cooldown = float(properties["Cooldown"] or 0)
        return Limits(properties["MinSize"], properties["MaxSize"], properties["DesiredCapacity"], cooldown)

    async def member(self, call: Call) -> Mapping[str, object]:
        given = call.properties
        subnet = {"SubnetId": given["VPCZoneIdentifier"][0]} if given["VPCZoneIdentifier"] else {}
        if given["InstanceId"] is not None:
            return instance(({**await like_instance(call, given["InstanceId"]), **subnet}, {}), [])
        properties, metadata = await launch_properties(call)
        named = {"Key": f"{_METERED}AutoScalingGroupName", "Value": _reference(call)}
        return instance(({**properties, **subnet}, metadata), [*_tags(call), named])


def instance(
    launch: tuple[Mapping[str, object], Mapping[str, object]], tags: list[Mapping[str, object]]
) -> dict[str, object]:
    """Return the definition of a member, from the properties and the metadata of its launch configuration."""
    properties, metadata = launch
    member: dict[str, object] = {"Type": MEMBER, "Properties": {**properties, **({"Tags": tags} if tags else {})}}
    return {**member, "Metadata": dict(metadata)} if metadata else member


async def launch_properties(call: Call) -> tuple[dict[str, object], Mapping[str, object]]:
    """Return the properties and metadata of the group's launch configuration. Raises BadValue if there is none."""
    name = call.properties["LaunchConfigurationName"]
    found = await call.engine.neighbours.by_reference(name)
    if found is None or found.type != LAUNCH_CONFIGURATION:
        raise BadValue(f"{name!r} is not the reference of a launch configuration in this stack")
    return await launched_by(call, found), found.metadata


def _tags(call: Call) -> list[Mapping[str, object]]:
    """Return the members' tags: the given ones, and the group's name for metering unless they contain metering tags."""
    given = [dict(tag) for tag in call.properties["Tags"] or []]
    if any(str(tag["Key"]).startswith(_METERED) for tag in given):
        return list(given)
    return [*given, {"Key": f"{_METERED}groupname", "Value": _reference(call)}]


def _reference(call: Call) -> str:
    """Return the group's reference ID."""
    return call.physical_id or call.resource.name


def pause_of(duration: str) -> float:
    """Convert a duration such as PT1M30S to seconds. Raises BadValue if it is malformed or exceeds an hour."""
    try:
        pause = seconds_of(duration)
    except BadValue as error:
        raise BadValue(f"PauseTime: {error.message}") from error
    if pause > _LONGEST_PAUSE:
        raise BadValue(f"PauseTime: {duration} is more than an hour")
    return pause
