"""The URLs that alarms and servers are given: signed, they need nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cfn.query_service import QueryService
from tests.cfn.signing import send

pytestmark = pytest.mark.usefixtures("clean")

SCALING = """
heat_template_version: 2021-04-16
resources:
  group:
    type: OS::Heat::AutoScalingGroup
    properties:
      min_size: 1
      max_size: 3
      resource: {type: OS::Heat::RandomString}
  more:
    type: OS::Heat::ScalingPolicy
    properties:
      auto_scaling_group_id: {get_resource: group}
      adjustment_type: exact_capacity
      scaling_adjustment: 3
      cooldown: 3600
outputs:
  url: {value: {get_attr: [more, alarm_url]}}
  size: {value: {get_attr: [group, current_size]}}
"""

WAITING = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Resources": {
        "Handle": {"Type": "AWS::CloudFormation::WaitConditionHandle"},
        "Condition": {
            "Type": "AWS::CloudFormation::WaitCondition",
            "Properties": {"Handle": {"Ref": "Handle"}, "Timeout": 600, "Count": 1},
        },
    },
    "Outputs": {
        "Url": {"Value": {"Ref": "Handle"}},
        "Data": {"Value": {"Fn::GetAtt": ["Condition", "Data"]}},
    },
}


def outputs(boto: Any, name: str) -> dict[str, Any]:
    (stack,) = boto.describe_stacks(StackName=name)["Stacks"]
    return {each["OutputKey"]: each["OutputValue"] for each in stack.get("Outputs", [])}


def test_an_alarm_scales_a_group_by_its_url(world: QueryService, boto: Any) -> None:
    boto.create_stack(StackName="scaled", TemplateBody=SCALING)
    boto.get_waiter("stack_create_complete").wait(StackName="scaled", WaiterConfig={"Delay": 0.05, "MaxAttempts": 1000})
    before = outputs(boto, "scaled")
    assert before["size"] == "1"
    path = before["url"].removeprefix(world.url)
    assert path.startswith("/v1/signal/")
    assert send(world, "GET", path).status in (400, 405)
    assert send(world, "POST", path.replace("Signature=", "Signature=x"), "", {}).status == 403
    for _ in range(2):
        assert (
            send(world, "POST", path, json.dumps({"current": "alarm"}), {"Content-Type": "application/json"}).status
            == 200
        )
    assert world.until(lambda: outputs(boto, "scaled")["size"] == "3")
    events = boto.describe_stack_events(StackName="scaled")["StackEvents"]
    signals = [
        event for event in events if event["LogicalResourceId"] == "more" and "SIGNAL" in event["ResourceStatus"]
    ]
    assert len(signals) == 1


def test_a_wait_condition_is_signaled_by_its_url(world: QueryService, boto: Any) -> None:
    boto.create_stack(StackName="waits", TemplateBody=json.dumps(WAITING))
    url = world.until(
        lambda: next(iter(v for k, v in outputs(boto, "waits").items() if k == "Url" and "http" in v), "")
    )
    output = {"Status": "SUCCESS", "Data": "ready", "Reason": "done", "UniqueId": "one"}
    path = url.removeprefix(world.url)
    assert send(world, "PUT", path, json.dumps({**output, "More": 1}), {"Content-Type": ""}).status == 400
    assert send(world, "PUT", path, json.dumps(output), {"Content-Type": ""}).status == 200
    boto.get_waiter("stack_create_complete").wait(StackName="waits", WaiterConfig={"Delay": 0.05, "MaxAttempts": 1000})
    assert json.loads(outputs(boto, "waits")["Data"]) == {"one": "ready"}
