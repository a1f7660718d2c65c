"""AWS::AutoScaling::ScalingPolicy"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from stoker.plugins.resource import AttributeKey, Call, Snapshot
from stoker.resources.base import dig
from stoker.resources.declare import between, one_of
from stoker.resources.heat.scaling import Adjustment
from stoker.resources.heat.scaling_policy import SIGNED_URL, PolicyResource
from stoker.schema.property import Attribute, Change, Property, Type

_PERCENT = "PercentChangeInCapacity"


class ScalingPolicy(PolicyResource):
    """A change of size, made by whoever knows the policy's URL, which is its reference id."""

    type_name = "AWS::AutoScaling::ScalingPolicy"
    description = "Changes the size of a group when it is signalled."

    properties = {
        "AutoScalingGroupName": Property(description="The group's reference id.", required=True),
        "ScalingAdjustment": Property(
            Type.INTEGER, "By how much, or to what, the size changes.", required=True, change=Change.UPDATE
        ),
        "AdjustmentType": Property(
            description="What the adjustment means.",
            required=True,
            constraints=one_of("ChangeInCapacity", "ExactCapacity", _PERCENT),
            change=Change.UPDATE,
        ),
        "Cooldown": Property(
            Type.INTEGER, "Seconds without scaling afterwards; the group's own unless given.", change=Change.UPDATE
        ),
        "MinAdjustmentStep": Property(
            Type.INTEGER,
            "The least number of members that a percentage means.",
            constraints=between(0),
            change=Change.UPDATE,
        ),
    }
    attributes = {
        "AlarmUrl": Attribute("A signed URL that takes a signal (POST) without a token.", Type.STRING, live=True)
    }

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        kind = properties["AdjustmentType"]
        if properties["MinAdjustmentStep"] is not None and kind in ("ChangeInCapacity", "ExactCapacity"):
            yield f"MinAdjustmentStep is for the AdjustmentType {_PERCENT}, not {kind}"

    def reference_id(self, resource: Snapshot) -> Any:
        return resource.data.get(SIGNED_URL, resource.name)

    def group(self, properties: Mapping[str, Any]) -> Any:
        return properties["AutoScalingGroupName"]

    def adjustment(self, properties: Mapping[str, Any]) -> Adjustment:
        return Adjustment(
            properties["ScalingAdjustment"],
            properties["AdjustmentType"],
            properties["MinAdjustmentStep"],
            properties["Cooldown"],
        )

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, Any]:
        return {key: dig(call.data.get(SIGNED_URL), key[1:]) if key[0] == "AlarmUrl" else None for key in keys}
