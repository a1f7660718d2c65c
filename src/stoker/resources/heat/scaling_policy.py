"""OS::Heat::ScalingPolicy"""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from stoker.base.errors import CloudError
from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.resource import AttributeKey, Call
from stoker.resources.base import dig
from stoker.resources.declare import between, one_of
from stoker.resources.heat.scaling import CHANGE, EXACT, PERCENT, Adjustment
from stoker.resources.heat.signal_url import SIGNAL, owner_url, signed_url
from stoker.resources.heat.stack_user import StackUserResource, make_key_pair
from stoker.schema.property import Attribute, Change, Property, Support, Type

LOG = logging.getLogger(__name__)

SIGNED_URL = "ec2_signed_url"


class PolicyResource(StackUserResource):
    """Tells a group of the same stack to change its size, whenever it is signalled."""

    @abstractmethod
    def group(self, properties: Mapping[str, Any]) -> Any:
        """The reference id of the group."""

    @abstractmethod
    def adjustment(self, properties: Mapping[str, Any]) -> Adjustment:
        """What is asked of the group."""

    async def equip(self, call: Call) -> Outcome:
        unfinished = await make_key_pair(call)
        if unfinished is not None:
            return unfinished
        try:
            call.data[SIGNED_URL] = signed_url(call, SIGNAL)
        except CloudError as error:
            # The policy can still be signalled with a token, so a cloud without the CloudFormation API is no obstacle.
            LOG.info("scaling policy %s of stack %s has no signed URL: %s", call.name, call.stack.name, error.message)
        return Done()

    async def signal(self, call: Call, details: Mapping[str, Any] | None) -> str:
        """Hand the adjustment to the group; the alarm's state does not matter. Raises NoActionRequired."""
        told = details or {}
        state = str(told.get("current", told.get("state", "alarm"))).lower()
        LOG.info("scaling policy %s of stack %s is signalled: %s", call.name, call.stack.name, state)
        return await call.neighbours.tell(self.group(call.properties), self.adjustment(call.properties))


class ScalingPolicy(PolicyResource):
    """A change of size, made by whoever knows the policy's URL."""

    type_name = "OS::Heat::ScalingPolicy"
    description = "Changes the size of a group when it is signalled."

    properties = {
        "auto_scaling_group_id": Property(description="The group's reference id.", required=True),
        "scaling_adjustment": Property(
            Type.NUMBER, "By how much, or to what, the size changes.", required=True, change=Change.UPDATE
        ),
        "adjustment_type": Property(
            description="What the adjustment means.",
            required=True,
            constraints=one_of(CHANGE, EXACT, PERCENT),
            change=Change.UPDATE,
        ),
        "cooldown": Property(
            Type.NUMBER, "Seconds without scaling afterwards; the group's own unless given.", change=Change.UPDATE
        ),
        "min_adjustment_step": Property(
            Type.INTEGER,
            "The least number of members that a percentage means.",
            constraints=between(0),
            change=Change.UPDATE,
        ),
    }
    attributes = {
        "alarm_url": Attribute("A signed URL that takes a signal (POST) without a token.", Type.STRING, live=True),
        "signal_url": Attribute(
            "A URL that takes a signal (POST) with a token of the stack's project.",
            Type.STRING,
            support=Support(version="5.0.0"),
        ),
    }

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        kind = properties["adjustment_type"]
        if properties["min_adjustment_step"] is not None and kind in (CHANGE, EXACT):
            yield f"min_adjustment_step is for the adjustment_type {PERCENT}, not {kind}"

    def group(self, properties: Mapping[str, Any]) -> Any:
        return properties["auto_scaling_group_id"]

    def adjustment(self, properties: Mapping[str, Any]) -> Adjustment:
        return Adjustment(
            properties["scaling_adjustment"],
            properties["adjustment_type"],
            properties["min_adjustment_step"],
            properties["cooldown"],
        )

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, Any]:
        values = {"alarm_url": call.data.get(SIGNED_URL), "signal_url": _signal_url(call)}
        return {key: dig(values.get(str(key[0])), key[1:]) for key in keys}


def _signal_url(call: Call) -> str | None:
    """The policy's URL for whoever has a token; None while it is not made, or in a cloud that does not list us."""
    try:
        return None if call.physical_id is None else owner_url(call)
    except CloudError as error:
        LOG.info("scaling policy %s of stack %s has no URL: %s", call.name, call.stack.name, error.message)
        return None
