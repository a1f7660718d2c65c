"""OS::Heat::ScalingPolicy"""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from stoker.base.errors import CloudError
from stoker.plugins.capabilities import Signalable
from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.resource import AttributeKey, Call
from stoker.resources.base import value_at
from stoker.resources.declare import between, one_of
from stoker.resources.heat.groups.scaling import CHANGE, EXACT, PERCENT, Adjustment
from stoker.resources.heat.signals.signal_url import SIGNAL, owner_url, signed_url
from stoker.resources.heat.users.stack_user import StackUserResource, make_key_pair
from stoker.schema.property import Attribute, Change, Property, Support, Type

LOG = logging.getLogger(__name__)

SIGNED_URL = "ec2_signed_url"


class SignedUrlResource(StackUserResource):
    """A resource that is signalled by a signed URL, such as the action of an alarm."""

    async def equip(self, call: Call) -> Outcome:
        unfinished = await make_key_pair(call)
        if unfinished is not None:
            return unfinished
        try:
            call.data[SIGNED_URL] = signed_url(call, SIGNAL)
        except CloudError as error:
            # It can still be signalled with a token, so a cloud without the CloudFormation API is no obstacle.
            LOG.info("%s of stack %s has no signed URL: %s", call.resource.name, call.stack.name, error.message)
        return Done()


class PolicyResource(SignedUrlResource, Signalable):
    """Requests a change of size of a group in the same stack whenever it is signalled."""

    @abstractmethod
    def group(self, properties: Mapping[str, object]) -> Any:
        """Return the reference ID of the group."""

    @abstractmethod
    def adjustment(self, properties: Mapping[str, Any]) -> Adjustment:
        """Return the change of size to request."""

    async def signal(self, call: Call, details: Mapping[str, object] | None) -> str:
        """Request the adjustment of the group, whatever the alarm's state. Raises NoActionRequired."""
        given = details or {}
        state = str(given.get("current", given.get("state", "alarm"))).lower()
        LOG.info("scaling policy %s of stack %s received a signal: %s", call.resource.name, call.stack.name, state)
        return await call.engine.neighbours.send(self.group(call.properties), self.adjustment(call.properties))


class ScalingPolicy(PolicyResource):
    """A change of a group's size, requested through the policy's URL."""

    type_name = "OS::Heat::ScalingPolicy"
    description = "Changes the size of a group when it is signalled."

    properties = {
        "auto_scaling_group_id": Property(description="The group's reference ID.", required=True),
        "scaling_adjustment": Property(
            Type.NUMBER,
            "The amount by which, or the value to which, the size changes.",
            required=True,
            change=Change.UPDATE,
        ),
        "adjustment_type": Property(
            description="Whether the adjustment is a difference, a percentage or a new size.",
            required=True,
            constraints=one_of(CHANGE, EXACT, PERCENT),
            change=Change.UPDATE,
        ),
        "cooldown": Property(
            Type.NUMBER,
            "Seconds after the change during which scaling policies do nothing; by default the group's cooldown.",
            change=Change.UPDATE,
        ),
        "min_adjustment_step": Property(
            Type.INTEGER,
            "Minimum number of members that a percentage changes.",
            constraints=between(0),
            change=Change.UPDATE,
        ),
    }
    attributes = {
        "alarm_url": Attribute("A signed URL that accepts a signal (POST) without a token.", Type.STRING, live=True),
        "signal_url": Attribute(
            "A URL that accepts a signal (POST) with a token of the stack's project.",
            Type.STRING,
            support=Support(version="5.0.0"),
        ),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        kind = properties["adjustment_type"]
        if properties["min_adjustment_step"] is not None and kind in (CHANGE, EXACT):
            yield f"min_adjustment_step is for the adjustment_type {PERCENT}, not {kind}"

    def group(self, properties: Mapping[str, object]) -> Any:
        return properties["auto_scaling_group_id"]

    def adjustment(self, properties: Mapping[str, Any]) -> Adjustment:
        return Adjustment(
            properties["scaling_adjustment"],
            properties["adjustment_type"],
            properties["min_adjustment_step"],
            properties["cooldown"],
        )

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        values = {"alarm_url": call.data.get(SIGNED_URL), "signal_url": _signal_url(call)}
        return {key: value_at(values.get(str(key[0])), key[1:]) for key in keys}


def _signal_url(call: Call) -> str | None:
    """Return the policy's URL for users with a token; None before it is created, or if the catalog has no endpoint."""
    try:
        return None if call.physical_id is None else owner_url(call)
    except CloudError as error:
        LOG.info("scaling policy %s of stack %s has no URL: %s", call.resource.name, call.stack.name, error.message)
        return None
