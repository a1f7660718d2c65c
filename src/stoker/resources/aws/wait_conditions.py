"""AWS::CloudFormation::WaitCondition and its handle."""

from __future__ import annotations

from stoker.resources.declare import between
from stoker.resources.heat.signed_handle import SignedHandle
from stoker.resources.heat.wait_condition import Waiting
from stoker.schema.property import Attribute, Change, Property, Support, Type


class WaitConditionHandle(SignedHandle):
    """A handle whose URL takes signals."""

    type_name = "AWS::CloudFormation::WaitConditionHandle"
    description = "Where signals arrive that a wait condition waits for."
    support = Support(version="2014.1")


class WaitCondition(Waiting):
    """A wait condition as CloudFormation spells it."""

    type_name = "AWS::CloudFormation::WaitCondition"
    description = "Waits for signals of success."
    support = Support(version="2014.1")
    spelled = {name: name.capitalize() for name in Waiting.spelled}

    properties = {
        "Handle": Property(description="The handle that receives the signals.", required=True),
        "Timeout": Property(Type.INTEGER, "Seconds to wait at most.", required=True, constraints=between(1, 43200)),
        "Count": Property(
            Type.INTEGER, "How many signals to wait for.", default=1, constraints=between(1), change=Change.UPDATE
        ),
    }
    attributes = {"Data": Attribute("The data of the signals by their ids, as JSON.", Type.STRING, live=True)}
