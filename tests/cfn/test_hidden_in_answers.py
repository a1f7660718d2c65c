"""Values of parameters with NoEcho: no action that looks at a stack tells them, nor the template's defaults."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

GIVEN, DEFAULT = "given-s3cret", "default-s3cret"
TEMPLATE: dict[str, Any] = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Parameters": {
        "Given": {"Type": "String", "NoEcho": "true"},
        "Defaulted": {"Type": "String", "NoEcho": "true", "Default": DEFAULT},
    },
    "Resources": {
        "User": {
            "Type": "OS::Heat::TestResource",
            "Properties": {"value": {"Fn::Join": ["-", [{"Ref": "Given"}, {"Ref": "Defaulted"}]]}},
        }
    },
}
PARAMETERS = [{"ParameterKey": "Given", "ParameterValue": GIVEN}]
NAME = {"StackName": "private"}
LOOKS: Sequence[tuple[str, Mapping[str, Any]]] = (
    ("describe_stacks", NAME),
    ("list_stacks", {}),
    ("get_template", NAME),
    ("get_template", {**NAME, "ChangeSetName": "proposed"}),
    ("get_template_summary", NAME),
    ("describe_stack_events", NAME),
    ("describe_stack_resource", {**NAME, "LogicalResourceId": "User"}),
    ("describe_stack_resources", NAME),
    ("list_stack_resources", NAME),
    ("describe_change_set", {**NAME, "ChangeSetName": "proposed"}),
    ("list_change_sets", NAME),
    ("describe_stack_resource_drifts", NAME),
)


@pytest.mark.usefixtures("clean")
def test_drift_detection_discloses_no_hidden_values(boto: Any) -> None:
    body = json.dumps(TEMPLATE)
    boto.create_stack(**NAME, TemplateBody=body, Parameters=PARAMETERS)
    boto.get_waiter("stack_create_complete").wait(**NAME, WaiterConfig={"Delay": 0.05, "MaxAttempts": 2000})
    boto.create_change_set(
        **NAME,
        ChangeSetName="proposed",
        TemplateBody=body.replace('"-"', '"+"'),
        Parameters=[{"ParameterKey": "Given", "UsePreviousValue": True}],
    )
    for action, arguments in LOOKS:
        answer = json.dumps(getattr(boto, action)(**arguments), default=str)
        assert GIVEN not in answer and DEFAULT not in answer, action
