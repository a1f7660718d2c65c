"""AWS::AutoScaling::ScalingPolicy"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from stoker.plugins.resource import AttributeKey, Call, Snapshot
from stoker.resources.base import value_at
from stoker.resources.declare import between, one_of
from stoker.resources.heat.groups.scaling import Adjustment
from stoker.resources.heat.groups.scaling_policy import SIGNED_URL, PolicyResource
from stoker.schema.property import Attribute, Change, Property, Type

_PERCENT = "PercentChangeInCapacity"


class ScalingPolicy(PolicyResource):
    """A change of a group's size, requested through the policy's URL, which is its reference ID."""

    type_name = "AWS::AutoScaling::ScalingPolicy"
    description = "Changes the size of a group when it is signalled."

    properties = {
        "AutoScalingGroupName": Property(description="The group's reference ID.", required=True),
        "ScalingAdjustment": Property(
            Type.INTEGER,
            "The amount by which, or the value to which, the size changes.",
            required=True,
            change=Change.UPDATE,
        ),
        "AdjustmentType": Property(
            description="Whether the adjustment is a difference, a percentage or a new size.",
            required=True,
            constraints=one_of("ChangeInCapacity", "ExactCapacity", _PERCENT),
            change=Change.UPDATE,
        ),
        "Cooldown": Property(
            Type.INTEGER,
            "Seconds after the change during which scaling policies do nothing; by default the group's cooldown.",
            change=Change.UPDATE,
        ),
        "MinAdjustmentStep": Property(
            Type.INTEGER,
            "Minimum number of members that a percentage changes.",
            constraints=between(0),
            change=Change.UPDATE,
        ),
    }
    attributes = {
        "AlarmUrl": Attribute("A signed URL that accepts a signal (POST) without a token.", Type.STRING, live=True)
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        adjustment_type = properties["AdjustmentType"]
        if properties["MinAdjustmentStep"] is not None and adjustment_type in ("ChangeInCapacity", "ExactCapacity"):
            yield f"MinAdjustmentStep is for the AdjustmentType {_PERCENT}, not {adjustment_type}"

    def reference_id(self, resource: Snapshot) -> object:
        return resource.data.get(SIGNED_URL, resource.name)

    def group(self, properties: Mapping[str, object]) -> Any:
        return properties["AutoScalingGroupName"]

    def adjustment(self, properties: Mapping[str, Any]) -> Adjustment:
        return Adjustment(
            properties["ScalingAdjustment"],
            properties["AdjustmentType"],
            properties["MinAdjustmentStep"],
            properties["Cooldown"],
        )

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        return {key: value_at(call.data.get(SIGNED_URL), key[1:]) if key[0] == "AlarmUrl" else None for key in keys}
