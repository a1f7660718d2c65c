"""AWS::CloudFormation::WaitCondition and its handle."""

from __future__ import annotations

from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.resource import Call
from stoker.resources.aws.signalled_creation import SignalledCreation
from stoker.resources.declare import between
from stoker.resources.heat.signals.signed_handle import SignedHandle
from stoker.resources.heat.signals.wait_condition import BaseWaitCondition
from stoker.schema.property import Attribute, Change, Property, Support, Type


class WaitConditionHandle(SignedHandle):
    """A wait condition handle whose reference ID is a signed URL."""

    type_name = "AWS::CloudFormation::WaitConditionHandle"
    description = "Receives the signals of a wait condition."
    support = Support(version="2014.1")


class WaitCondition(SignalledCreation, BaseWaitCondition):
    """A wait condition with CloudFormation's properties; with a creation policy, it receives the signals itself."""

    type_name = "AWS::CloudFormation::WaitCondition"
    description = "Waits for signals that report success."
    support = Support(version="2014.1")
    property_names = {name: name.capitalize() for name in BaseWaitCondition.property_names}
    instead_of_creation_policy = frozenset({"Handle", "Timeout", "Count"})

    properties = {
        "Handle": Property(description="The handle that receives the signals.", required=True),
        "Timeout": Property(
            Type.INTEGER, "Maximum time to wait, in seconds.", required=True, constraints=between(1, 43200)
        ),
        "Count": Property(
            Type.INTEGER, "Number of signals to wait for.", default=1, constraints=between(1), change=Change.UPDATE
        ),
    }
    attributes = {"Data": Attribute("The data of the signals by signal ID, as JSON.", Type.STRING, live=True)}

    async def make(self, call: Call) -> Outcome:
        return Done() if call.resource.creation_policy else await super().make(call)

    async def update(self, call: Call) -> Outcome:
        return Done() if call.resource.creation_policy else await super().update(call)
